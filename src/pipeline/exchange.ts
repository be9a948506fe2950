import {
  type Admitted,
  type AnswerFormat,
  type AttemptSpan,
  type Bill,
  type Call,
  type Cancellation,
  type Ending,
  type Exchange,
  type GatewayError,
  type Host,
  type InferenceRequest,
  type OutcomeKind,
  type OwnReply,
  type Outcome,
  type PluginHeaders,
  type Principal,
  type Reply,
  type Settle,
  type StreamFormat,
  type Tag,
  type Target,
  type Windows,
} from "../kit/index.ts";
import { checkedHeaders, marked, spanOf } from "./hooks.ts";
import { droppedHeader, queuedHeader, serverTimingHeader, standingHeaders } from "./answer-headers.ts";
import { BegunCall, FrozenExchange } from "./frozen.ts";
import { PackedText } from "./texts.ts";
import { hiddenThoughts } from "./thoughts.ts";
import { UsageMeter } from "./usage.ts";

const NO_HEADERS: PluginHeaders = Object.freeze({});
const NOTHING: readonly string[] = [];

/**
 * The state of one request in the pipeline. Of the request itself it holds everything until an answer streams, and from
 * then on only what the end of the stream needs: code that keeps the call elsewhere, in a closure or a local that
 * outlives the beginning of the stream, keeps a parsed body in memory for as long as the stream runs.
 */
export class ExchangeState {
  readonly request: InferenceRequest;
  /** What plugins see. */
  readonly exchange: Exchange;
  readonly meter: UsageMeter;
  /** How the events of a stream are written; null where the endpoint has none. */
  readonly #stream: StreamFormat | null;
  settlers: readonly Settle<Outcome>[] = [];
  /** What others may use as soon as the client has left; null: nothing, or it is free already. */
  release: NonNullable<Admitted["release"]> | null = null;
  /** null: none. */
  tags: readonly Tag[] | null = null;
  /** Of plugins. */
  #headers: PluginHeaders = NO_HEADERS;
  /** The caller's counters, for the headers of the answer. */
  windows: Windows | null = null;
  target: Target | null = null;
  /** The plugin that answers in an upstream's stead. */
  answeredBy: string | null = null;
  /** What the upstream's dialect could not express, as JSON pointers into the body. */
  dropped = NOTHING;
  /** Made with the call that is sent; null before. */
  attempts: AttemptCounts | null = null;
  /** Unix milliseconds; null before an upstream has answered. */
  firstEventAt: number | null = null;
  /** The same from the request's arrival. */
  #firstEvent: number | null = null;
  /** The head of a streamed answer has been sent. */
  started = false;
  /** The client has got something of an answer. */
  written = false;
  /** Set once it has been priced. */
  bill: Bill | null = null;
  /** Set once it is settled. */
  outcome: Outcome | null = null;
  readonly #host: Host;
  readonly #asked: string;
  #call: Call;
  #format: AnswerFormat | null;
  #prompt: PackedText | null = null;
  #streamBytes = 0;

  /** @throws GatewayError for a model that there is not, or that cannot do what is asked. */
  constructor(request: InferenceRequest, principal: Principal, host: Host) {
    const { body } = request;
    if (body === null) throw new TypeError("a request without a body cannot be run");
    this.request = request;
    this.#host = host;
    this.#call = body.call;
    this.#asked = body.call.asked ?? body.call.model;
    this.#format = body.format;
    this.#stream = body.format.stream;
    this.meter = new UsageMeter(host.countTokens);
    const tags = principal.keyLimits?.tags;
    if (tags !== undefined) this.tags = marked(null, [], tags);
    this.exchange = new FrozenExchange(this, principal, host);
  }

  get call(): Call {
    return this.#call;
  }

  /** Of its client: aborted when nobody waits any more. */
  get cancellation(): Cancellation {
    const { client } = this.request;
    return client.cancellation ?? client.signal;
  }

