import { changesMeaning, withinMaxOutput } from "../../dialects/canonical/report.ts";
import { thinkingOf } from "../../dialects/thinking.ts";
import type { AnswerForm, Codec, UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import {
  AttemptError,
  type Awaitable,
  type Call,
  type Cancellation,
  type Exchange,
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
import type { LastErrors } from "../state/last-errors.ts";
import type { Slots } from "../state/slots.ts";
import type { Head } from "./classify.ts";
import type { Sweeper } from "./deadlines.ts";
import type { RequestPool } from "./pools.ts";
import { waitForSlot } from "./queueing.ts";
import { readAnswer, type RequestSender } from "./readers.ts";
import type { Answer, Reader, ReaderOwner } from "./relay.ts";
import { listed, noteFailure, told, warn } from "./reporting.ts";
import { type RequestHandlerOptions, RequestHandler } from "./request-handler.ts";
import {
  type Address,
  addressRequest,
  forwardedHeaders,
  isUnwritten,
  sendableBody,
  withParameters,
  writtenBody,
} from "./request.ts";

/** What the calls to one upstream under one configuration have in common. */
export interface SendingParts {
  readonly upstream: Upstream;
  readonly dialect: UpstreamDialect;
  readonly pool: RequestPool;
  readonly address: Address;
  readonly keys: KeyPool;
  readonly signer: Signer;
  readonly slots: Slots;
  /** Whether new attempts keep away from the upstream. */
  readonly isLeftAlone: (model: string) => boolean;
  readonly health: Health;
  readonly errors: LastErrors;
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
  /** Told how many milliseconds it waited for a slot, each time it did. */
  readonly onQueued: ((waited: number) => void) | undefined;
  /** null where nobody records spans. */
  readonly spanId: string | null;
}

const NO_KEYS: readonly PooledKey[] = [];
const NONE_REFUSED: readonly RefusedKey[] = [];
const NOTHING: readonly string[] = [];

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
  readonly #onQueued: ((waited: number) => void) | undefined;
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
  /** A slot of the upstream that no handler has taken over. */
  #holdsSlot = false;
  /** The fields that the dialect could not express. */
  #dropped = NOTHING;
  #form: AnswerForm | undefined = undefined;

  constructor(
    parts: SendingParts,
    { target, call, codec, exchange, deadline, onSent, onQueued, spanId }: SendingContext,
  ) {
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
    this.#onQueued = onQueued;
    this.#call = call;
  }

  /** @throws AttemptError; what the call's upload threw */
  run(): Promise<Reply> {
    const { promise } = this.#result!;
    this.#begin();
    return promise;
  }

  #begin(): void {
    const { slots, isLeftAlone } = this.#parts;
    if (slots.takeNow()) return this.#granted();
    const { userId } = this.#exchange.principal;
    const { signal, deadline, sweeper, now } = this;
    const granted = (): void => {
      if (!isLeftAlone(this.#target.model)) return this.#granted();
      // The breaker has opened meanwhile: the next target is not kept waiting for this one.
      slots.release(0);
      this.#settle()?.reject(new AttemptError("skipped", "skipped"));
    };
    const failed = (error: AttemptError): void => this.#settle()?.reject(error);
    waitForSlot({ slots, userId, signal, deadline, sweeper, now, onQueued: this.#onQueued }, granted, failed);
  }

  #granted(): void {
    this.#holdsSlot = true;
    this.#tryKey();
  }

  #tryKey(): void {
    const { keys, upstream } = this.#parts;
    const at = this.now();
    try {
      const key = keys.pick(this.#target.model, this.#tried, at, upstream.retries.maxDelay);
      if (key === null) throw this.#failure ?? new AttemptError("credentials", "upstream has no key to try");
      this.#key = key;
    } catch (error) {
      this.#releaseUnused();
      return this.#fail(error);
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
    const handler = new RequestHandler(this, this.#startedAt);
    this.#handler = handler;
    this.#holdsSlot = false;
    try {
      handler.run(this.#parts.pool, request);
    } catch (error) {
      handler.cancel();
      throw error;
    }
  }

  onOver(elapsed: number): void {
    this.#parts.slots.release(elapsed);
  }

  #releaseUnused(): void {
    if (!this.#holdsSlot) return;
    this.#holdsSlot = false;
    this.#parts.slots.release(0);
  }

  read(head: Head, owner: ReaderOwner<Answer>): Reader | null {
    const { dialect, log } = this.#parts;
    const call = this.#call;
    if (call === null) return null;
    const refusesFiltered = this.#target.failOverOn?.includes("content_filter") ?? false;
    const { now } = this;
    const form = this.#form;
    const context = { dialect, codec: this.#codec, form, call, refusesFiltered, sender: this, now, log };
    return readAnswer(context, head, owner);
  }

  rewritten(): UpstreamRequest {
    const target = this.#target;
    const written = write(this.#codec, this.#call!, target, this.#key!.value);
    return target.parameters ? withParameters(written, target.parameters) : written;
  }

  resolve(answer: Answer): void {
    const { dialect, latencies, health, keys, errors } = this.#parts;
    const target = this.#target;
    const at = this.now();
    const firstByte = this.#handler?.firstByte ?? null;
    if (firstByte !== null) latencies.record(target, firstByte, at);
    health.served(firstByte, at, target.model);
    keys.served(this.#key!, target.model, this.#refused, at);
    errors.served(this.#key!.value, target.model, at);
    const thinking = thinkingOf(dialect, this.#call!, target.model, this.#exchange.model.features);
    this.#call = null;
    const dropped = this.#dropped;
    const more = { ...(dropped.length > 0 && { dropped }), ...(thinking && { thinking }) };
    this.#settle()?.resolve({ ...answer, target, ...more });
  }

  reject(error: unknown): void {
    this.#releaseUnused();
    if (!(error instanceof AttemptError)) return this.#settle()?.reject(error);
    const { keys, errors, upstream, address, latencies, log } = this.#parts;
    const target = this.#target;
    const key = this.#key!;
    const at = this.now();
    const exchange = this.#exchange;
    const failed = { upstream, target, exchange, log };
    const shown = told(error, upstream, address, key.value);
    if (this.#startedAt !== null) noteFailure(shown, failed, latencies, at - this.#startedAt);
    this.#tried = [...this.#tried, key];
    const { another, suspected } = keys.failed(key, target.model, shown, exchange.principal.userId, at);
    if (suspected) this.#refused = [...this.#refused, { key, error: shown }];
    const known = suspected ? shown.as({ notUpstreamFault: true }) : shown;
    errors.failed(key.value, target.model, known, exchange.requestId, at);
    warn(known, failed, key);
    if (!another) return this.#fail(known);
    this.#failure = soonestRetry(this.#failure, known);
    // undici may be in the middle of the answer that told so.
    queueMicrotask(() => this.#begin());
  }

  /** The request failed, whatever its keys met before: one of them may still have served. */
  #fail(error: unknown): void {
    if (error instanceof AttemptError) this.#parts.health.failed(error, this.#target.model);
    this.#settle()?.reject(error);
  }

  #settle(): PromiseWithResolvers<Reply> | null {
    const result = this.#result;
    this.#result = null;
    return result;
  }

  onCut(error: AttemptError): AttemptError {
    const { health, errors, upstream, address } = this.#parts;
    const { model } = this.#target;
    const { value } = this.#key!;
    const shown = told(error, upstream, address, value);
    health.failed(shown, model);
    errors.failed(value, model, shown, this.#exchange.requestId, this.now());
    return shown;
  }

  /**
   * @throws AttemptError "unsupported" when the dialect cannot express the call, or a strict model's call would lose a
   * field that changes its meaning.
   */
  #request(key: string, at: number): Awaitable<UpstreamRequest> {
    const target = this.#target;
    const written = write(this.#codec, this.#call!, target, key);
    const { dropped = NOTHING, form } = written;
    const lost = this.#exchange.model.strict ? dropped.filter(changesMeaning) : NOTHING;
    if (lost.length > 0) throw new AttemptError("unsupported", `${listed(lost)} cannot be expressed for this model`);
    this.#dropped = dropped;
    this.#form = form;
    const asked = target.parameters ? withParameters(written, target.parameters) : written;
    const { body } = asked;
    if (!isUnwritten(body)) return this.#signed(asked, key, at);
    return writtenBody(body).then((whole) => this.#signed({ ...asked, body: whole }, key, this.now()));
  }

  #signed(asked: UpstreamRequest, apiKey: string, at: number): Awaitable<UpstreamRequest> {
    const { dialect, address, signer } = this.#parts;
    const { requestId, trace, header } = this.#exchange;
    const forwarded = header && address.forward.length > 0 ? forwardedHeaders(address.forward, header) : undefined;
    const traced = trace && traceHeaders(trace, this.#spanId);
    const request = addressRequest(asked, address, requestId, traced, forwarded);
    if (dialect.signing === undefined) return this.#sendable(request);
    const { host, proxyTo } = address;
    const timeout = Math.min(this.timeouts.connect, this.deadline - at);
    const signing = signer.sign({ dialect, request, host, apiKey, now: at, signal: this.signal, timeout, proxyTo });
    return isPromise(signing) ? signing.then((signed) => this.#sendable(signed)) : this.#sendable(signing);
  }

  #sendable(request: UpstreamRequest): UpstreamRequest {
    const body = sendableBody(request.body, this.#parts.upstream.http2);
    return body === request.body ? request : { ...request, body };
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

/** Of the failures of several keys the one that ends soonest. */
function soonestRetry(a: AttemptError | null, b: AttemptError): AttemptError {
  if (a === null || a.failure !== "rate_limited") return b;
  return b.failure === "rate_limited" && (b.retryAfter ?? 0) < (a.retryAfter ?? 0) ? b : a;
}
