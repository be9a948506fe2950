import type { Json } from "./json.ts";
import type { Kind } from "./snapshot.ts";

export type Awaitable<T> = T | Promise<T>;

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
  /** Raised by what makes this out of date: another tier, a revoked key. Absent where the store has no need of it. */
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
  /** What images are priced by, `SIZE/QUALITY`, as `1024x1536/high`; a part that nobody says is empty. */
  readonly imageVariant?: string;
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
  /** UTF-8 bytes of prompt text, for the hold. */
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
  /** The client's headers for upstreams of the same dialect, such as `anthropic-beta`. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A request in the canonical shape, unknown fields included: for every kind that of OpenAI's endpoint, for rerank that of
 * Cohere's (`query`, `documents`, `top_n`). Frozen.
 */
export interface Call extends CallFacts {
  readonly body: Json;
  /** Fields of the client's dialect without a canonical place, as they came: for upstreams of the same dialect. */
  readonly native?: Json;
}

/** Billed counts; `prompt` includes `cached`, `completion` includes `reasoning`. Non-negative integers; units left out: 0. */
export interface Usage extends Units {
  /** Includes what was read from and written to a cache. */
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Prompt tokens written to a cache; left out: 0. */
  readonly cacheWrite?: number;
  /** Those of `cacheWrite` that are kept for an hour; left out: 0. */
  readonly cacheWrite1h?: number;
}
