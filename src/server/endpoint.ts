import type { IncomingHttpHeaders } from "node:http";
import type { AnswerFormat, Call, Endpoint as EndpointName, ErrorCode, Json, StandIn, Upload } from "../kit/index.ts";
import type { HeaderName } from "./openapi/headers.ts";
import type { ErrorStyle } from "./respond.ts";
import type { Route } from "./router.ts";
import type { RouteParts } from "./routes/parts.ts";

/** One endpoint of the public API: how it is served, and what the OpenAPI document says of it. */
export type Endpoint = InferenceEndpoint | RouteEndpoint;

/** Served past the router: these are the hot path. */
export interface InferenceEndpoint extends Operation {
  readonly method: "POST";
  readonly format: Format;
}

export interface RouteEndpoint extends Operation {
  /** What it answers, errors included, is for the caller alone: `Cache-Control: no-store`. */
  readonly secret?: boolean;
  /** Its last parameter stands for the rest of the path, slashes included. */
  readonly matchesRest?: boolean;
  /** Called once per server, for the state that its requests share. */
  readonly route: (parts: RouteParts) => Route["handle"];
}

/** How an endpoint's client dialect reads a request and writes its answer. */
export type Format = JsonFormat | FormFormat;

interface AnyFormat extends ErrorStyle {
  readonly endpoint: EndpointName;
  readonly write: (call: Call, standIn: StandIn) => AnswerFormat;
}

export interface JsonFormat extends AnyFormat {
  readonly body: "json";
  /** Names of headers are in lower case. */
  readonly read: (body: Json, headers: IncomingHttpHeaders) => Call;
}

/** `multipart/form-data` with one file. */
interface FormFormat extends AnyFormat {
  readonly body: "form";
  readonly read: (fields: Json, upload: Upload) => Promise<Call>;
}

interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  /** `{name}` stands for a part of the path. */
  readonly path: string;
  readonly credentials: "none" | "API key" | "API key or access token" | "access token" | "refresh token";
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
  /** Failures of upstreams are JSON here. */
  readonly apiErrors?: boolean;
  /** Errors may be in the Messages format. */
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
