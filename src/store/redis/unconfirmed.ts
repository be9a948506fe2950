import { setTimeout as sleep } from "node:timers/promises";
import { isStoreUnavailable } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import type { Leases } from "./leases.ts";
import { inBatches, type Keys, loadScript } from "./scripts.ts";

/** Milliseconds between two attempts. */
const RETRY_INTERVAL_MS = 1_000;

/** More than a hanging server can take in one timeout; what is beyond goes with its lease. */
const MAX_UNCONFIRMED_COUNT = 10_000;

interface Unconfirmed {
  readonly userId: string;
  /** Local monotonic milliseconds from which it cannot be executed any more. */
  readonly over: number;
}

/**
 * Admissions whose answer was lost: they may have been executed and count then. Nobody runs them, so they are given
 * back: in the background, once the server answers again, and at once when another request of the user is refused.
 */
export class UnconfirmedAdmissions {
  readonly #waiting = new Map<string, Unconfirmed>();
  readonly #giveBack: (id: string, userId: string) => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param giveBack must change nothing when there is nothing. */
  constructor(giveBack: (id: string, userId: string) => Promise<void>) {
    this.#giveBack = giveBack;
  }

  /** @param delay milliseconds for which it may still be executed after what is sent now; 0 when it is executed before. */
  add(id: string, userId: string, delay: number): void {
    if (this.#waiting.size >= MAX_UNCONFIRMED_COUNT || this.#closed) return;
    this.#waiting.set(id, { userId, over: performance.now() + delay });
    this.#schedule(delay);
  }

  /** It was admitted after all. */
  forget(id: string): void {
    if (this.#waiting.size > 0) this.#waiting.delete(id);
  }

  /**
   * Gives back what the user's lost admissions may have taken, before a request is refused.
   * @returns whether there were any. @throws what giving back throws: then nobody knows what has been reached.
   */
  async giveBackOf(userId: string): Promise<boolean> {
    if (this.#waiting.size === 0) return false;
    const own = [...this.#waiting].filter(([, admission]) => admission.userId === userId);
    await inBatches(own, ([id]) => this.#try(id));
    return own.length > 0;
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    if (this.#timer) clearTimeout(this.#timer);
  }

  #schedule(delay: number): void {
    if (this.#closed || this.#waiting.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // It stops at what it cannot do itself: nothing of it may end the process.
      this.#attempt().catch(() => {});
    }, delay).unref();
  }

  async #attempt(): Promise<void> {
    for (const id of this.#waiting.keys()) {
      try {
        await this.#try(id);
      } catch (error) {
        if (isStoreUnavailable(error)) break;
        // A fault of ours is no better the next time.
        this.#waiting.delete(id);
      }
    }
    this.#schedule(RETRY_INTERVAL_MS);
  }

  /** One that may still be executed stays, to be given back again. */
  async #try(id: string): Promise<void> {
    const admission = this.#waiting.get(id);
    if (!admission) return;
    const isOver = performance.now() >= admission.over;
    await this.#giveBack(id, admission.userId);
    if (isOver && this.#waiting.get(id) === admission) this.#waiting.delete(id);
  }
}

/** Milliseconds before the first look whether a process has answered; each further wait is twice as long. */
const FIRST_WAIT_MS = 5;
/** However long they take: this process may be busy, or the server slow. */
const MIN_LOOKS = 3;
/** Reservations remembered whose processes have not answered. */
const MAX_UNANSWERED_COUNT = 10_000;

const FIND_UNCONFIRMED = loadScript("unconfirmed", "reservations");

interface UnconfirmedOptions {
  readonly instance: string;
  /** Milliseconds. */
  readonly lease: number;
  /** Milliseconds for which other processes are waited for; 0: nobody is asked. */
  readonly confirmationTimeout: number;
  readonly retention: number;
}

/**
 * Reservations of other processes that may be unconfirmed admissions. A process whose answer was lost gives the admission
 * back by itself, but only once it reaches the server again; until then nobody else is to be refused for it. So before a
 * request is refused, the owners of such reservations are asked, each on a channel of its own: an owner gives back what
 * is unconfirmed and renews what runs, and a renewed reservation is confirmed for everybody.
 */
export class UnconfirmedByOthers {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #leases: Leases;
  readonly #options: UnconfirmedOptions;
  /** By user: what is being cleared up, and what begins after it for those who were refused meanwhile. */
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #next = new Map<string, Promise<boolean>>();
  /** Request to the local monotonic time at which its lease has ended: not asked for again. */
  readonly #unanswered = new Map<string, number>();

  constructor(connection: Connection, keys: Keys, leases: Leases, options: UnconfirmedOptions) {
    this.#connection = connection;
    this.#keys = keys;
    this.#leases = leases;
    this.#options = options;
  }

  /** Calls back when another process asks for the confirmation of a user's admissions. */
  onAsked(listener: (userId: string) => void): void {
    this.#connection.subscribe(this.#keys.confirmations(this.#options.instance), listener);
  }

  /**
   * Waits until the owners have answered, for `confirmationTimeout` milliseconds at most. A request that is refused while one wait is under way
   * shares the next one: what was looked up before its refusal says nothing about it.
   * @returns whether anything was unconfirmed and is no more. @throws what asking the server throws.
   */
  async clear(userId: string): Promise<boolean> {
    if (this.#options.confirmationTimeout === 0) return false;
    const shared = this.#next.get(userId);
    if (shared) return shared;
    const own = this.#after(this.#running.get(userId), userId);
    this.#next.set(userId, own);
    return own;
  }

  async #after(before: Promise<boolean> | undefined, userId: string): Promise<boolean> {
    await before?.catch(() => false);
    const own = this.#next.get(userId);
    this.#next.delete(userId);
    if (own) this.#running.set(userId, own);
    try {
      return await this.#clear(userId);
    } finally {
      if (this.#running.get(userId) === own) this.#running.delete(userId);
    }
  }

  async #clear(userId: string): Promise<boolean> {
    const unconfirmed = await this.#find(userId);
    const { size } = unconfirmed;
    const until = performance.now() + this.#options.confirmationTimeout;
    const isPatient = (looks: number) => looks < MIN_LOOKS || performance.now() < until;
    for (let looks = 0, wait = FIRST_WAIT_MS; unconfirmed.size > 0 && isPatient(looks); looks++, wait *= 2) {
      for (const instance of new Set(unconfirmed.values())) this.#ask(instance, userId);
      await sleep(wait);
      const left = await this.#find(userId);
      for (const id of unconfirmed.keys()) if (!left.has(id)) unconfirmed.delete(id);
    }
    this.#noteUnanswered(unconfirmed.keys());
    return unconfirmed.size < size;
  }

  /** Request to instance. */
  async #find(userId: string): Promise<Map<string, string>> {
    const { instance, lease, retention } = this.#options;
    const args = [instance, this.#leases.dead, lease, retention];
    const asked = this.#connection.run(FIND_UNCONFIRMED, this.#leases.requestKeys.of(userId), args, () => args);
    const found = (await asked) as string[];
    const unconfirmed = new Map<string, string>();
    for (let index = 0; index < found.length; index += 2) {
      const [id = "", owner = ""] = found.slice(index, index + 2);
      if ((this.#unanswered.get(id) ?? 0) <= performance.now()) unconfirmed.set(id, owner);
    }
    return unconfirmed;
  }

  #ask(instance: string, userId: string): void {
    // Without the right to publish it waits in vain, and refuses.
    this.#connection.call("PUBLISH", this.#keys.confirmations(instance), userId).catch(() => {});
  }

  #noteUnanswered(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#unanswered.size >= MAX_UNANSWERED_COUNT) this.#unanswered.clear();
      this.#unanswered.set(id, performance.now() + this.#options.lease);
    }
  }
}
