import { type ErrorKind, ERROR_KINDS } from "./error-kinds.ts";
import type { Json } from "./json.ts";
import type { AttemptError } from "./reply.ts";

/** How an error leaves the gateway; `body` "text" is the message alone, "message" is JSON `{message}`, "error" `{error}`. */
interface ErrorRow {
  readonly status: number;
  /** Further statuses, each chosen by `ErrorDetails.status`; left out: there are no others. */
  readonly others?: readonly number[];
  /** What clients' formats call it. */
  readonly kind: ErrorKind;
  /** Whether the code is sent as `X-Error-Code`. */
  readonly coded: boolean;
  readonly body: "text" | "message" | "error";
}

const text = (status: number, kind: ErrorKind): ErrorRow => ({ status, kind, coded: true, body: "text" });
const json = (status: number, kind: ErrorKind): ErrorRow => ({ status, kind, coded: false, body: "message" });

/** Every error a client can meet, by code. A test compares the table of docs/api.md with it. */
export const ERRORS = Object.freeze({
  INVALID_REQUEST: text(400, "invalid_request"),
  INVALID_MODEL: text(400, "invalid_request"),
  AUTHENTICATION_ERROR: text(401, "authentication"),
  AUTHENTICATION_REQUIRED: json(401, "authentication"),
  INVALID_TOKEN: json(401, "authentication"),
  INVALID_CODE: json(401, "authentication"),
  SIGN_IN_FAILED: json(401, "authentication"),
  INSUFFICIENT_CREDITS: text(402, "billing"),
  MODEL_NOT_ALLOWED: text(403, "permission"),
  KEY_RESTRICTED: text(403, "permission"),
  FORBIDDEN: json(403, "permission"),
  SIGN_UP_CLOSED: json(403, "permission"),
  NOT_FOUND: text(404, "not_found"),
  MODEL_NOT_FOUND: { status: 404, kind: "not_found", coded: false, body: "error" },
  UNKNOWN_PATH: json(404, "not_found"),
  IDEMPOTENCY_CONFLICT: { ...text(409, "invalid_request"), others: [422] },
  METHOD_NOT_ALLOWED: json(405, "invalid_request"),
  REQUEST_TOO_LARGE: text(413, "too_large"),
  UNSUPPORTED_MEDIA_TYPE: text(415, "invalid_request"),
  UPGRADE_REQUIRED: json(426, "invalid_request"),
  DAILY_REQUEST_LIMIT_EXCEEDED: text(429, "rate_limited"),
  RATE_LIMIT_ERROR: text(429, "rate_limited"),
  IP_RATE_LIMIT: json(429, "rate_limited"),
  TOO_MANY_REQUESTS: json(429, "rate_limited"),
  INTERNAL: { status: 500, kind: "server", coded: false, body: "text" },
  PROVIDER_ERROR: text(502, "server"),
  CIRCUIT_BREAKER_OPEN: text(503, "overloaded"),
  OVERLOADED: text(503, "overloaded"),
  STORE_UNAVAILABLE: text(503, "overloaded"),
  SHUTTING_DOWN: text(503, "overloaded"),
  PROVIDER_TIMEOUT: text(504, "timeout"),
} satisfies Record<string, ErrorRow>);

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** One of the row's further statuses; left out: the row's own. */
  readonly status?: number;
  /** Seconds until a retry makes sense; sent as `Retry-After`, rounded up, at least 1. */
  readonly retryAfter?: number;
  /** No retry can help: sent as `x-should-retry: false`. */
  readonly permanent?: boolean;
  /** What happened at the upstream; by default the kind of the code's row. */
  readonly kind?: ErrorKind;
  /** The upstream's code, where it is one that clients act on. */
  readonly standardCode?: string;
  /** The field that is wrong, as OpenAI names fields: `messages[0].role`. */
  readonly param?: string;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of a JSON body. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A refusal or failure that is answered to the client. Its message is public: never an upstream's URL, key or stack. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return this.details.status ?? ERRORS[this.code].status;
  }

  get kind(): ErrorKind {
    return this.details.kind ?? ERRORS[this.code].kind;
  }

  /** As `code` of a JSON body: the upstream's where it is a standard one, else the gateway's own in lower case. */
  get clientCode(): string | null {
    if (this.code === "INTERNAL") return null;
    return this.details.standardCode ?? this.code.toLowerCase();
  }
}

