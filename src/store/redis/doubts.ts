import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { type Leases, requestKeys } from "./leases.ts";

/** Milliseconds before the first look whether a process has answered; each further wait is twice as long. */
const FIRST_LOOK_MS = 5;
/** However long they take: this process may be busy, or the server slow. */
const LEAST_LOOKS = 3;
/** Reservations remembered whose processes have not answered. */
const MOST_UNANSWERED = 10_000;

const UNCONFIRMED = loadScript("unconfirmed", "reservations");

export interface DoubtOptions {
  readonly instance: string;
  /** Milliseconds. */
  readonly lease: number;
  /** Milliseconds for which other processes are waited for; 0: nobody is asked. */
  readonly patience: number;
  readonly retention: number;
}

/**
 * Reservations of other processes that may be lost admissions. A process that has lost one gives it back by itself, but
 * only once it reaches the server again; meanwhile nobody else is to be refused for it. So before a limit is told as
 * reached its owner is asked, on a channel of its own: it gives back what it has lost and renews what it runs, which
 * answers the question for everybody.
 */
export class Doubts {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #leases: Leases;
  readonly #options: DoubtOptions;
  /** By user: what is being cleared up, and what begins after it for those who were refused meanwhile. */
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #next = new Map<string, Promise<boolean>>();
  /** Request to the local monotonic time at which its lease has ended: not asked for again. */
  readonly #unanswered = new Map<string, number>();

  constructor(connection: Connection, keys: Keys, leases: Leases, options: DoubtOptions) {
    this.#connection = connection;
    this.#keys = keys;
    this.#leases = leases;
    this.#options = options;
  }

  /** Hears when others ask what has become of the admissions of a user. */
  onAsked(listener: (userId: string) => void): void {
    this.#connection.subscribe(this.#keys.doubts(this.#options.instance), listener);
  }

  /**
   * Waits until the processes concerned have answered, but no longer than is patient. Who comes while one waits shares the next
   * wait: what has been looked up before a refusal says nothing about it.
   * @returns whether anything was in doubt and is no more. @throws what asking the server throws.
   */
  async clear(userId: string): Promise<boolean> {
    if (this.#options.patience === 0) return false;
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
    const doubtful = await this.#look(userId);
    const { size } = doubtful;
    const until = performance.now() + this.#options.patience;
    const isPatient = (looks: number) => looks < LEAST_LOOKS || performance.now() < until;
    for (let looks = 0, wait = FIRST_LOOK_MS; doubtful.size > 0 && isPatient(looks); looks++, wait *= 2) {
      for (const instance of new Set(doubtful.values())) this.#ask(instance, userId);
      await sleep(wait);
      const left = await this.#look(userId);
      for (const id of doubtful.keys()) if (!left.has(id)) doubtful.delete(id);
    }
    this.#giveUp(doubtful.keys());
    return doubtful.size < size;
  }

  /** Request to instance. */
  async #look(userId: string): Promise<Map<string, string>> {
    const { instance, lease, retention } = this.#options;
    const args = [instance, this.#leases.dead, lease, retention];
    const asked = this.#connection.run(UNCONFIRMED, requestKeys(this.#keys, userId), args, () => args);
    const found = (await asked) as string[];
    const doubtful = new Map<string, string>();
    for (let index = 0; index < found.length; index += 2) {
      const [id = "", owner = ""] = found.slice(index, index + 2);
      if ((this.#unanswered.get(id) ?? 0) <= performance.now()) doubtful.set(id, owner);
    }
    return doubtful;
  }

  #ask(instance: string, userId: string): void {
    // Who may not publish waits in vain, and refuses.
    this.#connection.call("PUBLISH", this.#keys.doubts(instance), userId).catch(() => {});
  }

  #giveUp(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#unanswered.size >= MOST_UNANSWERED) this.#unanswered.clear();
      this.#unanswered.set(id, performance.now() + this.#options.lease);
    }
  }
}
