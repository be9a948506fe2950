import type { Usage } from "./money.ts";
import type { Json } from "./json.ts";
import type { Target } from "./snapshot.ts";

/** One event of a streamed answer: a chat-completion chunk. */
export interface StreamEvent {
  readonly data: Json;
  /** `data` as the upstream wrote it; a plugin that changes `data` leaves it out. */
  readonly raw?: string;
  /** Produced text: content, reasoning, tool arguments; for estimates. */
  readonly text: string;
  /** The upstream's count so far, this event included. Cumulative: the last one stands. */
  readonly usage?: Usage;
  /** `usage` leaves out some of the output up to here, as a count at the start of a stream does: `completion` is the least it can be. */
  readonly partial?: true;
}

/** Receives a streamed answer. */
export interface Sink<Item> {
  /** One call per read from the upstream. */
  next(item: Item): void;
  /** Called once, last. `message` of a cut is fit for the client. */
  end(ending: { readonly complete: true } | { readonly complete: false; readonly message: string }): void;
}

/** A started upstream stream, paused until `open`. Who takes it ends it: the exchange's signal alone does not. */
export interface Source<Item> {
  open(sink: Sink<Item>): void;
  pause(): void;
  resume(): void;
  /** Ends the upstream request at once; the sink is not called any more. */
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
  /** 401, 402, 403 and what means the same: our key. It rests once a second user has met it. */
  | "credentials"
  /** The account behind the key has nothing left, by the upstream's own identifier: the key rests at once. */
  | "quota"
  /** Nothing was sent: every key of the upstream rests; `retryAfter` says until when. */
  | "resting"
  /** 404, 407, 410, an unknown or retired model, a region, moderation: not served here, with whatever key. */
  | "declined"
  /** A field or value of the request that the upstream does not take: the gateway should not have sent it so. */
  | "parameter"
  /** The prompt is longer than the model's window: only a target with a larger one may do. */
  | "context_overflow"
  /** Not what the dialect promises. */
  | "protocol"
  /** Nothing was sent: a strict model's request has fields that the upstream's dialect cannot express. */
  | "unsupported"
  /** 400, 413, 422 and the like, by the table of refusals: the client's fault; no failover. */
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
  /** No mark against the breaker: the request's own deadline cut it short, or one user alone has met it so far. */
  readonly notUpstreamFault: boolean;
  /** For the log: the upstream's identifiers for it, such as `unsupported_parameter max_tokens`; empty without any. */
  readonly reason: string;
  /** The provider's content filter refused; the class is "client_fault". */
  readonly filtered: boolean;
  /** For operators: the code that the system (`ECONNREFUSED`) or the provider (`invalid_api_key`) gave; empty without one. */
  readonly code: string;
  /** For operators: the same in words, with host and port; no content of requests. */
  readonly detail: string;
  /** For operators: the provider's or the system's own words, without keys and URLs. */
  readonly words: string;

  constructor(
    failure: FailureClass,
    message: string,
    more: {
      status?: number;
      retryAfter?: number | null;
      notUpstreamFault?: boolean;
      reason?: string;
      filtered?: boolean;
      code?: string;
      detail?: string;
      words?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.failure = failure;
    this.status = more.status ?? 0;
    this.retryAfter = more.retryAfter ?? null;
    this.notUpstreamFault = more.notUpstreamFault ?? false;
    this.reason = more.reason ?? "";
    this.filtered = more.filtered ?? false;
    this.code = more.code ?? "";
    this.detail = more.detail ?? "";
    this.words = more.words ?? "";
  }

  /** What happened, for operators: the message, and what the system or the provider told of the cause. */
  get explanation(): string {
    return this.detail === "" ? this.message : `${this.message}: ${this.detail}`;
  }

  /** The same failure, told otherwise; its cause is this one. */
  as(changes: {
    readonly failure?: FailureClass;
    readonly message?: string;
    readonly notUpstreamFault?: boolean;
    readonly code?: string;
    readonly detail?: string;
    readonly words?: string;
  }): AttemptError {
    const { failure = this.failure, message = this.message } = changes;
    return new AttemptError(failure, message, { ...this, ...changes, cause: this });
  }
}

/** How one attempt ended, for guards. */
export type AttemptResult = { readonly ok: true } | { readonly ok: false; readonly error: AttemptError };
