import type { AttemptError, FailureClass } from "../../kit/index.ts";

/** The last failure of a key or a target. */
export interface LastError {
  /** Unix milliseconds. */
  readonly at: number;
  /** The upstream's; null where no answer came. */
  readonly status: number | null;
  /** The system's or the provider's own; null without one. */
  readonly code: string | null;
  /** What happened, in words of the gateway. */
  readonly cause: string;
  /** The provider's or the system's words, without keys and URLs. */
  readonly message: string;
  readonly requestId: string;
  /** Unix milliseconds of the first success after it; null before. */
  readonly recoveredAt: number | null;
}

/** How requests to one model of an upstream fared. */
export interface TargetNews {
  readonly lastError: LastError | null;
  /** Unix milliseconds; null: none so far. */
  readonly lastSuccessAt: number | null;
}

/** What is shown of one upstream. */
export interface LastErrorsView {
  /** By position. */
  readonly keys: readonly (LastError | null)[];
  /** By the upstream's name of the model; those that requests went to. */
  readonly targets: readonly (readonly [string, TargetNews])[];
}

/** What says nothing about a key or a target: the client's fault, or nothing was asked. */
const UNTOLD: ReadonlySet<FailureClass> = new Set([
  "aborted",
  "skipped",
  "saturated",
  "resting",
  "unsupported",
  "client_fault",
  "context_overflow",
]);
/** Names that are no longer configured go when there are more. */
const MAX_COUNT = 1_000;
const NO_NEWS: TargetNews = { lastError: null, lastSuccessAt: null };

/** The last error of each key and each target of one upstream, which stays when they have recovered. */
export class LastErrors {
  /** By key value; the values never leave it. */
  readonly #keys = new Map<string, LastError>();
  /** By the upstream's name of the model; the one that was used last is last. */
  readonly #targets = new Map<string, TargetNews>();

  failed(key: string, model: string, error: AttemptError, requestId: string, at: number): void {
    if (UNTOLD.has(error.failure)) return;
    const { status, causeCode: code, explanation: cause, words, message } = error;
    const last: LastError = {
      at,
      status: status || null,
      code: code || null,
      cause,
      message: words || message,
      requestId,
      recoveredAt: null,
    };
    put(this.#keys, key, last);
    put(this.#targets, model, { ...this.#target(model), lastError: last });
  }

  served(key: string, model: string, at: number): void {
    const ofKey = this.#keys.get(key);
    if (ofKey !== undefined && ofKey.recoveredAt === null) this.#keys.set(key, { ...ofKey, recoveredAt: at });
    const { lastError } = this.#target(model);
    const isOver = lastError === null || lastError.recoveredAt !== null;
    put(this.#targets, model, {
      lastError: isOver ? lastError : { ...lastError, recoveredAt: at },
      lastSuccessAt: at,
    });
  }

  /** @param keys in the order in which they are configured. @param models that are in a chain. */
  view(keys: readonly string[], models: ReadonlySet<string>): LastErrorsView {
    return {
      keys: keys.map((key) => this.#keys.get(key) ?? null),
      targets: [...this.#targets].filter(([model]) => models.has(model)),
    };
  }

  #target(model: string): TargetNews {
    return this.#targets.get(model) ?? NO_NEWS;
  }
}

function put<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  if (map.size > MAX_COUNT) map.delete(map.keys().next().value!);
}
