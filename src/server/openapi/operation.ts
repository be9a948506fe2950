import type { ErrorCode, Json } from "../../kit/index.ts";
import type { Endpoint } from "../endpoints.ts";
import type { HeaderName } from "./headers.ts";

/** One call of the public API, as the document shows it. */
export interface Operation extends Endpoint {
  /** Unique: generated clients name their methods by it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request?: RequestBody;
  /** What is no error, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Beside those that every call can meet. */
  readonly errors: readonly ErrorCode[];
  /** Failures of upstreams are JSON here (decisions 4.6). */
  readonly apiErrors?: boolean;
  /** Errors may be in the Messages format (decisions 7). */
  readonly messagesErrors?: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly description: string;
  readonly schema: Json;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Content;
}

export interface Answer {
  readonly description: string;
  /** Left out: there is no body. */
  readonly content?: Content;
  readonly headers?: readonly HeaderName[];
}

/** Schemas by media type or range, such as `audio/*`. */
export type Content = Readonly<Record<string, { readonly schema: Json }>>;

/** A component by the title of its schema. */
export function schemaRef(title: string): Json {
  return { $ref: `#/components/schemas/${title}` };
}

export function json(title: string): Content {
  return { "application/json": { schema: schemaRef(title) } };
}

/** What the body of a call can be refused for. */
export const BODY_ERRORS = ["INVALID_REQUEST", "REQUEST_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
/** What a call with a key can be refused for. */
export const CALLER_ERRORS = [
  "AUTHENTICATION_ERROR",
  "AUTHENTICATION_REQUIRED",
  "INVALID_TOKEN",
  "STORE_UNAVAILABLE",
] as const;
