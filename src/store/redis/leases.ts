import { isStoreUnavailable } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS } from "../windows.ts";
import type { Connection } from "./connection.ts";
import { EncodedWords } from "./pipeline.ts";
import { inBatches, type Keys, loadScript } from "./scripts.ts";

/** Milliseconds for which a process is believed alive without a renewal. */
export const LEASE_MS = 60_000;

/** Milliseconds between two renewals: three may be lost. */
export const RENEWAL_INTERVAL_MS = LEASE_MS / 4;

/** Milliseconds for which a settlement that could not be sent is known to be this process's own. */
const UNSENT_SETTLEMENT_TTL_MS = 3_600_000;

/** Reservations renewed by one script: it must not keep the server for long. */
const RESERVATIONS_PER_SCRIPT = 200;

const RENEW = loadScript("renew", "clock", "reservations");
const MARK_DEAD = loadScript("instance-dead", "clock");

export interface Lease {
  readonly userId: string;
  /** The reservation as the scripts store it; null while its admission is on its way. */
  packed: string | null;
  /** Its settlement is queued, maybe in another process: it is not renewed, or the reservation would reappear. */
  readonly ending?: true;
}

/** The reservations that this process answers for, and the processes that are known to be dead. */
export class Leases {
  readonly #connection: Connection;
  readonly #keys: Keys;
  /** Of users' requests. */
  readonly requestKeys: RequestKeys;
  readonly #instance: string;
  readonly #length: number;
  readonly #retention: number;
  #words: EncodedWords;
  readonly #held = new Map<string, Lease>();
  /** Instance to the local monotonic time from which its leases have ended by themselves. */
  readonly #dead = new Map<string, number>();

  constructor(connection: Connection, keys: Keys, instance: string, length: number, retention = LEDGER_RETENTION_MS) {
    this.#connection = connection;
    this.#keys = keys;
    this.requestKeys = new RequestKeys(keys);
    this.#instance = instance;
    this.#length = length;
    this.#retention = retention;
    this.#words = new EncodedWords([length, "", instance]);
    connection.subscribe(keys.deaths, (dead) => this.#noteDead(dead));
  }

  /** An admission is on its way: who sends it notes in the lease how it was admitted. */
  expect(id: string, userId: string): Lease {
    const held = this.#held.get(id);
    if (held) return held;
    const lease = { userId, packed: null };
    this.#held.set(id, lease);
    return lease;
  }

  /** It was not admitted, as far as is known. */
  drop(id: string, lease: Lease): void {
    if (lease.packed === null && this.#held.get(id) === lease) this.#held.delete(id);
  }

  /** @returns null unless it was held: this process has admitted it and has not settled it yet. */
  release(id: string): Lease | null {
    const lease = this.#held.get(id);
    this.#held.delete(id);
    return lease && lease.packed !== null ? lease : null;
  }

  /** It runs on without slot and hold. */
  free(id: string): void {
    const lease = this.#held.get(id);
    if (lease && lease.packed !== null) lease.packed = lease.packed.replace(/^(\d+) [01] \d+ /, "$1 0 0 ");
  }

  /** Its settlement could not be sent: `release` has it again, and it is renewed no more. */
  keep(id: string, lease: Lease): void {
    this.#held.set(id, { ...lease, ending: true });
    setTimeout(() => this.#forget(id), UNSENT_SETTLEMENT_TTL_MS).unref();
  }

  #forget(id: string): void {
    if (this.#held.get(id)?.ending) this.#held.delete(id);
  }

  /**
   * Prolongs all leases, or those of one user. What cannot be reached now is renewed the next time.
   * @param time the scripts' time argument. @param notAfter the latest time of their execution, or 0.
   */
  async renew(time: number, notAfter: number, of?: string): Promise<void> {
    const scripts: { readonly keys: EncodedWords; readonly args: readonly (string | number)[] }[] = [];
    const all = of === undefined ? [...this.#held] : [...this.#held].filter(([, { userId }]) => userId === of);
    for (const [userId, held] of Map.groupBy(all, ([, lease]) => lease.userId)) {
      const known = held.flatMap(([id, { packed, ending }]) => (packed === null || ending ? [] : [[id, packed]]));
      for (let at = 0; at < known.length; at += RESERVATIONS_PER_SCRIPT) {
        const args = [
          time,
          notAfter,
          this.#length,
          ...known.slice(at, at + RESERVATIONS_PER_SCRIPT).flat(),
          this.#retention,
        ];
        scripts.push({ keys: this.requestKeys.of(userId), args });
      }
    }
    await inBatches(scripts, ({ keys, args }) => unlessUnavailable(this.#connection.run(RENEW, keys, args)));
  }

  /** Learns of those that were marked while this process did not listen. */
  async refreshDead(): Promise<void> {
    const dead = await unlessUnavailable(this.#connection.call("ZRANGE", this.#keys.dead, 0, -1));
    for (const instance of (dead ?? []) as string[]) this.#noteDead(instance);
  }

  async markDead(instance: string, time: number): Promise<void> {
    await this.#connection.run(MARK_DEAD, [this.#keys.dead], [time, instance, this.#keys.deaths, LEASE_MS]);
    this.#noteDead(instance);
  }

  /** Of an admission: the length of a lease, the dead and this process. */
  get words(): EncodedWords {
    const { dead } = this;
    if (this.#words.words[1] !== dead) this.#words = new EncodedWords([this.#length, dead, this.#instance]);
    return this.#words;
  }

  /** The dead, a blank before and after each; "" without any. */
  get dead(): string {
    if (this.#dead.size === 0) return "";
    for (const [instance, until] of this.#dead) if (until <= performance.now()) this.#dead.delete(instance);
    return this.#dead.size === 0 ? "" : ` ${[...this.#dead.keys()].join(" ")} `;
  }

  #noteDead(instance: string): void {
    if (instance !== this.#instance && !this.#dead.has(instance))
      this.#dead.set(instance, performance.now() + LEASE_MS);
  }
}

/** Users whose keys are remembered as they are sent: half a kilobyte each. */
const MAX_REMEMBERED_USERS = 2_000;

/** The keys of the scripts that have the part reservations.lua, behind their number. */
export class RequestKeys {
  readonly #keys: Keys;
  readonly #ofUsers = new Map<string, EncodedWords>();

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  of(userId: string): EncodedWords {
    const known = this.#ofUsers.get(userId);
    if (known) return known;
    const { user, windows, reservations, leases, streams, abandoned, ledger, unswept } = this.#keys;
    const own = [user, windows, reservations, leases, streams, abandoned, ledger, unswept].map((key) => key(userId));
    const words = new EncodedWords([own.length, ...own]);
    if (this.#ofUsers.size >= MAX_REMEMBERED_USERS) this.#ofUsers.clear();
    this.#ofUsers.set(userId, words);
    return words;
  }
}

export async function unlessUnavailable<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (isStoreUnavailable(error)) return null;
    throw error;
  }
}
