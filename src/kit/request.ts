import type { AbortReason, Cancellation } from "./cancellation.ts";
import type { ErrorCode, GatewayError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Medium } from "./media.ts";
import type { Reference } from "./references.ts";
import type { StreamEvent } from "./reply.ts";
import type { Kind, Model, Target, Tier } from "./snapshot.ts";
import type { Units, Usage } from "./money.ts";
import type { Tag } from "./tags.ts";
import type { Timeline } from "./timeline.ts";
import type { RequestTrace } from "./trace.ts";

export type Awaitable<T> = T | Promise<T>;

/**
 * Whether what was asked for has to be waited for. Waiting for what is there already costs a promise and a turn of the queue
 * of promises; on the way of a request it is worth asking. Other libraries' promises count.
 */
export function isPromise<T>(asked: Awaitable<T>): asked is Promise<T> {
  if (asked instanceof Promise) return true;
  return typeof asked === "object" && asked !== null && "then" in asked && typeof asked.then === "function";
}

/** What a request brought to prove who it is. `X-API-Key` decides when both headers are present. */
export type Credentials =
  | { readonly kind: "none" }
  /** From `X-API-Key`, or a Bearer that starts with `rk_`. */
  | { readonly kind: "key"; readonly value: string }
  /** Any other Bearer. */
  | { readonly kind: "token"; readonly value: string };

export interface ClientRequest {
  readonly requestId: string;
  readonly credentials: Credentials;
  /** Client address, IPv4-mapped IPv6 already unmapped. */
  readonly ip: string;
  readonly endpoint: Endpoint;
  /** Left out: it is in no trace. */
  readonly trace?: RequestTrace;
  /** What the client sent under a name in lower case; left out: there is none to be had. */
  readonly header?: (name: string) => string | undefined;
}

export type Endpoint =
  | "chat"
  | "messages"
  | "responses"
  | "embeddings"
  | "rerank"
  | "speech"
  | "transcription"
  | "image";

/** Headers that plugins add to answers: names that begin with `X-`, values of up to 256 printable ASCII characters. */
export type PluginHeaders = Readonly<Record<string, string>>;

/** Who is calling; `tier` is the stored plan in force. */
export interface Principal {
  readonly userId: string;
  readonly tier: string;
  /** The key that was used; null with an access token. */
  readonly keyId: string | null;
  /** Of that key; absent: none. */
  readonly keyLimits?: KeyLimits;
  /** Raised by what makes this out of date: another tier, a revoked key. Absent where the store has no need of it. */
  readonly version?: number;
  /** The user's `sessions`, for access tokens. Absent: 0. */
  readonly sessions?: number;
}

