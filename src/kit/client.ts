import type { Call, ClientRequest, Principal } from "./call.ts";
import type { AbortReason, Bill } from "./exchange.ts";
import type { Json } from "./json.ts";
import type { StreamEvent } from "./reply.ts";

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
  failure(message: string): string;
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
  /** Nobody waits any more: aborts `signal`; the first reason stays. */
  abort(reason: AbortReason): void;
  /** `listener` hears `abort("shutdown")` also when `signal` was aborted before for another reason. One listener. */
  onShutdown(listener: () => void): void;
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
  readonly head: ClientRequest;
  readonly client: Client;
  /** null before it was read, and once `keep` was called. */
  readonly body: RequestBody | null;
  /** Drops the body, of which so many bytes are still held elsewhere: the rest of its room is given back. */
  keep(bytes: number): void;
}

/** How the requests of one configuration are served, in this order: `enter`, `identify`, `run` or `refuse`, `leave`. */
export interface RequestPipeline {
  /** The configuration stays in service until the request leaves. */
  enter(): void;
  leave(): void;
  /** Who calls; asked before the body is read. @throws GatewayError 401 for nobody known. */
  identify(request: InferenceRequest): Promise<Principal>;
  /** From the body to the settled answer. Never rejects: every failure is answered. */
  run(request: InferenceRequest, principal: Principal): Promise<void>;
  /** Answers a request that has no body to run. @param principal null where nobody is known. Never rejects. */
  refuse(request: InferenceRequest, principal: Principal | null, error: unknown): Promise<void>;
}
