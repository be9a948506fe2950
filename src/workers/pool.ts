import type { Worker } from "node:cluster";
import { inBackground, type Log, Secret } from "../kit/index.ts";
import type { AdminSettings } from "../server/admin/access.ts";
import { HEARTBEAT_INTERVAL_MS, type PinnedSettings } from "./messages.ts";
import { type WorkerExit, WorkerHandle } from "./worker-handle.ts";

/** Missed heartbeats after which a worker counts as blocked, and after which it is killed. */
const BLOCKED_AFTER_HEARTBEATS = 5;
const DEAD_AFTER_HEARTBEATS = 60;
/** Between `end` and SIGKILL; requests not settled by then are recovered as after a crash. */
const END_GRACE_MS = 900;
/** For a worker to read the configuration, open the store, set plugins up and listen. */
const START_DEADLINE_MS = 60_000;
/** A worker that served for less counts as failed early. */
const EARLY_FAILURE_MS = 10_000;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;

/** A worker ended before it served; its own message is on stderr. */
export class WorkerFailed extends Error {
  override readonly name = "WorkerFailed";
  readonly exit: WorkerExit;

  constructor(exit: WorkerExit) {
    super(`worker exited before it served: ${describe(exit)}`);
    this.exit = exit;
  }
}

export interface WorkerPoolOptions {
  readonly size: number;
  readonly pinned: PinnedSettings;
  readonly fork: () => Worker;
  readonly log: Log;
  /** A worker that does not serve after this time is killed; 60 s unless given. */
  readonly startDeadlineMs?: number;
}

