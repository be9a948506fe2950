import {
  type Cancellation,
  type HeldKey,
  IDEMPOTENCY_KEY_TTL_MS,
  type IdempotencyKeys,
  type IdempotencyStore,
  isStoreUnavailable,
  type KeptOutcome,
  type KeyClaim,
  type KeyState,
  type Log,
  overloaded,
  type TakenKey,
} from "../kit/index.ts";

/** How long a claim lasts without a renewal: three renewals in a row may be lost. */
const LEASE_MS = 60_000;
const RENEWAL_INTERVAL_MS = LEASE_MS / 4;
/** How often leases are renewed if due, and outcomes stored that the store did not take. */
const TICK_MS = 1_000;
/** How often the store is asked for a key of another process: at first, and after a while. */
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 1_000;
/** Requests of one user that may wait at once. Each one holds a connection and its body. */
const MAX_WAITING_PER_USER = 100;
/** Bytes of answers that wait in memory for the store. Beyond it, outcomes are kept without their answers. */
const MAX_UNKEPT_BYTES = 16 * 1024 * 1024;

type KeyStore = Omit<IdempotencyStore, "forgetKeys">;

interface KeyOptions {
  readonly store: KeyStore;
  readonly log: Log;
}

/** A key whose request runs in this process, or whose outcome is not stored yet. */
interface Held {
  readonly claim: KeyClaim;
  readonly ended: PromiseWithResolvers<void>;
  /** By `performance.now()`. */
  renewAt: number;
  /** null while the request runs. */
  unkept: KeptOutcome | null;
}

/**
 * The idempotency keys of the requests that this process runs. Renews their leases, wakes the requests that wait for them in
 * this process, and holds outcomes while the store is away. For keys of other processes it polls the store.
 */