  /** How a whole answer is written. @throws TypeError once an answer streams. */
  get format(): AnswerFormat {
    if (this.#format === null) throw new TypeError("the request of a begun stream is gone");
    return this.#format;
  }

  /** @throws TypeError for an endpoint without streams of events. */
  get streamFormat(): StreamFormat {
    if (this.#stream === null) throw new TypeError(`${this.exchange.endpoint} has no streams of events`);
    return this.#stream;
  }

  /** Milliseconds from the request's arrival. */
  elapsed(): number {
    return elapsedOf(this.request, this.#host);
  }

  tried(target: Target): void {
    this.request.tried?.(target);
  }

  /** An upstream's answer, or the beginning of its stream, was taken. */
  taken(reply: Reply | OwnReply): void {
    if ("target" in reply) {
      this.target = reply.target;
      this.meter.thinking = reply.thinking ?? null;
    } else this.meter.declare(reply.usage);
    this.dropped = reply.dropped ?? NOTHING;
    this.firstEventAt = this.#host.now();
    this.#firstEvent = this.elapsed();
  }

  /** Drops the call: no upstream will be asked any more. Resolves when what stays of it is compressed. */
  begin(): Promise<void> {
    const prompt = this.#promptText();
    this.#streamBytes = this.#stream?.keptBytes?.() ?? 0;
    this.#format = null;
    this.#call = new BegunCall(this.#call);
    this.request.keep(this.bytes);
    return prompt.pack().then(() => this.request.keep(this.bytes));
  }

  /** Bytes that are still held of a begun stream's request; what its call has beside a body is not counted. */
  get bytes(): number {
    return (this.#prompt?.bytes ?? 0) + this.#streamBytes;
  }

  #promptText(): PackedText {
    return (this.#prompt ??= PackedText.ofPrompt(this, this.#host.snapshot));
  }

  /** @throws TypeError for marks that no plugin may make. */
  mark(tags: readonly Tag[]): void {
    this.tags = marked(this.tags, tags, this.exchange.principal.keyLimits?.tags);
  }

  /** @throws TypeError for what no plugin may add. */
  addHeaders(headers: PluginHeaders): void {
    this.#headers = { ...this.#headers, ...checkedHeaders(headers) };
  }

  /** Who a client is told to have answered. */
  get provider(): string {
    if (this.answeredBy !== null) return this.answeredBy;
    const { upstream } = this.target!;
    return this.#host.snapshot.upstreams[upstream]?.displayName ?? upstream;
  }

  /** Sends the head of a streamed answer, once. */
  start(contentType: string): void {
    if (this.started) return;
    this.started = true;
    this.request.client.startStream(contentType, this.headers());
    // Of use for a head alone, and a stream may live for minutes.
    this.windows = null;
    this.#headers = NO_HEADERS;
  }

  headers(): Record<string, string> {
    const headers = { ...this.#headers, ...standingHeaders(this.#host, this.#asked, this.windows) };
    if (this.answeredBy !== null) headers["X-Gateway-Answered-By"] = this.answeredBy;
    if (this.dropped.length > 0) Object.assign(headers, droppedHeader(this.dropped));
    Object.assign(headers, queuedHeader(this.attempts?.queued ?? null));
    if (!this.request.serverTiming) return headers;
    return Object.assign(headers, serverTimingHeader(this.request, this.elapsed(), this.attempts?.spans));
  }

  ending(kind: OutcomeKind, status: number, failure: GatewayError | null): Ending {
    const { usage, usageComplete, finished } = this.meter;
    const { attempts } = this;
    return {
      kind,
      sent: attempts?.sent ?? false,
      begun: this.firstEventAt !== null,
      ...(this.answeredBy !== null && { answeredBy: this.answeredBy }),
      finished,
      status,
      code: failure?.code ?? null,
      usage,
      usageComplete,
      target: this.target,
      dropped: this.dropped,
      attempts: attempts?.count ?? 0,
      firstEventAt: this.firstEventAt,
      endedAt: this.#host.now(),
      timeline: {
        waited: this.request.waited ?? 0,
        firstEvent: this.#firstEvent,
        end: this.elapsed(),
        attempts: (attempts?.spans ?? []).map(spanOf),
      },
      estimate: () => this.meter.estimate(() => this.#promptText(), this.#call.units, this.#hidden(kind)),
    };
  }

  /** Of a stream that its client has left: of one that its upstream cut nobody gains. */
  #hidden(kind: OutcomeKind): number {
    const { thinking, hidesThoughts } = this.meter;
    const isLeft = kind === "client_gone" || kind === "killed";
    if (!isLeft || thinking === null || !hidesThoughts || this.firstEventAt === null) return 0;
    const known = this.#host.thoughts?.expected(this.exchange.model.id, thinking.effort) ?? null;
    return hiddenThoughts(this.#call, this.#host.snapshot.billing, known);
  }

  /** Of an answer that was counted: what others of its model that are left will be taken to have thought. */
  async noteThoughts(): Promise<void> {
    const { thinking, finished } = this.meter;
    const { thoughts } = this.#host;
    if (thinking === null || thoughts === undefined || (this.#call.stream && !finished)) return;
    const tokens = await this.meter.silentThoughts();
    if (tokens !== null) thoughts.note(this.exchange.model.id, thinking.effort, tokens);
  }
}

/** Milliseconds from a request's arrival. */
export function elapsedOf(request: InferenceRequest, { now, elapsed = now }: Pick<Host, "now" | "elapsed">): number {
  return elapsed() - (request.arrivedAt ?? request.receivedAt);
}

interface AttemptCounts {
  readonly sent: boolean;
  readonly count: number;
  readonly spans: readonly AttemptSpan[];
  /** Milliseconds; null: in no queue. */
  readonly queued: number | null;
}
