import type { IncomingHttpHeaders } from "node:http";
import type { LongText } from "../dialects/canonical/media.ts";
import type {
  AnswerFormat,
  BreakerState,
  Call,
  Endpoint as EndpointName,
  ErrorCode,
  GatewayError,
  Json,
  Log,
  Snapshot,
  StandIn,
  Store,
  Target,
  Upload,
} from "../kit/index.ts";
import type { Callers } from "./credentials.ts";
import type { HeaderName } from "./openapi/headers.ts";
import type { ErrorStyle } from "./respond.ts";
import type { Route } from "./router.ts";

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
  /**
   * Names of headers are in lower case.
   * @param longTexts texts that are not in a chat's body yet, by what stands for them.
   */
  readonly read: (body: Json, headers: IncomingHttpHeaders, longTexts?: ReadonlyMap<string, LongText>) => Call;
}

/** `multipart/form-data` with one file. */
export interface FormFormat extends AnyFormat {
  readonly body: "form";
  readonly read: (fields: Json, upload: Upload) => Promise<Call>;
}

interface Operation extends DescribedOperation {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly credentials:
    | "none"
    | "none or API key or access token"
    | "API key"
    | "API key or access token"
    | "access token"
    | "refresh token";
}

/** What an OpenAPI document says of an operation. */
export interface DescribedOperation {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `{name}` stands for a part of the path. */
  readonly path: string;
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
  readonly in: "path" | "query" | "header";
  readonly description: string;
  /** Those of the path always are. */
  readonly required?: boolean;
  readonly schema: Json;
}

interface RequestBody {
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
  "KEY_RESTRICTED",
  "STORE_UNAVAILABLE",
] as const;

/** What the routes beside inference are made of. */
export interface RouteParts {
  /** Of the configuration in force. */
  readonly snapshot: () => Snapshot;
  readonly store: Store;
  readonly identities: Callers;
  readonly signIn: SignIn;
  readonly health: (upstream: string) => UpstreamHealth;
  /** Whether a request would be sent to the target now, and can be expected to be served. */
  readonly canServe: (target: Target) => boolean;
  /** The latest changes of its breaker, oldest first. */
  readonly transitions: (upstream: string) => readonly BreakerChange[];
  /** Ends the user's streams. @returns how many. */
  readonly kill: (userId: string) => Promise<number>;
  /** Running streams of one user, in all processes. */
  readonly streams: UserStreams;
  /** Left out: they are written nowhere. */
  readonly signIns?: SignInRecord;
  /** By what logs tell users and keys apart in place of their ids; null, or left out: they do not. */
  readonly digestOf?: (id: string) => string | null;
  /** The first thing that is wrong with a body of `count_tokens`; null when nothing is. */
  readonly validateTokenCount: (body: Json) => { readonly pointer: string; readonly what: string } | null;
  /** Why a request of the plan is not served now; null: it is. */
  readonly shed: (tier: string) => GatewayError | null;
  /** Tokens of a text, by tokenizer; texts of different users take turns. */
  readonly tokensIn: (text: string, userId: string) => Promise<number>;
  /** The OpenAPI document as JSON. */
  readonly openApi: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** `complete`: whether every process that shares the store has answered. */
export interface UserStreams {
  listOf(userId: string): Promise<{
    readonly streams: readonly {
      readonly id: string;
      readonly model: string;
      readonly age_ms: number;
      /** `waiting` until the client has been sent the head. */
      readonly state: "waiting" | "streaming";
    }[];
    readonly complete: boolean;
  }>;
  /** @returns `ended` false: the user has none with this id. */
  endOf(userId: string, id: string): Promise<{ readonly ended: boolean; readonly complete: boolean }>;
}

/** The state in which a breaker was from a moment on. */
export interface BreakerChange {
  /** Unix milliseconds. */
  readonly at: number;
  readonly state: BreakerState;
  /** Left out: of the whole upstream. */
  readonly model?: string;
}

/** How an upstream does. */
export interface UpstreamHealth {
  readonly state: "healthy" | "degraded" | "unknown";
  /** 0 without data. */
  readonly latencyMs: number;
  readonly canServe: boolean;
}

/** Writes down how users' sign-ins end. */
export interface SignInRecord {
  /** @param address the client's. Never rejects. */
  succeeded(userId: string, method: "code" | "link" | "oauth", address: string): Promise<void>;
  failed(result: "failed" | "limited"): void;
}

/** Who has signed in, until when. */
export interface Session {
  /** The answer. */
  readonly body: { readonly user: { readonly id: string; readonly email?: string } };
  /** The one in `body`, for the cookie. */
  readonly refreshToken: string;
  /** Unix milliseconds. */
  readonly refreshExpiresAt: number;
}

/**
 * Signing in by mail code and OpenID Connect; what comes from a client comes as it is, and is checked there. `device` is the
 * cookie by which a browser shows that it has signed in before.
 */
export interface SignIn {
  /** @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS */
  requestCode(request: { readonly email: unknown; readonly ip: string; readonly device?: string }): Promise<void>;
  /** @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS, INVALID_CODE */
  verifyCode(request: {
    readonly email: unknown;
    readonly code: unknown;
    readonly ip: string;
    readonly device?: string;
  }): Promise<Session>;
  /** @throws GatewayError INVALID_TOKEN */
  refresh(token: unknown): Promise<Session>;
  /** Ends the session of a refresh token; anything else is ignored. */
  logout(token: unknown): Promise<void>;
  /** The device cookie after a sign-in, made of the one before. Left out: there are none. */
  markDevice?(device: string | undefined, email: string): Promise<string>;
  /**
   * @param request.origin scheme, host and port under which the client sees the gateway.
   * @returns where to send the browser, and a sealed state for a cookie that lives `maxAge` seconds.
   * @throws GatewayError UNKNOWN_PATH for a provider that is none, PROVIDER_ERROR
   */
  begin(request: {
    readonly provider: string;
    readonly redirectTo: string | null;
    readonly origin: string;
  }): Promise<{ readonly location: string; readonly state: string; readonly maxAge: number }>;
  /**
   * @param request.url path and query of the callback.
   * @param request.state from the cookie; null without one.
   * @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED, SIGN_UP_CLOSED
   */
  complete(request: {
    readonly provider: string;
    readonly url: string;
    readonly state: string | null;
  }): Promise<{ readonly session: Session; readonly redirectTo: string }>;
}
