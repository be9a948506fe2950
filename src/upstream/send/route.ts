import type { Pool } from "undici";
import type { AnswerForm, Codec, UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import {
  AttemptError,
  type Awaitable,
  type Call,
  type Exchange,
  type FailureClass,
  GatewayError,
  isPromise,
  type Log,
  type Reply,
  type Target,
  traceHeaders,
  type Upstream,
} from "../../kit/index.ts";
import type { Signer } from "../signing/signer.ts";
import type { Latencies } from "../state/balance.ts";
import type { Health } from "../state/health.ts";
import type { KeyPool, PooledKey } from "../state/key-pool.ts";
import type { Sweeper } from "./deadlines.ts";
import type { Answer } from "./relay.ts";
import { readAnswer, type ReadContext } from "./readers.ts";
import { RequestHandler, type RequestHandlerOptions } from "./request-handler.ts";
import { type Address, addressRequest, isUnwritten, sendableBody, withParameters, writtenBody } from "./request.ts";
import { sendInBatches, withRetries } from "./retries-and-batches.ts";

export interface RouteOptions {
  readonly upstream: Upstream;
  readonly dialect: UpstreamDialect;
  readonly pool: Pool;
  readonly address: Address;
  readonly keys: KeyPool;
  readonly signer: Signer;
  readonly health: Health;
  readonly latencies: Latencies;
  readonly sweeper: Sweeper;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
}

const NO_KEYS: readonly PooledKey[] = [];
const NOTHING: readonly string[] = [];

/** The log line for a failure that the operator can fix; empty: the failure's own message. */
const WARNINGS: Readonly<Partial<Record<FailureClass, string>>> = {
  credentials: "",
  quota: "the account behind an upstream's key has nothing left; the key rests",
  declined: "",
  parameter: "upstream refused a field or value that the gateway sent: a gap in the table of what it accepts",
};

/** One call to one target. */
interface AttemptContext {
  readonly target: Target;
  readonly call: Call;
  readonly codec: Codec;
  readonly exchange: Exchange;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly onSent: (() => void) | undefined;
  /** null where nobody records spans. */
  readonly spanId: string | null;
}

/** A call as it is sent, with the fields that the dialect could not express. */
interface PreparedRequest {
  readonly request: UpstreamRequest;
  readonly dropped: readonly string[];
  readonly form: AnswerForm | undefined;
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
  ): Promise<Reply> {
    const { upstream, dialect, now, random, sweeper } = this.#options;
    const codec = dialect.codecs[call.kind];
    if (!codec) return Promise.reject(dialectNotSpoken(dialect.name, `for ${call.kind} models`));
    if (call.stream && (codec.type === "bytes" || codec.decoder === null)) {
      return Promise.reject(dialectNotSpoken(dialect.name, `for streams of ${call.kind} models`));
    }
    const batches = codec.type === "answer" ? codec.batches : undefined;
    const calls = batches?.split(call, target);
    if (batches !== undefined && calls !== undefined && calls.length > 1) {
      const send = (one: Call, part: Exchange): Promise<Reply> => this.send(target, one, part, onSent, spanId);
      return sendInBatches({ batches, calls, target, exchange, send });
    }
    const deadline = exchange.readAt + exchange.model.deadline;
    const context = { target, call, codec, exchange, deadline, onSent, spanId };
    if (upstream.retries.attempts <= 1) return this.#sendWithKeys(context);
    const schedule = (at: number, callback: () => void): (() => void) => sweeper.schedule(at, callback);
    return withRetries({ settings: upstream.retries, deadline, signal: exchange.signal, now, random, schedule }, () =>
      this.#sendWithKeys(context),
    );
  }

  /**
   * One request, and another with the next key at once while the failure is the key's. All in one function: each function
   * that waits is a frame more for every request.
   */
  async #sendWithKeys(context: AttemptContext): Promise<Reply> {
    const { upstream, pool, keys, health, latencies, now } = this.#options;
    const { target, exchange } = context;
    let tried: readonly PooledKey[] = NO_KEYS;
    let refused: readonly PooledKey[] = NO_KEYS;
    let failure: AttemptError | null = null;
    for (;;) {
      const key = keys.pick(tried, now(), upstream.retries.maxDelay);
      if (key === null) throw failure ?? new AttemptError("credentials", "upstream has no key to try");
      /** When it was sent; null before. */
      let startedAt: number | null = null;
      try {
        const preparing = this.#request(context, key.value);
        const { request, dropped, form } = isPromise(preparing) ? await preparing : preparing;
        startedAt = now();
        const attempt = this.#attempt(context, form);
        const answer = await attempt.run(pool, request);
        const { firstByte } = attempt;
        if (firstByte !== null) latencies.record(target, firstByte);
        health.served(firstByte);
        keys.served(key, refused, now());
        return dropped.length > 0 ? { ...answer, target, dropped } : { ...answer, target };
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        if (startedAt !== null) this.#failed(context, error, now() - startedAt);
        const shown = startedAt === null ? error : withoutKey(error, key.value);
        tried = [...tried, key];
        const { another, suspected } = keys.failed(key, shown, exchange.principal.userId, now());
        if (suspected) refused = [...refused, key];
        const known = suspected ? shown.as({ notUpstreamFault: true }) : shown;
        health.failed(known);
        this.#warn(context, key, known);
        if (!another) throw known;
        failure = soonestRetry(failure, known);
      }
    }
  }

  #attempt(
    { target, call, codec, exchange, deadline, onSent }: AttemptContext,
    form: AnswerForm | undefined,
  ): RequestHandler<Answer> {
    const { dialect, sweeper, now, log } = this.#options;
    return new RequestHandler<Answer>({
      read: readOnce({ dialect, codec, form, call, now, log }),
      onCut: this.#onCut,
      timeouts: target.timeouts,
      // A body that is relayed as it comes is a stream, too.
      stream: call.stream || codec.type === "bytes",
      deadline,
      signal: exchange.signal,
      onSent,
      sweeper,
      now,
    });
  }

  readonly #onCut = (error: AttemptError): void => this.#options.health.failed(error);

  /**
   * @throws AttemptError "unsupported" when the dialect cannot express the call, or a strict model's call would lose a
   * field.
   */
  #request(context: AttemptContext, key: string): Awaitable<PreparedRequest> {
    const { codec, call, target, exchange } = context;
    const written = write(codec, call, target, key);
    const { dropped = NOTHING, form } = written;
    if (exchange.model.strict && dropped.length > 0) {
      throw new AttemptError("unsupported", `${listed(dropped)} cannot be expressed for this model`);
    }
    const asked = target.parameters ? withParameters(written, target.parameters) : written;
    const prepared = (request: UpstreamRequest): PreparedRequest => ({ request, dropped, form });
    const { body } = asked;
    const signing = isUnwritten(body)
      ? writtenBody(body).then((whole) => this.#signed({ ...asked, body: whole }, context, key))
      : this.#signed(asked, context, key);
    return isPromise(signing) ? signing.then(prepared) : prepared(signing);
  }

  #signed(
    asked: UpstreamRequest,
    { target, exchange, deadline, spanId }: AttemptContext,
    apiKey: string,
  ): Awaitable<UpstreamRequest> {
    const { dialect, address, signer, now } = this.#options;
    const { requestId, signal } = exchange;
    const trace = exchange.trace && traceHeaders(exchange.trace, spanId);
    const request = addressRequest(asked, address, requestId, trace);
    const at = now();
    const timeout = Math.min(target.timeouts.connect, deadline - at);
    const signing = signer.sign({ dialect, request, host: address.host, apiKey, now: at, signal, timeout });
    return isPromise(signing) ? signing.then((signed) => this.#sendable(signed)) : this.#sendable(signing);
  }

  #sendable(request: UpstreamRequest): UpstreamRequest {
    const body = sendableBody(request.body, this.#options.upstream.http2);
    return body === request.body ? request : { ...request, body };
  }

  #failed({ target, exchange }: AttemptContext, error: AttemptError, elapsed: number): void {
    const { upstream, latencies, log } = this.#options;
    const { failure, status, cause } = error;
    // Without this an upstream that only times out would have no latency, and those without are tried first. A timeout
    // by the request's own deadline says nothing about the upstream.
    const ownTimeout = Math.min(target.timeouts.connect, target.timeouts.firstByte);
    if (failure === "timeout" && elapsed >= ownTimeout)
      latencies.record(target, Math.max(elapsed, latencies.of(target)));
    // The code alone: undici's errors carry addresses and bytes of the answer.
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const fields = { upstream: upstream.name, model: target.model, requestId: exchange.requestId };
    log.debug({ ...fields, failure, status, code }, "an attempt failed");
  }

  /**
   * Warns of what an operator can fix. Of the upstream's own text only identifiers: the rest may quote what a client
   * sent.
   */
  #warn(
    { target, exchange }: AttemptContext,
    key: PooledKey,
    { failure, status, reason, message }: AttemptError,
  ): void {
    const notice = WARNINGS[failure];
    if (notice === undefined) return;
    const fields = {
      upstream: this.#options.upstream.name,
      model: target.model,
      requestId: exchange.requestId,
      status,
    };
    const ofKey = failure === "credentials" || failure === "quota" ? { key: key.position } : {};
    this.#options.log.warn({ ...fields, ...ofKey, ...(reason && { reason }) }, notice || message);
  }
}

