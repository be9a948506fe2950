import { type ErrorKind, isFiltered } from "./error-kinds.ts";
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
  /** Called once, last. */
  end(ending: SinkEnding): void;
}

/** How a streamed answer ended. `message` of a cut is fit for the client; `error` is what cut it, where that is known. */
export type SinkEnding =
  | { readonly complete: true }
  | { readonly complete: false; readonly message: string; readonly error?: AttemptError };

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

/** How the model that answers thinks: its thoughts are billed, and may be nowhere in the answer. */
export interface Thinking {
  /** Requests with the same one can be expected to think as much; one of few words. */
  readonly effort: string;
  /** Whether thoughts that are streamed are all of them. Else they are summaries, as of Claude, Gemini and OpenAI. */
  readonly whole: boolean;
}

interface AnyReply {
  readonly target: Target;
  /** Left out: it does not think for this call, as far as is known. */
  readonly thinking?: Thinking;
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
  /** 401, 402, 403 and what means the same: our key. It rests once a second user has met the same. */
  | "credentials"
  /** The account behind the key has nothing left, by the upstream's own identifier: the key rests at once. */
  | "quota"
  /** Nothing was sent: every key rests, for this model or for all; `retryAfter` says until when. */
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
  /** A rate limit of the whole account: it holds for every model that the key may call. */
  readonly ofAccount: boolean;
  /** For the log: the upstream's identifiers for it, such as `unsupported_parameter max_tokens`; empty without any. */
  readonly reason: string;
  /** The upstream's code where clients may see it, such as `context_length_exceeded`; empty without one. */
  readonly code: string;
  /** The field that the upstream names; empty without one. */
  readonly param: string;
  /**
   * The upstream's words about a refused parameter that the client wrote and that was sent as it came, fit for the
   * client. Empty for what the gateway added or changed.
   */
  readonly ownWords: string;
  /** The provider's content filter refused; the class is "client_fault". */
  readonly filtered: boolean;
  /** For operators: the code that the system (`ECONNREFUSED`) or the provider (`invalid_api_key`) gave; empty without one. */
  readonly causeCode: string;
  /** For operators: the same in words, with host and port; no content of requests. */
  readonly detail: string;
  /** For operators: the provider's or the system's own words, without keys and URLs. */
  readonly words: string;

  constructor(failure: FailureClass, message: string, more: AttemptErrorFields = {}) {
    super(message, { cause: more.cause });
    this.failure = failure;
    this.status = more.status ?? 0;
    this.retryAfter = more.retryAfter ?? null;
    this.notUpstreamFault = more.notUpstreamFault ?? false;
    this.ofAccount = more.ofAccount ?? false;
    this.reason = more.reason ?? "";
    this.code = more.code ?? "";
    this.param = more.param ?? "";
    this.ownWords = more.ownWords ?? "";
    this.filtered = more.filtered ?? false;
    this.causeCode = more.causeCode ?? "";
    this.detail = more.detail ?? "";
    this.words = more.words ?? "";
  }

  /** What clients' formats call it. */
  get kind(): ErrorKind {
    switch (this.failure) {
      case "client_fault":
        return this.filtered || isFiltered(this.code) ? "content_filter" : "invalid_request";
      case "context_overflow":
        return "context_overflow";
      case "rate_limited":
        return "rate_limited";
      case "timeout":
        return "timeout";
      case "saturated":
      case "resting":
      case "skipped":
        return "overloaded";
      case "status":
        return OVERLOADED_STATUSES.has(this.status) || OVERLOADED_CODES.has(this.code) ? "overloaded" : "server";
      default:
        return "server";
    }
  }

  /** What happened, for operators: the message, and what the system or the provider told of the cause. */
  get explanation(): string {
    return this.detail === "" ? this.message : `${this.message}: ${this.detail}`;
  }

  /** The same failure, told otherwise; its cause is this one. */
  as(changes: AttemptErrorChanges): AttemptError {
    const { failure = this.failure, message = this.message } = changes;
    const { status, retryAfter, notUpstreamFault, ofAccount, reason, code, param } = this;
    const { ownWords, filtered, causeCode, detail, words } = this;
    const told = { reason, code, param, ownWords, filtered, causeCode, detail, words };
    const fields = { status, retryAfter, notUpstreamFault, ofAccount, ...told };
    return new AttemptError(failure, message, { ...fields, ...changes, cause: this });
  }
}

interface AttemptErrorChanges extends Omit<AttemptErrorFields, "status" | "retryAfter" | "cause"> {
  readonly failure?: FailureClass;
  readonly message?: string;
}

interface AttemptErrorFields {
  readonly status?: number;
  readonly retryAfter?: number | null;
  readonly notUpstreamFault?: boolean;
  readonly ofAccount?: boolean;
  readonly reason?: string;
  readonly code?: string;
  readonly param?: string;
  readonly ownWords?: string;
  readonly filtered?: boolean;
  readonly causeCode?: string;
  readonly detail?: string;
  readonly words?: string;
  readonly cause?: unknown;
}

/** 529 is Anthropic's: https://docs.claude.com/en/api/errors */
const OVERLOADED_STATUSES: ReadonlySet<number> = new Set([503, 529]);
const OVERLOADED_CODES: ReadonlySet<string> = new Set(["server_is_overloaded", "slow_down"]);

/** Failures that the same request would meet again: only another request, or an operator, can help. */
const PERMANENT: ReadonlySet<FailureClass> = new Set([
  "credentials",
  "quota",
  "declined",
  "parameter",
  "context_overflow",
  "unsupported",
  "client_fault",
]);

/** Whether trying again later can help. */
export function isPassing({ failure }: AttemptError): boolean {
  return !PERMANENT.has(failure);
}

/** How one attempt ended, for guards. */
export type AttemptResult = { readonly ok: true } | { readonly ok: false; readonly error: AttemptError };
