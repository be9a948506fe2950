import type { AttemptError, Call, DialectName, Json, StreamEvent, Target, Usage } from "../kit/index.ts";

/** One HTTP request to an upstream; `path` is appended to its base URL. Header names are in lower case. */
export interface UpstreamRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Decoded {
  readonly body: Json;
  /** null when the upstream gave no usable count. */
  readonly usage: Usage | null;
}

/** Turns the bytes of one upstream stream into canonical events, wherever the reads split them. */
export interface StreamDecoder {
  /** Events completed by this read. After a fault or the dialect's ending it returns nothing more. */
  feed(chunk: Uint8Array): readonly StreamEvent[];
  /** The body has ended: events that were still open. */
  finish(): readonly StreamEvent[];
  /** An error event, or something that is not the dialect. Events before it have been returned. */
  readonly fault: AttemptError | null;
  /** The dialect's ending was seen (`[DONE]`): nothing more will come. */
  readonly done: boolean;
  /** The ending or a finish reason was seen: the answer is whole (decisions 5.4a). */
  readonly complete: boolean;
}

/** The upstream half of a dialect. Stateless: decoders hold the state of one stream. */
export interface UpstreamDialect {
  readonly name: DialectName;
  /** @throws GatewayError when the call cannot be written down (decisions 1.2). */
  request(call: Call, target: Target, apiKey: string): UpstreamRequest;
  /** @throws AttemptError "protocol" when the body is not what the dialect promises. */
  answer(body: Uint8Array): Decoded;
  decoder(): StreamDecoder;
  /** The upstream's own words for an error body, fit for a client: no markup, keys or URLs; empty when there are none. */
  errorMessage(body: Uint8Array): string;
}