/**
 * Reads one answer and forgets the call: a request lives as long as its stream does. A function of its own, because all
 * closures of one function keep what any of them uses.
 */
function readOnce(context: ReadContext): RequestHandlerOptions<Answer>["read"] {
  let left: ReadContext | null = context;
  return (head, owner) => {
    const asked = left;
    left = null;
    return asked && readAnswer(asked, head, owner);
  };
}

/** Another dialect of the chain may express what this one cannot: only when none can is it the client's fault. */
function write(codec: Codec, call: Call, target: Target, key: string): UpstreamRequest {
  try {
    return codec.request(call, target, key);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST") throw error;
    throw new AttemptError("unsupported", error.message.replace(/^Invalid request: /, ""), { cause: error });
  }
}

/** Pointers that a refusal names: of a hundred thousand the rest says nothing new. */
const MAX_LISTED_COUNT = 20;

function listed(dropped: readonly string[]): string {
  const more = dropped.length > MAX_LISTED_COUNT ? ` and ${dropped.length - MAX_LISTED_COUNT} more` : "";
  return dropped.slice(0, MAX_LISTED_COUNT).join(", ") + more;
}

export function dialectNotSpoken(dialect: string, what = ""): AttemptError {
  return new AttemptError("protocol", `this gateway does not speak the dialect "${dialect}" ${what}`.trimEnd());
}

/** Providers quote the key they refuse. */
function withoutKey(error: AttemptError, key: string): AttemptError {
  if (key === "" || !error.message.includes(key)) return error;
  // The error has the same fields as the options it was made of.
  return new AttemptError(error.failure, error.message.replaceAll(key, "[redacted]"), error);
}

/** Of the failures of several keys the one that ends soonest. */
function soonestRetry(a: AttemptError | null, b: AttemptError): AttemptError {
  if (a === null || a.failure !== "rate_limited") return b;
  return b.failure === "rate_limited" && (b.retryAfter ?? 0) < (a.retryAfter ?? 0) ? b : a;
}