/** A file that came with a request; may be read as often as there are attempts. */
export interface Upload {
  /** As the client named it: upstreams tell formats by it. */
  readonly name: string;
  readonly contentType: string;
  /** Bytes; never 0. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The format a chat request came in. */
export type ClientDialect = "chat" | "messages" | "responses";

/** What is known of a request until its end. Frozen. */
export interface CallFacts {
  readonly kind: Kind;
  /** The route identifier that the client sent. */
  readonly model: string;
  readonly stream: boolean;
  /** UTF-8 bytes of prompt text, and what its media count at four bytes a token, for the hold. */
  readonly promptBytes: number;
  /** Images, documents and recordings of the prompt. Left out: there are none, or an answer streams. */
  readonly media?: readonly Medium[];
  /** Output tokens the client allows at most; null when it did not say. */
  readonly maxOutput: number | null;
  /** Answers the client asks for (`n`), for a hold without `maxOutput`; left out: 1. */
  readonly answers?: number;
  /** Left out: none but tokens. */
  readonly units?: Units;
  /** The audio of a transcription; `body` holds the form's other fields. */
  readonly upload?: Upload;
  /** The model that the client named, if a successor serves it; else absent. */
  readonly asked?: string;
  /** Left out: `chat`. */
  readonly dialect?: ClientDialect;
  /** The client's headers for upstreams of the same dialect, such as `anthropic-beta`. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The text that a client sent for a body: UTF-8 and valid JSON, which every reader takes for what it was parsed to. */
export interface BodyText {
  /** What it was parsed to. */
  readonly body: Json;
  /** In their order. */
  readonly chunks: readonly Buffer[];
  /** Bytes. */
  readonly length: number;
  /** Where the text stands that is the outermost `model`, quotes included. */
  readonly modelAt: number;
  readonly modelEnd: number;
}

/**
 * A request in the canonical shape, unknown fields included: for every kind that of OpenAI's endpoint, for rerank that of
 * Cohere's (`query`, `documents`, `top_n`). Frozen.
 */
export interface Call extends CallFacts {
  readonly body: Json;
  /** Fields of the client's dialect without a canonical place, as they came: for upstreams of the same dialect. */
  readonly native?: Json;
  /** What the client names that only an upstream with permission is sent; left out: nothing of the kind. */
  readonly references?: readonly Reference[];
  /** What the client sent. Another body than it has makes it worthless. Left out: nobody kept it, or a plugin had the call. */
  readonly text?: BodyText;
}

/**
 * One admitted request on its way; complete and frozen from `admit` on. Once an answer streams, no upstream will be asked
 * any more and what the request said is let go of: `body` and `native` of its `call` throw from then on.
 */
export interface Exchange {
  /** The gateway's own id: what makes a charge unique. */
  readonly id: string;
  /** `X-Request-Id`: the client's, or made. Never a key of anything. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** Unix milliseconds at which the whole request was there: the model's deadline counts from here. */
  readonly readAt: number;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly tier: Tier;
  readonly model: Model;
  readonly call: Call;
  /** Aborted when nobody waits any more; `reason` is an AbortReason. */
  readonly signal: AbortSignal;
  /** The same for the gateway's own code, which asks for no signal to be made; left out: there is only that. */
  readonly cancellation?: Cancellation;
  /** Left out: it is in no trace. */
  readonly trace?: RequestTrace;
  /** A header of the request by any name; null without one, and for those that credentials come in. */
  readonly header?: (name: string) => string | null;
  /** What admit hooks have marked it with so far; left out: nothing. */
  readonly tags?: readonly Tag[];
}

/** An exchange of which only facts may be left. */
export interface BegunExchange extends Omit<Exchange, "call"> {
  readonly call: CallFacts;
}

export type OutcomeKind =
  | "served"
  /** By the gateway: before any upstream, or its answer by a plugin (`begun`). */
  | "refused"
  /** No upstream produced anything. */
  | "failed"
  /** The upstream refused the request as wrong. */
  | "client_fault"
  /** The upstream broke off. */
  | "upstream_cut"
  /** A plugin or the gateway itself failed after an upstream had served: free. */
  | "gateway_error"
  | AbortReason;

/** How an exchange ended, before it is priced. */
export interface Ending {
  readonly kind: OutcomeKind;
  /** Whether an upstream had been sent the request: it may bill it, answered or not. */
  readonly sent: boolean;
  /** Whether an upstream, or a plugin in its stead, had produced anything. */
  readonly begun: boolean;
  /** The plugin that answered in an upstream's stead: `usage` is what it wants charged. Left out: none did. */
  readonly answeredBy?: string;
  /** Whether a stream's finish reason was seen: its answer is whole, whatever ended the stream. */
  readonly finished: boolean;
  readonly status: number;
  readonly code: ErrorCode | null;
  /** The upstream's own count, as far as it gave one; null when it gave none. */
  readonly usage: Usage | null;
  /** Whether `usage` counts all that was produced; else its `completion` is the least it can be. False without `usage`. */
  readonly usageComplete: boolean;
  readonly target: Target | null;
  /** What the upstream that answered was not asked, as JSON pointers into the client's body. */
  readonly dropped: readonly string[];
  readonly attempts: number;
  /** Unix milliseconds; null when nothing came. */
  readonly firstEventAt: number | null;
  readonly endedAt: number;
  /** Left out where nobody measures. */
  readonly timeline?: Timeline;
  /**
   * What must have been used up to the end. What `usage` tells stays; tokens that it does not tell are counted by
   * tokenizer in the prompt and the produced text, units are those of the call. Thoughts that the model has not shown to a
   * client that left are what others of its requests have had.
   */
  estimate(): Promise<Usage>;
}

/** What the account stage makes of an ending. */
export interface Bill {
  readonly usage: Usage;
  readonly estimated: boolean;
  /** Nano-units. */
  readonly charge: bigint;
}

export interface Outcome extends Ending {
  readonly bill: Bill;
  /** Counters are returned, too, as if the request had never been; slot and hold always are. */
  readonly giveBack: boolean;
}

/** What stands in for what an upstream left out of its answer. */
export interface StandIn {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** What the gateway adds to a complete answer. */
export interface AnswerExtras extends StandIn {
  readonly provider: string;
  readonly latencyMs: number;
  /** Its usage is shown when the upstream gave none. */
  readonly bill: Bill;
}

/** How answers are written in the client's dialect; one instance a request. Its `stream` outlives it, and the request. */
export interface AnswerFormat {
  readonly contentType: string;
  answer(body: Json, extras: AnswerExtras): string;
  /** The request's prompt as text, for a tokenizer; empty where tokens mean nothing. */
  promptText(): string;
  /** What the model produced in a complete answer, for a tokenizer. */
  producedText(body: Json): string;
  /** For a call with `stream`; null where the endpoint streams no events. */
  readonly stream: StreamFormat | null;
}

/** How the events of a streamed answer are written. */
export interface StreamFormat {
  /** Text to write for an event; empty when the client must not see it. */
  event(event: StreamEvent): string;
  readonly heartbeat: string;
  /** A failure mid-stream, with the ending that follows it. */
  failure(error: GatewayError): string;
  /**
   * Whether the format's clients act on a failure only where it comes as an event, with a status of 200. Left out: never.
   */
  tellsAsEvent?(error: GatewayError): boolean;
  /** The clean ending; the bill serves a client that asked for usage when the upstream gave none. */
  done(bill: Bill): string;
  /** The ending of a stream its user killed, with what it came to where the format says so. */
  killed(bill: Bill): string;
  /** About how many bytes of the request it keeps to write its events; left out: none. */
  keptBytes?(): number;
}

/** The client's end of the connection. */
export interface Client {
  /** Aborted with an AbortReason. */
  readonly signal: AbortSignal;
  /** As of an `Exchange`. */
  readonly cancellation?: Cancellation;
  /** Nobody waits any more: aborts `signal`; the first reason stays. */
  abort(reason: AbortReason): void;
  /** `listener` is called at `abort("shutdown")` also when `signal` was aborted before for another reason. One listener. */
  onShutdown(listener: () => void): void;
  /** @param requestId of the request whose answer it is; left out: this one's. */
  answer(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>>,
    requestId?: string,
  ): void;
  /** Sends the head of a streamed answer. */
  startStream(contentType: string, headers: Readonly<Record<string, string>>): void;
  /** @param events of the upstream's stream that the chunk holds. @returns false: stop until `onDrain` calls. */
  write(chunk: string | Uint8Array, events?: number): boolean;
  onDrain(listener: () => void): void;
  end(last: string): void;
  /** Breaks the connection off: a body without an ending of its own must not look whole. */
  cut(): void;
  /** @param requestId as of `answer`. */
  refuse(error: unknown, headers: Readonly<Record<string, string>>, requestId?: string): void;
}

/** What was read of a request's body, checked. */
export interface RequestBody {
  readonly call: Call;
  readonly format: AnswerFormat;
}

/** One inference request, from its head to the end of its answer. */
export interface InferenceRequest {
  readonly id: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The same by `Host.elapsed`; left out: `receivedAt`. */
  readonly arrivedAt?: number;
  /** Milliseconds for which its body was waited for; left out: 0. */
  readonly waited?: number;
  /** Whether its answer says how long the gateway and the upstream took; left out: no. */
  readonly serverTiming?: boolean;
  readonly head: ClientRequest;
  readonly client: Client;
  /** null before it was read, and once `keep` was called. */
  readonly body: RequestBody | null;
  /** `Idempotency-Key`, and a digest of endpoint and body. Known with the body; left out: every copy of it is served. */
  readonly idempotency?: { readonly key: string; readonly body: Uint8Array } | null;
  /** Told of each target that it is tried at; left out: nobody asks. */
  tried?(target: Target): void;
  /** Drops the body, of which so many bytes are still held elsewhere: the rest of its room is given back. */
  keep(bytes: number): void;
}

/** How the requests of one configuration are served, in this order: `enter`, `identify`, `run` or `refuse`, `leave`. */
export interface RequestPipeline {
  /** The configuration stays in service until the request leaves. */
  enter(): void;
  leave(): void;
  /** Who calls; asked before the body is read. @throws GatewayError 401 for nobody known. */
  identify(request: InferenceRequest): Awaitable<Principal>;
  /** The call as it is served at this moment: for a model after its sunset that of its successor. */
  resolve(call: Call): Call;
  /** From the body to the settled answer. Never rejects: every failure is answered. */
  run(request: InferenceRequest, principal: Principal): Promise<void>;
  /** Answers a request that has no body to run. @param principal null where nobody is known. Never rejects. */
  refuse(request: InferenceRequest, principal: Principal | null, error: unknown): Promise<void>;
}
