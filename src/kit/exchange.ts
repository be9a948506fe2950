import type { ErrorCode } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Kind, Model, Target, Tier } from "./snapshot.ts";

export type Awaitable<T> = T | Promise<T>;

/** What a request brought to prove who it is. `X-API-Key` decides when both headers are present (decisions 2). */
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

/** Who is calling; `tier` is the stored plan in force. */
export interface Principal {
  readonly userId: string;
  readonly tier: string;
  /** The key that was used; null with an access token. */
  readonly keyId: string | null;
  /** Of what the store keeps about the user: every change raises it. Absent where the store has no need of it. */
  readonly version?: number;
}

/**
 * What a request uses of the units other than tokens: counted from the request itself, known before it is sent. Of
 * audio that only the upstream can measure it is an estimate.
 */
export interface Units {
  readonly characters?: number;
  /** Of audio. */
  readonly milliseconds?: number;
  readonly images?: number;
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

/**
 * A request in the canonical shape, unknown fields included: for every kind that of OpenAI's endpoint, for rerank that of
 * Cohere's (`query`, `documents`, `top_n`). Frozen.
 */
export interface Call {
  readonly kind: Kind;
  /** The route identifier that the client sent. */
  readonly model: string;
  readonly stream: boolean;
  readonly body: Json;
  /** UTF-8 bytes of prompt text, for the hold (decisions 6.2). */
  readonly promptBytes: number;
  /** Output tokens the client allows at most; null when it did not say. */
  readonly maxOutput: number | null;
  /** Answers the client asks for (`n`), for a hold without `maxOutput`; left out: 1. */
  readonly answers?: number;
  /** Left out: none but tokens. */
  readonly units?: Units;
  /** The audio of a transcription; `body` holds the form's other fields. */
  readonly upload?: Upload;
  /** Left out: `chat`. */
  readonly dialect?: ClientDialect;
  /** Fields of the client's dialect without a canonical place, as they came: for upstreams of the same dialect. */
  readonly native?: Json;
  /** The client's headers for upstreams of the same dialect, such as `anthropic-beta`. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One admitted request on its way; complete and frozen from `admit` on. */
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
}

export type AbortReason = "client_gone" | "killed" | "shutdown";

/** Billed counts; `prompt` includes `cached`, `completion` includes `reasoning`. Non-negative integers; units left out: 0. */
export interface Usage extends Units {
  /** Includes what was read from and written to a cache. */
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Prompt tokens written to a cache; left out: 0. */
  readonly cacheWrite?: number;
}

/** One event of a streamed answer: a chat-completion chunk. */
export interface StreamEvent {
  readonly data: Json;
  /** `data` as the upstream wrote it; a plugin that changes `data` leaves it out. */
  readonly raw?: string;
  /** Produced text: content, reasoning, tool arguments; for estimates. */
  readonly text: string;
  readonly usage?: Usage;
}

/** Hears a streamed answer. */
export interface Sink<Item> {
  /** One call per read from the upstream. */
  next(item: Item): void;
  /** Called once, last. `message` of a cut is fit for the client. */
  end(ending: { readonly complete: true } | { readonly complete: false; readonly message: string }): void;
}

/** A started upstream stream, paused until `open`. */
export interface Source<Item> {
  open(sink: Sink<Item>): void;
  pause(): void;
  resume(): void;
  /** Ends the upstream request at once; the sink hears nothing more. */
  cancel(): void;
}

/** Events, one batch a read. */
export type EventSink = Sink<readonly StreamEvent[]>;
export type EventSource = Source<readonly StreamEvent[]>;
/** A body that is relayed as it is, such as audio. */
export type ByteSource = Source<Uint8Array>;

/** What one upstream answered. */
export type Reply = AnswerReply | EventReply | ByteReply;

interface AnyReply {
  readonly target: Target;
  /** JSON pointers into the client's body of what the upstream's dialect could not express; left out: none. */
  readonly dropped?: readonly string[];
}

export interface AnswerReply extends AnyReply {
  readonly type: "answer";
  readonly body: Json;
  readonly usage: Usage | null;
}

export interface EventReply extends AnyReply {
  readonly type: "events";
  readonly source: EventSource;
}

export interface ByteReply extends AnyReply {
  readonly type: "bytes";
  readonly contentType: string;
  readonly source: ByteSource;
  readonly usage: Usage | null;
}

export type FailureClass =
  /** Nothing was sent: refused, DNS, TLS. */
  | "connect"
  /** Nothing was sent: every connection of ours to the upstream was in use. */
  | "saturated"
  | "timeout"
  /** Reset or closed before an answer. */
  | "reset"
  /** 408 and 5xx. */
  | "status"
  | "rate_limited"
  /** 401, 402, 403, 404: our credentials or configuration. */
  | "credentials"
  /** Not what the dialect promises. */
  | "protocol"
  /** Nothing was sent: a strict model's request has fields that the upstream's dialect cannot express. */
  | "unsupported"
  /** 400, 413, 422 and the like: the client's fault; no failover. */
  | "client_fault"
  /** Nobody waits any more. */
  | "aborted"
  /** A guard let no attempt through. */
  | "skipped";

/** One upstream attempt that produced nothing. `message` is fit for clients: no URL, key or markup. */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  readonly failure: FailureClass;
  /** The upstream's status, 0 without one. */
  readonly status: number;
  /** Milliseconds the upstream asked to wait, or null. */
  readonly retryAfter: number | null;
  /** The request's own deadline cut it before the upstream had had its time: no mark against the breaker. */
  readonly neutral: boolean;