/** `error` of OpenAI's form: what clients read that ask for JSON. */
export function jsonError(error: GatewayError, type: string = ERROR_KINDS[error.kind].openai): JsonError {
  return { message: bounded(error.message), type, code: error.clientCode, param: paramOf(error) };
}

const MAX_PARAM_CHARACTERS = 200;

/** The field that is wrong, as OpenAI writes places: the provider's, or the one that the gateway's own words begin with. */
function paramOf({ code, message, details: { param, cause } }: GatewayError): string | null {
  if (param !== undefined) return param.slice(0, MAX_PARAM_CHARACTERS);
  const pointer = code === "INVALID_REQUEST" && cause === undefined ? POINTER.exec(message)?.[1] : undefined;
  if (pointer === undefined) return null;
  const names = pointer.slice(0, MAX_PARAM_CHARACTERS).split("/");
  return names.map((name, at) => (/^\d+$/.test(name) ? `[${name}]` : at === 0 ? name : `.${name}`)).join("");
}

const POINTER = /^Invalid request: \/(\S+) /;

/** `error` of the specification's events and image answers; the code stands where the upstream gave one. */
export function apiError({ message, details: { standardCode, param } }: GatewayError): Json {
  return {
    message: bounded(message),
    type: "api_error",
    ...(standardCode !== undefined && { code: standardCode, param: param ?? null }),
  };
}

/** Longer than any message of the gateway's own: the rest of one that quotes a client says nothing new. */
const MAX_MESSAGE_CHARACTERS = 8_192;

function bounded(message: string): string {
  return message.slice(0, MAX_MESSAGE_CHARACTERS);
}

export interface JsonError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** What broke a stream off, as an error of the gateway's. @param cause absent if it is not known. */
export function streamBroken(message: string, cause?: AttemptError): GatewayError {
  if (cause === undefined) return new GatewayError("PROVIDER_ERROR", message);
  const { kind, code, retryAfter, param } = cause;
  return new GatewayError("PROVIDER_ERROR", message, {
    cause,
    kind,
    ...(code !== "" && { standardCode: code }),
    ...(retryAfter !== null && { retryAfter: retryAfter / 1000 }),
    ...(param !== "" && { param }),
  });
}

/** 400 `Invalid request: <pointer> <what>`. */
export function invalidRequest(pointer: string, what: string): GatewayError {
  return new GatewayError("INVALID_REQUEST", `Invalid request: ${pointer} ${what}`);
}

/** Client Closed Request, as nginx logs it: recorded where there is nobody to answer, never sent. */
export const CLIENT_GONE_STATUS = 499;

/** What was believed of a principal is out of date: the request is identified and admitted afresh. */
export class StalePrincipal extends Error {
  override readonly name = "StalePrincipal";
}

/** What the gateway can hold is in use. */
export function overloaded(): GatewayError {
  return new GatewayError("OVERLOADED", "Server is busy", { retryAfter: 1 });
}

/**
 * Refuses a request of an overloaded process. Nothing is looked up for its answer, which must cost next to nothing: most
 * requests may get it.
 */
export class ShedRefusal extends GatewayError {
  /** @param retryAfter seconds */
  constructor(retryAfter: number) {
    super("OVERLOADED", "Server is busy", { retryAfter });
  }
}

export function shuttingDown(): GatewayError {
  return new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 });
}

/** The store does not answer: 503, never 401 or 402. */
export function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "Store unavailable", { retryAfter: 1, cause });
}

export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "STORE_UNAVAILABLE";
}
