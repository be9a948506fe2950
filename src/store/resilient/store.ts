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
import { askedThrough, StoreBreaker } from "./breaker.ts";
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
  /** Called on each change. */
  readonly onState?: (state: StoreState) => void;
  /** Between tries. */
  readonly sleep?: Sleep;
}

/** A store with the means to end a process in good order. */
export interface ResilientStore extends Store {
  windows(userId: string, limits: Limits): Promise<Windows>;
  close(): Promise<void>;
  /** Settlements that the store has not acknowledged. */
  readonly pending: number;
  /** Whether the store has answered since the process started: before that nobody can be served. */
  readonly answered: boolean;
  /** The process ends: a store that is away is not waited for; settlements go into the journal at once. */
  leave(): void;
  /**
   * From now on nobody waits long for a store that is somewhere else: what it does not take at once the journal does.
   * After `leave`, when nothing is left to be done but to settle.
   */
  hurry(): void;
  /** Settlements that the store will never take, the newest first; at most 1,000. */
  rejections(): readonly Rejection[];
  /**
   * Before `close`: waits for what is pending while the store answers; the journal keeps what remains.
   * @param maximum milliseconds; 5 s unless given.
   */
  done(maximum?: number): Promise<void>;
}

/** Loses no settlement of a store that is away for a while, and asks it no more than is needed. Takes over `store`. */
export function withResilience(store: Store, options: ResilienceOptions): ResilientStore {
  const { journal, onlyRejected = false, log, now } = options;
  const mayHurry = journal !== null && !onlyRejected;
  const breaker = new StoreBreaker({ now, onChange: onAway, mayHurry });
  const localView = new LocalView(now);
  const settlements = new Settlements({
    store: {
      admit: (admission) => breaker.observe(() => store.admit(admission)),
      settle: (settlement) => breaker.observe(() => store.settle(settlement)),
      recorded: (userId, ids) => breaker.observe(() => store.recorded(userId, ids)),
    },
    isAway: isStoreUnavailable,
    journal,
    onlyRejected,
    log,
    now,
    sleep: options.sleep ?? sleep,
    onChange: reportState,
  });
  let closed = false;
  let reported: StoreState = { away: false, pending: 0, rejected: 0, local: 0 };
  const asked = askedThrough(breaker, store);
  settlements.start();

  return {
    ...asked,
    // Subscriptions ask nothing.
    onStop: (listener, onCertain) => store.onStop(listener, onCertain),
    onChange: (listener) => store.onChange(listener),
    onBroadcast: (listener) => store.onBroadcast(listener),
    // Of a store that answers at once.
    ...(store.accountsVersion !== undefined && { accountsVersion: () => store.accountsVersion!() }),
    admit,
    settle,
    release,
    windows,

    async stopTokens(userIds) {
      const tokens = await asked.stopTokens(userIds);
      for (const [userId, token] of tokens) localView.sawStopToken(userId, token);
      return tokens;
    },

    get pending() {
      return settlements.pending;
    },

    get answered() {
      return breaker.hasAnswered;
    },

    leave: () => breaker.leave(),

    hurry() {
      if (!mayHurry) return;
      breaker.hurry();
      settlements.hurry();
      // Found out before the first settlement comes: what broke off has to be counted for it.
      if (!breaker.left) Promise.resolve(breaker.observe(() => store.ping())).catch(() => {});
    },

    rejections: () => settlements.rejections(),
    done: (maximum) => settlements.done(breaker.left ? 0 : maximum),

    async close() {
      closed = true;
      breaker.close();
      settlements.close();
      await store.close();
    },
  };

  // Without frames of their own around what the store returns: on the way of every request each is a promise more, and a
  // store that has its answer at once would wait for a turn.

  function admit(admission: Admission): Awaitable<AdmissionResult> {
    if (options.onFailure() === "closed") {
      try {
        return breaker.ask(() => store.admit(admission));
      } catch (error) {
        // Always a rejection, as of a store that was asked.
        return Promise.reject(error);
      }
    }
    let asked = false;
    const noteAdmitted = (result: AdmissionResult): AdmissionResult => {
      noteWindows(admission.userId, result.windows);
      if (!result.ok) return result;
      localView.sawStopToken(admission.userId, result.stopToken);
      localView.began(admission);
      return result;
    };
    const admitHere = (error: unknown): AdmissionResult => {
      if (!goesOn(error) || settlements.full) throw error;
      const result = localView.admit(admission, asked);
      reportState();
      return result;
    };
    try {
      const result = breaker.ask(() => {
        asked = true;
        return store.admit(admission);
      });
      return result instanceof Promise ? result.then(noteAdmitted, admitHere) : noteAdmitted(result);
    } catch (error) {
      return new Promise((resolve) => resolve(admitHere(error)));
    }
  }

  /** Does not wait for a store that is away: resolves, with true, when the journal has the settlement. */
  function settle(settlement: Settlement): Awaitable<boolean> {
    const local = localView.end(settlement.id, settlement.giveBack);
    if (local) {
      reportState();
      // The store has not heard of it: or, when it lost the answer, takes it back by itself.
      if (settlement.giveBack) return true;
      return settlements.add({ settlement, admission: local.admission, tried: local.asked }).then(() => true);
    }
    const repeated = settlements.repeated(settlement.id);
    if (repeated) return repeated.then(() => false);
    if (breaker.left) return later(settlement);
    // Asked in any case: a store that is not told that the request is over would go on keeping its slot and its hold.
    return breaker.observe(
      () => store.settle(settlement),
      (error) => refused(settlement, error),
    );
  }

  /** A store that is away is not waited for: the settlement frees the same. */
  async function release(running: Pick<Admission, "id" | "userId">): Promise<void> {
    if (localView.release(running.id) || breaker.left) return;
    try {
      await breaker.observe(() => store.release(running));
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
    }
  }

  /** @throws what a store that answers threw */
  async function refused(settlement: Settlement, error: unknown): Promise<boolean> {
    if (isStoreUnavailable(error)) return later(settlement);
    await reject(settlement, error);
    throw error;
  }

  async function later(settlement: Settlement): Promise<boolean> {
    await settlements.add({ settlement, admission: null, tried: true });
    return true;
  }

  /** Frees what the request has taken: nobody else would, as long as this process lives. */
  async function reject(settlement: Settlement, error: unknown): Promise<void> {
    // The caller's own mistake, or an attempt to free it: nothing to keep.
    if (settlement.record === null || settlement.charge < 0n) return;
    await settlements.reject({ settlement, admission: null, tried: true }, error);
    try {
      await settle(releaseOf(settlement));
    } catch {
      // The request leaves slot and hold behind: it was said why when it was kept aside.
    }
  }

  async function windows(userId: string, limits: Limits): Promise<Windows> {
    try {
      const windows = await breaker.ask(() => store.windows(userId, limits));
      if (options.onFailure() === "open") noteWindows(userId, windows);
      return windows;
    } catch (error) {
      if (!goesOn(error)) throw error;
      return localView.windows(userId, limits);
    }
  }

  /** Whether this process goes by its own view after a failure. */
  function goesOn(error: unknown): boolean {
    return isStoreUnavailable(error) && options.onFailure() === "open" && !closed;
  }

  function noteWindows(userId: string, windows: Windows): void {
    localView.saw(userId, windows, localView.size > 0 || settlements.pending > 0);
  }

  function onAway(away: boolean): void {
    if (away) log.warn({}, "store does not answer");
    else log.info({}, "store answers again");
    if (!away) settlements.wake();
    reportState();
  }

  function reportState(): void {
    const { pending, rejected } = settlements;
    const state: StoreState = { away: breaker.away, pending, rejected, local: localView.size };
    const { away, local } = reported;
    const isSame = away === state.away && local === state.local;
    if (isSame && reported.pending === pending && reported.rejected === rejected) return;
    reported = state;
    options.onState?.(state);
  }
}
