import {
  type Admission,
  type AdmissionResult,
  type Awaitable,
  isStoreUnavailable,
  type Limits,
  type Log,
  type Settlement,
  type Store,
  type Windows,
} from "../../kit/index.ts";
import { AskingStore } from "./asking.ts";
import { StoreBreaker } from "./breaker.ts";
import { type Rejection, releaseOf } from "./journal.ts";
import { LocalView } from "./local-view.ts";
import { Settlements, sleep, type Sleep } from "./settlements.ts";

export interface StoreState {
  readonly away: boolean;
  /** Settlements that the store has not acknowledged; those in the journal are of all processes that share it. */
  readonly pending: number;
  /** Settlements that the store will never take: kept aside, their slots and holds are free. */
  readonly rejected: number;
  /** Requests that run without the store's admission. */
  readonly local: number;
}

export interface ResilienceOptions {
  /** Whether requests are admitted while the store is away, by what this process has seen. */
  readonly onFailure: () => "closed" | "open";
  /** Path of the file that keeps settlements which the store does not take; processes share it. null: memory only. */
  readonly journal: string | null;
  /** Whether only what the store rejects is written there. */
  readonly onlyRejected?: boolean;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Told of each change. */
  readonly onState?: (state: StoreState) => void;
  /** Between tries. */
  readonly sleep?: Sleep;
}

/** Loses no settlement of a store that is away for a while, and asks it no more than is needed. Takes over `store`. */
export function withResilience(store: Store, options: ResilienceOptions): ResilientStore {
  return new ResilientStore(store, options);
}

export class ResilientStore extends AskingStore {
  readonly #options: ResilienceOptions;
  readonly #circuit: StoreBreaker;
  readonly #local: LocalView;
  readonly #settlements: Settlements;
  #closed = false;
  #told: StoreState = { away: false, pending: 0, rejected: 0, local: 0 };

  constructor(store: Store, options: ResilienceOptions) {
    super(store);
    const { journal, onlyRejected = false, log, now } = options;
    this.#options = options;
    const circuit = new StoreBreaker({ now, onChange: (away) => this.#onAway(away) });
    this.#circuit = circuit;
    this.#local = new LocalView(now);
    this.#settlements = new Settlements({
      store: {
        admit: (admission) => circuit.observe(() => store.admit(admission)),
        settle: (settlement) => circuit.observe(() => store.settle(settlement)),
        recorded: (userId, ids) => circuit.observe(() => store.recorded(userId, ids)),
      },
      isAway: isStoreUnavailable,
      journal,
      onlyRejected,
      log,
      now,
      sleep: options.sleep ?? sleep,
      onChange: () => this.#tell(),
    });
    this.#settlements.start();
  }

  /** Settlements that the store has not acknowledged. */
  get pending(): number {
    return this.#settlements.pending;
  }

  /** The process ends: a store that is away is not waited for; settlements go into the journal at once. */
  leave(): void {
    this.#circuit.leave();
  }

