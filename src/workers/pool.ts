import type { Worker } from "node:cluster";
import { inBackground, type Log } from "../kit/index.ts";
import { Backoff } from "./backoff.ts";
import { Hand, type WorkerExit } from "./handle.ts";
import { BEAT, type Pinned } from "./messages.ts";

/** Looks, one a beat, after which a worker that was not heard of does not count, and after which it is ended. */
const BLOCKED = 5;
const LOST = 60;
/** Milliseconds for workers that must end at once to settle what they cut. What is left then is a dead worker's. */
const LAST = 900;

/** For a worker to serve: it reads the configuration, opens the store and sets plugins up. */
const START_DEADLINE_MS = 60_000;

/** A worker ended before it served; what is wrong stands on stderr. */
export class WorkerFailed extends Error {
  override readonly name = "WorkerFailed";
  readonly exit: WorkerExit;

  constructor(exit: WorkerExit) {
    super(`a worker ended before it served: ${describe(exit)}`);
    this.exit = exit;
  }
}

export interface CrewParts {
  readonly size: number;
  readonly pinned: Pinned;
  readonly fork: () => Worker;
  readonly onEnded: (hand: Hand) => void;
  readonly log: Log;
  /** Milliseconds after which a worker that does not serve is ended; 60 s unless given. */
  readonly startDeadline?: number;
}

/** The workers, as many as there are places: who ends is replaced. */
export class Crew {
  readonly #parts: CrewParts;
  readonly #places: (Hand | null)[];
  readonly #backoff = new Backoff();
  /** Instances that are dead and whose leases the store has not freed. */
  readonly #toBury = new Set<string>();
  /** Ended with nobody else listening: their addresses are held until another one serves. */
  readonly #held = new Set<Hand>();
  /** For replacements. */
  readonly #waiting = new Set<NodeJS.Timeout>();
  #timer: NodeJS.Timeout | null = null;
  #stopping = false;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.#places = Array.from({ length: parts.size }, () => null);
  }

  get hands(): readonly Hand[] {
    return this.#places.filter((hand) => hand !== null);
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Starts all. @throws WorkerFailed when one of them ends instead; none is left then. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => this.#look(), BEAT);
    try {
      // One first: what is wrong with the configuration or the machine is said once.
      await served(this.#hire(0));
      await Promise.all(this.#places.slice(1).map((_, index) => served(this.#hire(index + 1))));
    } catch (error) {
      await this.end();
      throw error;
    }
    for (const [place, hand] of this.#places.entries()) this.#keep(place, hand!);
  }

  /** Lets every worker drain, all at the same time. Resolves when they have ended. */
  async drain(most?: number): Promise<void> {
    await this.#stop((hand) => hand.tell({ type: "drain", most }));
  }

  /** Ends every worker at once. */
  async end(): Promise<void> {
    const kill = setTimeout(() => this.hands.forEach((hand) => hand.kill()), LAST);
    await this.#stop((hand) => hand.tell({ type: "end" }));
    clearTimeout(kill);
  }

  async #stop(how: (hand: Hand) => void): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#waiting) clearTimeout(timer);
    this.#waiting.clear();
    this.#releaseAddresses();
    const { hands } = this;
    for (const hand of hands) how(hand);
    await Promise.all(hands.map(({ exited }) => exited));
    if (this.#timer) clearInterval(this.#timer);
  }

  #hire(place: number): Hand {
    const { fork, pinned, log, startDeadline = START_DEADLINE_MS } = this.#parts;
    const hand = new Hand(
      fork(),
      () => (this.#stopping ? { type: "end" } : { type: "start", pinned, keepsLastGood: place === 0 }),
      () => this.#holdAddresses(hand),
    );
    const deadline = setTimeout(() => {
      log.error({ pid: hand.pid }, `a worker did not serve within ${startDeadline / 1000} s: it is ended`);
      hand.kill();
    }, startDeadline);
    const served = hand.served.then(() => this.#releaseAddresses());
    inBackground(
      log,
      "a worker's start",
      Promise.race([served, hand.exited]).finally(() => clearTimeout(deadline)),
    );
    this.#places[place] = hand;
    return hand;
  }

  /** @returns whether to: nobody else listens, and somebody will. */
  #holdAddresses(hand: Hand): boolean {
    if (this.#stopping || this.hands.some((other) => other !== hand && other.listening)) return false;
    this.#held.add(hand);
    return true;
  }

  #releaseAddresses(): void {
    for (const hand of this.#held) hand.releaseAddresses();
    this.#held.clear();
  }

  #keep(place: number, hand: Hand): void {
    const replaced = hand.exited.then((exit) => this.#replace(place, hand, exit));
    inBackground(this.#parts.log, "replacing a worker", replaced);
  }

  #replace(place: number, hand: Hand, exit: WorkerExit): void {
    const { log, onEnded } = this.#parts;
    const { pid, instance, servingSince } = hand;
    this.#places[place] = null;
    onEnded(hand);
    // Who drained has settled everything.
    if (instance !== null && exit.code !== 0) this.#toBury.add(instance);
    inBackground(log, "freeing what a dead worker had taken", this.#bury());
    if (this.#stopping) return;
    const wait = this.#backoff.after(servingSince === null ? 0 : performance.now() - servingSince);
    const when = wait === 0 ? "now" : `in ${wait} ms`;
    log.error({ pid, instance, ...exit }, `a worker ended: ${describe(exit)}; it is replaced ${when}`);
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      this.#keep(place, this.#hire(place));
    }, wait);
    this.#waiting.add(timer);
  }

  /** What a dead worker had taken is free again as soon as a living one has said so. */
  async #bury(): Promise<void> {
    for (const instance of this.#toBury) {
      const hand = this.hands.find(canAnswer);
      if (hand === undefined) return;
      await hand.ask("bury", { about: instance }).then(
        () => this.#toBury.delete(instance),
        (err: unknown) => this.#parts.log.warn({ err, instance }, "what a dead worker had taken is not free yet"),
      );
    }
  }

  #look(): void {
    const { log } = this.#parts;
    for (const hand of this.hands.filter(({ serving }) => serving)) {
      const { pid } = hand;
      hand.silent += 1;
      if (hand.silent === BLOCKED) log.error({ pid }, "a worker is not heard of: its event loop is blocked");
      if (hand.silent !== LOST) continue;
      log.error({ pid }, `a worker was blocked for ${(LOST * BEAT) / 1000} s: it is ended`);
      hand.kill();
    }
    if (this.#toBury.size > 0) inBackground(log, "freeing what a dead worker had taken", this.#bury());
  }
}

/** Whether a worker serves and its event loop runs. */
export function canAnswer(hand: Hand): boolean {
  return hand.serving && !isBlocked(hand);
}

export function isBlocked({ serving, silent }: Hand): boolean {
  return serving && silent >= BLOCKED;
}

/** @throws WorkerFailed when it ends before. */
async function served(hand: Hand): Promise<void> {
  const exit = await Promise.race([hand.served, hand.exited]);
  if (exit) throw new WorkerFailed(exit);
}

function describe({ code, signal }: WorkerExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
