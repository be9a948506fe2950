import pRetry from "p-retry";
import type { Batches } from "../../dialects/dialect.ts";
import {
  type AnswerReply,
  AttemptError,
  type Call,
  type Cancellation,
  type Exchange,
  type FailureClass,
  type Reference,
  referenceRefusal,
  refusedReference,
  type Reply,
  type RetrySettings,
  type Target,
} from "../../kit/index.ts";
import { Sending, type SendingParts } from "./sending.ts";

interface RouteOptions extends SendingParts {
  readonly random: () => number;
}

/** Sends calls to one upstream under one configuration. */
export class Route {
  readonly #options: RouteOptions;

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  /** One attempt, with its retries and changes of key. @throws AttemptError */
  send(
    target: Target,
    call: Call,
    exchange: Exchange,
    onSent?: () => void,
    spanId: string | null = null,
    onQueued?: (waited: number) => void,
  ): Promise<Reply> {
    const { upstream, dialect, now, random, sweeper } = this.#options;
    // The order of targets leaves these out; a relay plugin may have an order of its own.
    const refused = refusedReference(exchange.call, upstream);
    if (refused !== null) return Promise.reject(unsupportedReference(refused));
    const codec = dialect.codecs[call.kind];
    if (!codec) return Promise.reject(dialectNotSpoken(dialect.name, `for ${call.kind} models`));
    if (call.stream && (codec.type === "bytes" || codec.decoder === null)) {
      return Promise.reject(dialectNotSpoken(dialect.name, `for streams of ${call.kind} models`));
    }
    const batches = codec.type === "answer" ? codec.batches : undefined;
    const calls = batches?.split(call, target);
    if (batches !== undefined && calls !== undefined && calls.length > 1) {
      const send = (one: Call, part: Exchange): Promise<Reply> =>
        this.send(target, one, part, onSent, spanId, onQueued);
      return sendInBatches({ batches, calls, target, exchange, send });
    }
    const deadline = exchange.readAt + exchange.model.deadline;
    const context = { target, call, codec, exchange, deadline, onSent, onQueued, spanId };
    if (upstream.retries.attempts <= 1) return new Sending(this.#options, context).run();
    const schedule = (at: number, callback: () => void): (() => void) => sweeper.schedule(at, callback);
    const signal = exchange.cancellation ?? exchange.signal;
    return withRetries({ settings: upstream.retries, deadline, signal, now, random, schedule }, () =>
      new Sending(this.#options, context).run(),
    );
  }
}

function unsupportedReference(reference: Reference): AttemptError {
  const cause = referenceRefusal(reference);
  return new AttemptError("unsupported", cause.message.replace(/^Invalid request: /, ""), { cause });
}

export function dialectNotSpoken(dialect: string, what = ""): AttemptError {
  return new AttemptError("protocol", `this gateway does not speak the dialect "${dialect}" ${what}`.trimEnd());
}

/** Failures that may not happen again with the same request. */
const RETRYABLE: ReadonlySet<FailureClass> = new Set(["connect", "reset", "status", "timeout", "rate_limited"]);

interface RetryOptions {
  readonly settings: RetrySettings;
  /** Unix milliseconds after which no request may begin. */
  readonly deadline: number;
  readonly signal: Cancellation;
  readonly now: () => number;
  readonly random: () => number;
  readonly schedule: (at: number, callback: () => void) => () => void;
}

/**
 * Runs `attempt` up to `settings.attempts` times with growing pauses. A pause that the upstream asked for is kept
 * exactly; one longer than `maxDelay` ends the retries.
 * @throws what the last run threw; AttemptError "aborted" as soon as the signal aborts during a pause.
 */
function withRetries<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  const { attempts } = options.settings;
  return pRetry(attempt, {
    retries: attempts - 1,
    // p-retry knows neither Retry-After nor our clock: the pause is made in its decision whether to go on.
    minTimeout: 0,
    shouldRetry: async ({ error, retriesConsumed }) => {
      if (!(error instanceof AttemptError) || !RETRYABLE.has(error.failure)) return false;
      const pause = error.retryAfter ?? backOff(options, retriesConsumed);
      const at = options.now() + pause;
      if (pause > options.settings.maxDelay || at >= options.deadline) return false;
      await sleep(at, options);
      return true;
    },
  });
}

function backOff({ settings: { minDelay, maxDelay }, random }: RetryOptions, retries: number): number {
  const upper = Math.min(maxDelay, minDelay * 2 ** (retries + 1));
  const lower = Math.min(minDelay, upper);
  return lower + random() * (upper - lower);
}

function sleep(until: number, { signal, schedule }: RetryOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(new AttemptError("aborted", "the request was given up"));
    };
    const cancel = schedule(until, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  });
}

/** Requests of one call under way at a time. */
const MAX_CONCURRENT_BATCHES = 4;

interface BatchOptions {
  readonly batches: Batches;
  readonly calls: readonly Call[];
  readonly target: Target;
  readonly exchange: Exchange;
  readonly send: (call: Call, exchange: Exchange) => Promise<Reply>;
}

/** Sends one call as several requests; the first failure aborts the others. @throws AttemptError */
async function sendInBatches({ batches, calls, target, exchange, send }: BatchOptions): Promise<AnswerReply> {
  const failed = new AbortController();
  const { call, tags } = exchange;
  const part: Exchange = {
    ...exchange,
    call,
    ...(tags && { tags }),
    signal: AbortSignal.any([exchange.signal, failed.signal]),
  };
  const replies: AnswerReply[] = Array.from({ length: calls.length });
  // One iterator for all workers: each takes the next call.
  const waiting = calls.entries();
  const work = async (): Promise<void> => {
    for (const [index, call] of waiting) {
      const reply = await send(call, part);
      if (reply.type !== "answer") throw new TypeError("a batch was answered with a stream");
      replies[index] = reply;
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_CONCURRENT_BATCHES }, work));
  } catch (error) {
    failed.abort();
    throw error;
  }
  const dropped = [...new Set(replies.flatMap((reply) => reply.dropped ?? []))];
  return { type: "answer", target, ...batches.join(replies), ...(dropped.length > 0 && { dropped }) };
}