export class RunningKeys implements IdempotencyKeys {
  readonly #store: KeyStore;
  readonly #log: Log;
  /** Keyed by user and digest. */
  readonly #held = new Map<string, Held>();
  /** Number of waiting requests by user. */
  readonly #waiting = new Map<string, number>();
  #unkeptBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor({ store, log }: KeyOptions) {
    this.#store = store;
    this.#log = log;
  }

  async take(
    claim: KeyClaim,
    { cancellation, maxMs }: { readonly cancellation: Cancellation; readonly maxMs: number },
  ): Promise<TakenKey> {
    const state = await this.#ask(claim);
    if (state.state === "claimed") return { state: "first", key: this.#hold(claim), waited: false };
    if (state.state !== "running") return { ...state, waited: false };
    const { userId } = claim;
    const count = this.#waiting.get(userId) ?? 0;
    if (count >= MAX_WAITING_PER_USER) throw overloaded();
    this.#waiting.set(userId, count + 1);
    try {
      return await this.#wait(claim, state, cancellation, performance.now() + maxMs);
    } finally {
      const left = (this.#waiting.get(userId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(userId);
      else this.#waiting.set(userId, left);
    }
  }

  /** Tries once more to store the outcomes that are still in memory. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all([...this.#held.values()].map((held) => this.#tryToKeep(held)));
  }

  async #wait(claim: KeyClaim, first: KeyState, cancellation: Cancellation, until: number): Promise<TakenKey> {
    let state = first;
    for (let poll = FIRST_POLL_MS; state.state === "running"; poll = Math.min(2 * poll, LAST_POLL_MS)) {
      const leftMs = until - performance.now();
      if (cancellation.aborted) return { state: "aborted", waited: true };
      if (leftMs <= 0) return { ...state, waited: true };
      const held = this.#held.get(nameOf(claim));
      await untilAny(held?.ended.promise, held === undefined ? Math.min(poll, leftMs) : leftMs, cancellation);
      if (cancellation.aborted) return { state: "aborted", waited: true };
      state = await this.#ask(claim);
    }
    if (state.state === "claimed") return { state: "first", key: this.#hold(claim), waited: true };
    return { ...state, waited: true };
  }

  /** Looks in this process first: the store may be away when the request that has the key ends. */
  async #ask(claim: KeyClaim): Promise<KeyState> {
    const held = this.#held.get(nameOf(claim));
    if (held !== undefined) return stateOf(held, claim);
    try {
      return await this.#store.claimKey(claim, LEASE_MS);
    } catch (error) {
      // The store may have executed the claim although its reply was lost.
      this.#free(claim).catch(() => {});
      throw error;
    }
  }

  async #free(claim: KeyClaim): Promise<void> {
    try {
      await this.#store.freeKey(claim);
    } catch (error) {
      // The lease ends by itself.
      if (!isStoreUnavailable(error)) throw error;
    }
  }

  #hold(claim: KeyClaim): HeldKey {
    const held: Held = {
      claim,
      ended: Promise.withResolvers(),
      renewAt: performance.now() + RENEWAL_INTERVAL_MS,
      unkept: null,
    };
    this.#held.set(nameOf(claim), held);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return {
      keep: async (kept) => {
        const isBeyond = this.#unkeptBytes + (kept.answer?.length ?? 0) > MAX_UNKEPT_BYTES;
        held.unkept = isBeyond ? { ...kept, answer: null } : kept;
        this.#unkeptBytes += held.unkept.answer?.length ?? 0;
        await this.#tryToKeep(held);
      },
      release: async () => {
        if (held.unkept !== null || !this.#isHeld(held)) return;
        try {
          await this.#free(claim);
        } catch (err) {
          this.#log.error({ err, request_id: claim.requestId }, "idempotency key could not be released");
        }
        this.#end(held);
      },
    };
  }

  /** Calls the store in the same turn: it then writes the outcome together with the settlement sent just before. */
  async #tryToKeep(held: Held): Promise<void> {
    if (held.unkept === null) return;
    try {
      await this.#store.keepKey(held.claim, held.unkept, IDEMPOTENCY_KEY_TTL_MS);
    } catch (err) {
      if (isStoreUnavailable(err)) return;
      this.#log.error({ err, request_id: held.claim.requestId }, "answer could not be stored for its idempotency key");
    }
    if (!this.#isHeld(held)) return;
    this.#unkeptBytes -= held.unkept.answer?.length ?? 0;
    this.#end(held);
  }

  #isHeld(held: Held): boolean {
    return this.#held.get(nameOf(held.claim)) === held;
  }

  #end(held: Held): void {
    if (!this.#isHeld(held)) return;
    this.#held.delete(nameOf(held.claim));
    held.ended.resolve();
    if (this.#held.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const now = performance.now();
    for (const held of this.#held.values()) {
      if (held.unkept === null && held.renewAt > now) continue;
      held.renewAt = now + RENEWAL_INTERVAL_MS;
      const asking = held.unkept === null ? this.#renew(held.claim) : this.#tryToKeep(held);
      asking.catch((err: unknown) => this.#log.error({ err }, "idempotency key could not be renewed"));
    }
  }

  async #renew(claim: KeyClaim): Promise<void> {
    try {
      await this.#store.renewKey(claim, LEASE_MS);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
    }
  }
}

function nameOf({ userId, digest }: KeyClaim): string {
  return `${userId} ${digest}`;
}

/** The same answer as the store would give. */
function stateOf({ claim: { fingerprint, requestId }, unkept }: Held, claim: KeyClaim): KeyState {
  if (fingerprint !== claim.fingerprint) return { state: "mismatch", requestId };
  return unkept === null ? { state: "running", requestId } : { state: "answered", requestId, ...unkept };
}

/** Resolves with the promise, after `maxMs`, or when the request is cancelled, whichever is first. */
function untilAny(promise: Promise<void> | undefined, maxMs: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      cancellation.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, maxMs);
    cancellation.addEventListener("abort", stop);
    promise?.then(stop, stop);
  });
}