/** A fixed number of workers: one that ends is replaced. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: (WorkerHandle | null)[];
  readonly #backoff = new Backoff();
  /** Instances that are dead and whose reservations the store has not freed. */
  readonly #deadInstances = new Set<string>();
  /** Ended when no other worker listened: their addresses stay open until one does. */
  readonly #addressHolders = new Set<WorkerHandle>();
  readonly #replacementTimers = new Set<NodeJS.Timeout>();
  #heartbeatTimer: NodeJS.Timeout | null = null;
  #stopping = false;
  #onEnded: (worker: WorkerHandle) => void = () => {};

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.size }, () => null);
  }

  get workers(): readonly WorkerHandle[] {
    return this.#slots.filter((worker) => worker !== null);
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /**
   * Resolves when all serve. @param onEnded called for each worker that has ended, before it is replaced.
   * @throws WorkerFailed when one of them ends instead; none is left then.
   */
  async start(onEnded: (worker: WorkerHandle) => void = () => {}): Promise<void> {
    this.#onEnded = onEnded;
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_INTERVAL_MS);
    try {
      // One first: an error in the configuration or of the machine is then reported once.
      await untilServing(this.#spawn(0));
      await Promise.all(this.#slots.slice(1).map((_, index) => untilServing(this.#spawn(index + 1))));
    } catch (error) {
      await this.end();
      throw error;
    }
    for (const [slot, worker] of this.#slots.entries()) this.#replaceWhenEnded(slot, worker!);
  }

  /** Drains all workers at the same time. Resolves when they have ended. @param maxMs see `Gateway.drain`. */
  async drain(maxMs?: number): Promise<void> {
    await this.#stop((worker) => worker.send({ type: "drain", maxMs }));
  }

  /** Ends every worker at once. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.workers.forEach((worker) => worker.kill()), END_GRACE_MS);
    await this.#stop((worker) => worker.send({ type: "end" }));
    clearTimeout(timer);
  }

  async #stop(stopWorker: (worker: WorkerHandle) => void): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#replacementTimers) clearTimeout(timer);
    this.#replacementTimers.clear();
    this.#releaseAddresses();
    const { workers } = this;
    for (const worker of workers) stopWorker(worker);
    await Promise.all(workers.map(({ exited }) => exited));
    if (this.#heartbeatTimer) clearInterval(this.#heartbeatTimer);
  }

  #spawn(slot: number): WorkerHandle {
    const { fork, pinned, log, startDeadlineMs = START_DEADLINE_MS } = this.#options;
    const worker = new WorkerHandle(
      fork(),
      () => (this.#stopping ? { type: "end" } : { type: "start", pinned, keepsLastGood: slot === 0 }),
      () => this.#holdAddresses(worker),
    );
    const deadline = setTimeout(() => {
      log.error({ pid: worker.pid }, `worker did not serve within ${startDeadlineMs / 1000} s; stopping it`);
      worker.kill();
    }, startDeadlineMs);
    const served = worker.served.then(() => this.#releaseAddresses());
    inBackground(
      log,
      "a worker's start",
      Promise.race([served, worker.exited]).finally(() => clearTimeout(deadline)),
    );
    this.#slots[slot] = worker;
    return worker;
  }

  /** @returns true when no other worker listens, and one will. */
  #holdAddresses(worker: WorkerHandle): boolean {
    if (this.#stopping || this.workers.some((other) => other !== worker && other.listening)) return false;
    this.#addressHolders.add(worker);
    return true;
  }

  #releaseAddresses(): void {
    for (const worker of this.#addressHolders) worker.releaseAddresses();
    this.#addressHolders.clear();
  }

  #replaceWhenEnded(slot: number, worker: WorkerHandle): void {
    const replaced = worker.exited.then((exit) => this.#replace(slot, worker, exit));
    inBackground(this.#options.log, "replacing a worker", replaced);
  }

  #replace(slot: number, worker: WorkerHandle, exit: WorkerExit): void {
    const { log } = this.#options;
    const { pid, instance, servingSince } = worker;
    this.#slots[slot] = null;
    this.#onEnded(worker);
    // Exit code 0: it has drained, and has no reservations left.
    if (instance !== null && exit.code !== 0) this.#deadInstances.add(instance);
    this.#markInstancesDeadInBackground();
    if (this.#stopping) return;
    const waitMs = this.#backoff.after(servingSince === null ? 0 : performance.now() - servingSince);
    const when = waitMs === 0 ? "now" : `in ${waitMs} ms`;
    log.error({ pid, instance, ...exit }, `worker exited: ${describe(exit)}; replacing it ${when}`);
    const timer = setTimeout(() => {
      this.#replacementTimers.delete(timer);
      this.#replaceWhenEnded(slot, this.#spawn(slot));
    }, waitMs);
    this.#replacementTimers.add(timer);
  }

  #markInstancesDeadInBackground(): void {
    inBackground(this.#options.log, "freeing what a dead worker had taken", this.#markInstancesDead());
  }

  /** The supervisor has no store: a worker frees the reservations of the dead ones. */
  async #markInstancesDead(): Promise<void> {
    for (const instance of this.#deadInstances) {
      const worker = this.workers.find(canAnswer);
      if (worker === undefined) return;
      await worker.ask("markInstanceDead", { about: instance }).then(
        () => this.#deadInstances.delete(instance),
        (err: unknown) =>
          this.#options.log.warn({ err, instance }, "resources of a dead worker could not be released yet"),
      );
    }
  }

  #checkHeartbeats(): void {
    const { log } = this.#options;
    for (const worker of this.workers.filter(({ serving }) => serving)) {
      const { pid } = worker;
      worker.missedHeartbeats += 1;
      if (worker.missedHeartbeats === BLOCKED_AFTER_HEARTBEATS) {
        log.error({ pid }, "worker does not respond: its event loop is blocked");
      }
      if (worker.missedHeartbeats !== DEAD_AFTER_HEARTBEATS) continue;
      const seconds = (DEAD_AFTER_HEARTBEATS * HEARTBEAT_INTERVAL_MS) / 1000;
      log.error({ pid }, `worker was blocked for ${seconds} s; stopping it`);
      worker.kill();
    }
    if (this.#deadInstances.size > 0) this.#markInstancesDeadInBackground();
  }
}

/** Whether a worker serves and its event loop runs. */
export function canAnswer(worker: WorkerHandle): boolean {
  return worker.serving && !isBlocked(worker);
}

export function isBlocked({ serving, missedHeartbeats }: WorkerHandle): boolean {
  return serving && missedHeartbeats >= BLOCKED_AFTER_HEARTBEATS;
}

/** How long to wait before a dead worker is replaced: not at all, unless workers fail early one after the other. */
export class Backoff {
  #earlyFailures = 0;

  /** @param servedMs 0 for a worker that never served. @returns milliseconds. */
  after(servedMs: number): number {
    if (servedMs >= EARLY_FAILURE_MS) {
      this.#earlyFailures = 0;
      return 0;
    }
    const waitMs = Math.min(MIN_BACKOFF_MS * 2 ** this.#earlyFailures, MAX_BACKOFF_MS);
    this.#earlyFailures += 1;
    return waitMs;
  }
}

/** @throws WorkerFailed when it ends before it serves. */
async function untilServing(worker: WorkerHandle): Promise<void> {
  const exit = await Promise.race([worker.served, worker.exited]);
  if (exit) throw new WorkerFailed(exit);
}

function describe({ code, signal }: WorkerExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

/** Who may use the admin listener: as a worker has told last. */
export function adminSettings(pool: Pick<WorkerPool, "workers">, ofStart: AdminSettings): () => AdminSettings {
  let toldAt = -Infinity;
  let settings = ofStart;
  return () => {
    for (const { adminAccess } of pool.workers) {
      if (adminAccess === null || adminAccess.toldAt <= toldAt) continue;
      const { tokens, trustedProxies } = adminAccess;
      toldAt = adminAccess.toldAt;
      settings = {
        ...ofStart,
        trustedProxies,
        tokens: tokens.map((one) => ({ ...one, token: new Secret(one.token) })),
      };
    }
    return settings;
  };
}