  /**
   * From now on nobody waits long for a store that is somewhere else: what it does not take at once the journal does.
   * After `leave`, when nothing is left to be done but to settle.
   */
  hurry(): void {
    const { journal, onlyRejected = false } = this.#options;
    if (journal === null || onlyRejected) return;
    this.#circuit.hurry();
    this.#settlements.hurry();
    // Found out before the first settlement comes: what broke off has to be counted for it.
    if (!this.#circuit.left) Promise.resolve(this.#circuit.observe(() => this.store.ping())).catch(() => {});
  }

  /** Settlements that the store will never take, the newest first; at most 1,000. */
  rejections(): readonly Rejection[] {
    return this.#settlements.rejections();
  }

  /**
   * Before `close`: waits for what is pending while the store answers; the journal keeps what remains.
   * @param most milliseconds; 5 s unless given.
   */
  done(most?: number): Promise<void> {
    return this.#settlements.done(this.#circuit.left ? 0 : most);
  }

  async admit(admission: Admission): Promise<AdmissionResult> {
    if (this.#options.onFailure() === "closed") return this.ask(() => this.store.admit(admission));
    let asked = false;
    try {
      const result = await this.ask(() => {
        asked = true;
        return this.store.admit(admission);
      });
      this.#saw(admission.userId, result.windows);
      if (!result.ok) return result;
      this.#local.sawStopToken(admission.userId, result.stopToken);
      this.#local.began(admission);
      return result;
    } catch (error) {
      if (!this.#goesOn(error) || this.#settlements.full) throw error;
      const result = this.#local.admit(admission, asked);
      this.#tell();
      return result;
    }
  }

  /** Does not wait for a store that is away: resolves, with true, when the journal has the settlement. */
  async settle(settlement: Settlement): Promise<boolean> {
    const local = this.#local.end(settlement.id, settlement.giveBack);
    if (local) {
      this.#tell();
      // The store has not heard of it: or, when it lost the answer, takes it back by itself.
      if (settlement.giveBack) return true;
      await this.#settlements.add({ settlement, admission: local.admission, tried: local.asked });
      return true;
    }
    const repeated = this.#settlements.repeated(settlement.id);
    if (repeated) {
      await repeated;
      return false;
    }
    if (this.#circuit.left) return this.#later(settlement);
    try {
      // Asked in any case: a store that is not told that the request is over would go on keeping its slot and its hold.
      return await this.#circuit.observe(() => this.store.settle(settlement));
    } catch (error) {
      if (!isStoreUnavailable(error)) {
        await this.#reject(settlement, error);
        throw error;
      }
    }
    return this.#later(settlement);
  }

  async #later(settlement: Settlement): Promise<boolean> {
    await this.#settlements.add({ settlement, admission: null, tried: true });
    return true;
  }

  /** Frees what the request has taken: nobody else would, as long as this process lives. */
  async #reject(settlement: Settlement, error: unknown): Promise<void> {
    // The caller's own mistake, or an attempt to free it: nothing to keep.
    if (settlement.record === null || settlement.charge < 0n) return;
    await this.#settlements.reject({ settlement, admission: null, tried: true }, error);
    await this.settle(releaseOf(settlement)).catch(() => {});
  }

  async windows(userId: string, limits: Limits): Promise<Windows> {
    try {
      const windows = await this.ask(() => this.store.windows(userId, limits));
      if (this.#options.onFailure() === "open") this.#saw(userId, windows);
      return windows;
    } catch (error) {
      if (!this.#goesOn(error)) throw error;
      return this.#local.windows(userId, limits);
    }
  }

  override async stopTokens(userIds: readonly string[]) {
    const tokens = await super.stopTokens(userIds);
    for (const [userId, token] of tokens) this.#local.sawStopToken(userId, token);
    return tokens;
  }

  async close() {
    this.#closed = true;
    this.#circuit.close();
    this.#settlements.close();
    await this.store.close();
  }

  protected ask<T>(question: () => Awaitable<T>): Awaitable<T> {
    return this.#circuit.ask(question);
  }

  /** Whether this process goes by its own view after a failure. */
  #goesOn(error: unknown): boolean {
    return isStoreUnavailable(error) && this.#options.onFailure() === "open" && !this.#closed;
  }

  #saw(userId: string, windows: Windows): void {
    this.#local.saw(userId, windows, this.#local.size > 0 || this.#settlements.pending > 0);
  }

  #onAway(away: boolean): void {
    const { log } = this.#options;
    if (away) log.warn({}, "the store does not answer");
    else log.info({}, "the store answers again");
    if (!away) this.#settlements.wake();
    this.#tell();
  }

  #tell(): void {
    const { pending, rejected } = this.#settlements;
    const state: StoreState = { away: this.#circuit.away, pending, rejected, local: this.#local.size };
    const { away, local } = this.#told;
    const { onState } = this.#options;
    const isSame = away === state.away && local === state.local;
    if (isSame && this.#told.pending === pending && this.#told.rejected === rejected) return;
    this.#told = state;
    onState?.(state);
  }
}
