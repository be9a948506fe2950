import type { Pool } from "undici";
import { withinMaxOutput } from "../../dialects/canonical/report.ts";
import type { AnswerForm, Codec, UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import {
  AttemptError,
  type Awaitable,
  type Call,
  type Cancellation,
  type Exchange,
  type FailureClass,
  GatewayError,
  isPromise,
  type Log,
  type Reply,
  type Target,
  type Timeouts,
  traceHeaders,
  type Upstream,
} from "../../kit/index.ts";
import type { Signer } from "../signing/signer.ts";
import type { Latencies } from "../state/balance.ts";
import type { Health } from "../state/health.ts";
import type { KeyPool, PooledKey, RefusedKey } from "../state/key-pool.ts";
import { type Head, withoutSecrets } from "./classify.ts";
import type { Sweeper } from "./deadlines.ts";
import { readAnswer, type RequestSender } from "./readers.ts";
import type { Answer, Reader, ReaderOwner } from "./relay.ts";
import { type RequestHandlerOptions, RequestHandler } from "./request-handler.ts";
import { type Address, addressRequest, isUnwritten, sendableBody, withParameters, writtenBody } from "./request.ts";

/** What the calls to one upstream under one configuration have in common. */
export interface SendingParts {
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
  readonly log: Log;
}

/** One call to one target. */
export interface SendingContext {
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

const NO_KEYS: readonly PooledKey[] = [];
const NONE_REFUSED: readonly RefusedKey[] = [];
const NOTHING: readonly string[] = [];

/** The log line for a failure that the operator can fix; empty: the failure's own message. */
const WARNINGS: Readonly<Partial<Record<FailureClass, string>>> = {
  credentials: "",
  quota: "the account behind an upstream's key has nothing left; the key rests",
  declined: "",
  parameter: "upstream refused a field or value that the gateway sent: a gap in the table of what it accepts",
};

/**
 * Sends one call to one target: one request, and another with the next key at once while the failure is the key's. An
 * object with one promise, which says for whom its requests are made: functions that wait, and options of their own for
 * each request, would be a third of what sending takes.
 */
export class Sending implements RequestHandlerOptions<Answer>, RequestSender {
  readonly timeouts: Timeouts;
  readonly signal: Cancellation;
  readonly stream: boolean;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly onSent: (() => void) | undefined;
  readonly sweeper: Sweeper;
  readonly now: () => number;
  readonly #parts: SendingParts;
  readonly #target: Target;
  readonly #codec: Codec;
  readonly #exchange: Exchange;
  readonly #spanId: string | null;
  /** null once it is settled. */
  #result: PromiseWithResolvers<Reply> | null = Promise.withResolvers<Reply>();
  /** null from the answer on: this object lives as long as its stream. */
  #call: Call | null;
  #key: PooledKey | null = null;
  #tried: readonly PooledKey[] = NO_KEYS;
  #refused: readonly RefusedKey[] = NONE_REFUSED;
  /** Of the keys that were tried. */
  #failure: AttemptError | null = null;
  /** When the request was sent; null before. */
  #startedAt: number | null = null;
  #handler: RequestHandler<Answer> | null = null;
  /** The fields that the dialect could not express. */
  #dropped = NOTHING;
  #form: AnswerForm | undefined = undefined;

  constructor(parts: SendingParts, { target, call, codec, exchange, deadline, onSent, spanId }: SendingContext) {
    this.timeouts = target.timeouts;
    this.signal = exchange.cancellation ?? exchange.signal;
    // A body that is relayed as it comes is a stream, too.
    this.stream = call.stream || codec.type === "bytes";
    this.deadline = deadline;
    this.onSent = onSent;
    this.sweeper = parts.sweeper;
    this.now = parts.now;
    this.#parts = parts;
    this.#target = target;
    this.#codec = codec;
    this.#exchange = exchange;
    this.#spanId = spanId;
    this.#call = call;
  }

  /** @throws AttemptError; what the call's upload threw */
  run(): Promise<Reply> {
    const { promise } = this.#result!;
    this.#tryKey();
    return promise;
  }

  #tryKey(): void {
    const { keys, upstream } = this.#parts;
    const at = this.now();
    try {
      const key = keys.pick(this.#target.model, this.#tried, at, upstream.retries.maxDelay);
      if (key === null) throw this.#failure ?? new AttemptError("credentials", "upstream has no key to try");
      this.#key = key;
    } catch (error) {
      return this.#settle()?.reject(error);
    }
    this.#startedAt = null;
    try {
      const preparing = this.#request(this.#key.value, at);
      if (!isPromise(preparing)) return this.#send(preparing);
      preparing.then((request) => this.#send(request)).catch((error: unknown) => this.reject(error));
    } catch (error) {
      this.reject(error);
    }
  }

  #send(request: UpstreamRequest): void {
    this.#startedAt = this.now();
    this.#handler = new RequestHandler(this, this.#startedAt);
    this.#handler.run(this.#parts.pool, request);
  }

  read(head: Head, owner: ReaderOwner<Answer>): Reader | null {
    const { dialect, log } = this.#parts;
    const call = this.#call;
    if (call === null) return null;
    const { now } = this;
    return readAnswer({ dialect, codec: this.#codec, form: this.#form, call, sender: this, now, log }, head, owner);
  }

  rewritten(): UpstreamRequest {
    const target = this.#target;
    const written = write(this.#codec, this.#call!, target, this.#key!.value);
    return target.parameters ? withParameters(written, target.parameters) : written;
  }

  resolve(answer: Answer): void {
    const { latencies, health, keys } = this.#parts;
    const target = this.#target;
    const at = this.now();
    const firstByte = this.#handler?.firstByte ?? null;
    if (firstByte !== null) latencies.record(target, firstByte, at);
    health.served(firstByte, at);
    keys.served(this.#key!, target.model, this.#refused, at);
    this.#call = null;
    const dropped = this.#dropped;
    this.#settle()?.resolve(dropped.length > 0 ? { ...answer, target, dropped } : { ...answer, target });
  }

  reject(error: unknown): void {
    if (!(error instanceof AttemptError)) return this.#settle()?.reject(error);
    const { keys, health } = this.#parts;
    const key = this.#key!;
    const at = this.now();
    if (this.#startedAt !== null) this.#noteFailure(error, at - this.#startedAt);
    const shown = this.#startedAt === null ? error : withoutSecrets(error, key.value, this.#parts.upstream);
    this.#tried = [...this.#tried, key];
    const { userId } = this.#exchange.principal;
    const { another, suspected } = keys.failed(key, this.#target.model, shown, userId, at);
    if (suspected) this.#refused = [...this.#refused, { key, error: shown }];
    const known = suspected ? shown.as({ notUpstreamFault: true }) : shown;
    health.failed(known);
    this.#warn(key, known);
    if (!another) return this.#settle()?.reject(known);
    this.#failure = soonestRetry(this.#failure, known);
    // undici may be in the middle of the answer that told so.
    queueMicrotask(() => this.#tryKey());
  }

  #settle(): PromiseWithResolvers<Reply> | null {
    const result = this.#result;
    this.#result = null;
    return result;
  }

  onCut(error: AttemptError): AttemptError {
    this.#parts.health.failed(error);
    return withoutSecrets(error, this.#key?.value ?? "", this.#parts.upstream);
  }

  /**
   * @throws AttemptError "unsupported" when the dialect cannot express the call, or a strict model's call would lose a
   * field.
   */
  #request(key: string, at: number): Awaitable<UpstreamRequest> {
    const target = this.#target;
    const written = write(this.#codec, this.#call!, target, key);
    const { dropped = NOTHING, form } = written;
    if (this.#exchange.model.strict && dropped.length > 0) {
      throw new AttemptError("unsupported", `${listed(dropped)} cannot be expressed for this model`);
    }
    this.#dropped = dropped;
    this.#form = form;
    const asked = target.parameters ? withParameters(written, target.parameters) : written;
    const { body } = asked;
    if (!isUnwritten(body)) return this.#signed(asked, key, at);
    return writtenBody(body).then((whole) => this.#signed({ ...asked, body: whole }, key, this.now()));
  }

  #signed(asked: UpstreamRequest, apiKey: string, at: number): Awaitable<UpstreamRequest> {
    const { dialect, address, signer } = this.#parts;
    const { requestId, trace } = this.#exchange;
    const request = addressRequest(asked, address, requestId, trace && traceHeaders(trace, this.#spanId));
    if (dialect.signing === undefined) return this.#sendable(request);
    const { host } = address;
    const timeout = Math.min(this.timeouts.connect, this.deadline - at);
    const signing = signer.sign({ dialect, request, host, apiKey, now: at, signal: this.signal, timeout });
    return isPromise(signing) ? signing.then((signed) => this.#sendable(signed)) : this.#sendable(signing);
  }

  #sendable(request: UpstreamRequest): UpstreamRequest {
    const body = sendableBody(request.body, this.#parts.upstream.http2);
    return body === request.body ? request : { ...request, body };
  }

  #noteFailure(error: AttemptError, elapsed: number): void {
    const { upstream, latencies, log } = this.#parts;
    const target = this.#target;
    const exchange = this.#exchange;
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
  #warn(key: PooledKey, { failure, status, reason, message }: AttemptError): void {
    const notice = WARNINGS[failure];
    if (notice === undefined) return;
    const { upstream, log } = this.#parts;
    const target = this.#target;
    const exchange = this.#exchange;
    const fields = { upstream: upstream.name, model: target.model, requestId: exchange.requestId, status };
    const ofKey = failure === "credentials" || failure === "quota" ? { key: key.position } : {};
    log.warn({ ...fields, ...ofKey, ...(reason && { reason }) }, notice || message);
  }
}

/** Another dialect of the chain may express what this one cannot: only when none can is it the client's fault. */
function write(codec: Codec, call: Call, target: Target, key: string): UpstreamRequest {
  try {
    const { call: bounded, dropped } = withinMaxOutput(call, target);
    const request = codec.request(bounded, target, key);
    return dropped.length === 0 ? request : { ...request, dropped: union(dropped, request.dropped ?? NOTHING) };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST") throw error;
    throw new AttemptError("unsupported", error.message.replace(/^Invalid request: /, ""), { cause: error });
  }
}

/** Both lists, each pointer once. */
function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}

/** Pointers that a refusal names: of a hundred thousand the rest says nothing new. */
const MAX_LISTED_COUNT = 20;

function listed(dropped: readonly string[]): string {
  const more = dropped.length > MAX_LISTED_COUNT ? ` and ${dropped.length - MAX_LISTED_COUNT} more` : "";
  return dropped.slice(0, MAX_LISTED_COUNT).join(", ") + more;
}

/** Of the failures of several keys the one that ends soonest. */
function soonestRetry(a: AttemptError | null, b: AttemptError): AttemptError {
  if (a === null || a.failure !== "rate_limited") return b;
  return b.failure === "rate_limited" && (b.retryAfter ?? 0) < (a.retryAfter ?? 0) ? b : a;
}