  constructor(
    failure: FailureClass,
    message: string,
    more: { status?: number; retryAfter?: number | null; neutral?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.failure = failure;
    this.status = more.status ?? 0;
    this.retryAfter = more.retryAfter ?? null;
    this.neutral = more.neutral ?? false;
  }
}

/** How one attempt ended, for guards. */
export type AttemptResult = { readonly ok: true } | { readonly ok: false; readonly error: AttemptError };

export type OutcomeKind =
  | "served"
  /** By the gateway, before any upstream. */
  | "refused"
  /** No upstream produced anything. */
  | "failed"
  /** The upstream refused the request as wrong. */
  | "client_fault"
  /** The upstream broke off. */
  | "upstream_cut"
  | AbortReason;

/** How an exchange ended, before it is priced. */
export interface Ending {
  readonly kind: OutcomeKind;
  /** Whether an upstream had produced anything. */
  readonly begun: boolean;
  readonly status: number;
  readonly code: ErrorCode | null;
  /** The upstream's own count; null when it gave none. */
  readonly usage: Usage | null;
  readonly target: Target | null;
  /** What the upstream that answered was not asked, as JSON pointers into the client's body. */
  readonly dropped: readonly string[];
  readonly attempts: number;
  /** Unix milliseconds; null when nothing came. */
  readonly firstEventAt: number | null;
  readonly endedAt: number;
  /** What must have been used up to the end: tokens of prompt and produced text by tokenizer, units as the call counts them. */
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
  /** Counters, slot and hold are returned as if the request had never been (decisions 4.4). */
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

/** How answers are written in the client's dialect; one instance a request. */
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
  failure(message: string): string;
  /** The clean ending; the bill serves a client that asked for usage when the upstream gave none. */
  done(bill: Bill): string;
  /** The ending of a stream its user killed, with what it came to where the format says so. */
  killed(bill: Bill): string;
}

/** The client's end of the connection. */
export interface Client {
  /** Aborted with an AbortReason. */
  readonly signal: AbortSignal;
  /** Nobody waits any more: aborts `signal`; the first reason stays. */
  abort(reason: AbortReason): void;
  answer(status: number, contentType: string, body: string, headers: Readonly<Record<string, string>>): void;
  /** Sends the head of a streamed answer. */
  startStream(contentType: string, headers: Readonly<Record<string, string>>): void;
  /** False: stop until `onDrain` calls. */
  write(chunk: string | Uint8Array): boolean;
  onDrain(listener: () => void): void;
  end(last: string): void;
  /** Breaks the connection off: a body without an ending of its own must not look whole. */
  cut(): void;
  refuse(error: unknown, headers: Readonly<Record<string, string>>): void;
}

/** One request as the server hands it over. */
export interface Intake {
  readonly id: string;
  readonly receivedAt: number;
  readonly request: ClientRequest;
  readonly client: Client;
  /**
   * Reads, parses and checks the body; called once, after the credentials are good.
   * @throws GatewayError for a body that cannot be used.
   */
  read(): Promise<{ readonly call: Call; readonly format: AnswerFormat }>;
}
