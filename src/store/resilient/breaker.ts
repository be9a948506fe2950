import {
  type Awaitable,
  DenseSet,
  type Indexed,
  isStoreUnavailable,
  type Store,
  storeUnavailable,
} from "../../kit/index.ts";

/** Failures in a row after which the store is away. */
const FAILURES_TO_OPEN = 3;
/** Between the questions that find out whether it is back. */
const PROBE_INTERVAL_MS = 100;
/** Questions that may wait for their answers at the same time. */
const MAX_WAITING_COUNT = 10_000;
/**
 * Looks without any answer after which a store that must hurry is given up, and milliseconds between them. A process that
 * is busy looks less often, and does not take its own delay for the store's.
 */
const HURRY = { looks: 8, everyMs: 50 };

interface StoreBreakerOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called on each change of `away`. */
  readonly onChange: (away: boolean) => void;
  /** Whether `hurry` may give up what waits for an answer; true unless given. */
  readonly mayHurry?: boolean;
}

/** A question without an answer. */
interface Question extends Indexed {
  readonly reject: (error: unknown) => void;
}

/** A circuit breaker: a store that has been away is asked only now and then, and everybody else is refused at once. */
export class StoreBreaker {
  readonly #options: StoreBreakerOptions;
  /** Since the last answer. */
  #failures = 0;
  #answers = 0;
  /** Questions without an answer: that can be given up, and others. */
  readonly #waiting = new DenseSet<Question>();
  #certain = 0;
  #probeAt = 0;
  #leaving = false;
  #hurry: NodeJS.Timeout | null = null;

  constructor(options: StoreBreakerOptions) {
    this.#options = options;
  }

  get away(): boolean {
    return this.#failures >= FAILURES_TO_OPEN;
  }

  /** Whether the store has answered anything since the process started. */
  get hasAnswered(): boolean {
    return this.#answers > 0;
  }

  /** The process ends: nobody waits any more to find out whether the store is back, and one failure is enough. */
  leave(): void {
    this.#leaving = true;
  }

  /**
   * The process is about to end: a store that answers nothing for a moment while it is asked is given up, whatever time
   * its calls have, and with it all who wait for it.
   */
  hurry(): void {
    let before = this.#answers;
    let silent = 0;
    this.#hurry ??= setInterval(() => {
      silent = this.#waiting.size === 0 || this.#answers !== before ? 0 : silent + 1;
      before = this.#answers;
      if (silent < HURRY.looks) return;
      const error = storeUnavailable(new Error("the process ends, and the store does not answer"));
      this.#waiting.each((question) => question.reject(error));
    }, HURRY.everyMs).unref();
  }

  close(): void {
    if (this.#hurry) clearInterval(this.#hurry);
  }

  /** Whether nothing is to be asked of which the end of the process would wait. */
  get left(): boolean {
    return this.#leaving && this.#failures > 0;
  }

  /** @throws GatewayError STORE_UNAVAILABLE at once when the store is not to be asked now. */
  ask<T>(question: () => Awaitable<T>): Awaitable<T> {
    if (this.#waiting.size + this.#certain >= MAX_WAITING_COUNT)
      throw storeUnavailable(new Error("too many wait for the store"));
    if (this.left || (this.away && !this.#mayProbe()))
      throw storeUnavailable(new Error("the store did not answer before"));
    return this.observe(question);
  }

  /**
   * As `ask`, but never refused without asking: for callers with a back-off of their own.
   * @param otherwise what to answer in the place of an error.
   */
  observe<T>(question: () => Awaitable<T>, otherwise: (error: unknown) => Awaitable<T> = rethrow): Awaitable<T> {
    const before = this.#answers;
    let asked: Awaitable<T>;
    try {
      asked = question();
    } catch (error) {
      return otherwise(this.#failed(error, before));
    }
    if (!(asked instanceof Promise)) {
      this.#answered();
      return asked;
    }
    return this.#options.mayHurry === false
      ? this.#awaitCertain(asked, before, otherwise)
      : this.#await(asked, before, otherwise);
  }

  #awaitCertain<T>(asked: Promise<T>, before: number, otherwise: (error: unknown) => Awaitable<T>): Promise<T> {
    this.#certain++;
    return asked.then(
      (answer) => {
        this.#certain--;
        this.#answered();
        return answer;
      },
      (error: unknown) => {
        this.#certain--;
        return otherwise(this.#failed(error, before));
      },
    );
  }

  /** One promise of its own and no more: every request asks twice. */
  #await<T>(asked: Promise<T>, before: number, otherwise: (error: unknown) => Awaitable<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const question: Question = {
        index: -1,
        reject: (error) => {
          // The store has answered, or was given up before.
          if (question.index < 0) return;
          this.#waiting.delete(question);
          try {
            resolve(otherwise(this.#failed(error, before)));
          } catch (thrown) {
            reject(thrown);
          }
        },
      };
      this.#waiting.add(question);
      const onAnswer = (answer: T): void => {
        if (question.index < 0) return;
        this.#waiting.delete(question);
        this.#answered();
        resolve(answer);
      };
      asked.then(onAnswer, question.reject);
    });
  }

  #mayProbe(): boolean {
    const at = this.#options.now();
    // Further ahead only when the clock went back.
    if (at < this.#probeAt && this.#probeAt - at <= PROBE_INTERVAL_MS) return false;
    this.#probeAt = at + PROBE_INTERVAL_MS;
    return true;
  }

  #answered(): void {
    const wasAway = this.away;
    this.#failures = 0;
    this.#answers++;
    if (wasAway) this.#options.onChange(false);
  }

  /** A question asked before the last answer says nothing of the time after it. */
  #failed(error: unknown, before: number): unknown {
    if (!isStoreUnavailable(error)) this.#answered();
    else if (before === this.#answers && ++this.#failures === FAILURES_TO_OPEN) this.#options.onChange(true);
    return error;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

/** Methods that ask the store, whatever they ask. */
const ASKING = [
  "running",
  "principalByDigest",
  "principalOf",
  "touchKeys",
  "addUser",
  "findUser",
  "listUsers",
  "findUsers",
  "setTier",
  "setDisabled",
  "deleteUser",
  "grant",
  "addGrant",
  "listGrants",
  "addKey",
  "listKeys",
  "changeKey",
  "rollKey",
  "revokeKey",
  "ledger",
  "recorded",
  "ledgerPage",
  "usage",
  "stopStreams",
  "stopTokens",
  "throttle",
  "addCounts",
  "putCode",
  "takeCode",
  "addFamily",
  "rotate",
  "endFamily",
  "endSessions",
  "findIdentity",
  "linkIdentity",
  "remember",
  "getValue",
  "setValue",
  "addToValue",
  "deleteValue",
  "claimKey",
  "renewKey",
  "keepKey",
  "freeKey",
  "forgetKeys",
  "publishInstance",
  "broadcast",
  "listInstances",
  "writeAudit",
  "listAudit",
  "verifyAudit",
  "eraseAudit",
  "markInstanceDead",
  "ping",
] as const satisfies readonly (keyof Store)[];

type Asking = Pick<Store, (typeof ASKING)[number]>;

/** The store's methods, asked through the breaker. */
export function askedThrough(breaker: StoreBreaker, store: Store): Asking {
  const asked = ASKING.map((name) => {
    const ask = (...args: unknown[]) => breaker.ask(() => (store[name] as (...args: unknown[]) => unknown)(...args));
    return [name, ask] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name has the arguments and the result of its method
  return Object.fromEntries(asked) as unknown as Asking;
}
