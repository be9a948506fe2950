/** How an error leaves the gateway; `body` "text" is the message alone, "message" is JSON `{message}`, "error" `{error}`. */
interface ErrorRow {
  readonly status: number;
  /** Whether the code is sent as `X-Error-Code`. */
  readonly coded: boolean;
  readonly body: "text" | "message" | "error";
  /** Sent as `x-should-retry: false`: the chain has been tried already. */
  readonly final?: boolean;
}

const text = (status: number, final?: boolean): ErrorRow => ({ status, coded: true, body: "text", final });
const json = (status: number): ErrorRow => ({ status, coded: false, body: "message" });

/** Every error a client can meet, by code. README's table is compared with this one by a test. */
export const ERRORS = Object.freeze({
  INVALID_REQUEST: text(400),
  INVALID_MODEL: text(400),
  AUTHENTICATION_ERROR: text(401),
  AUTHENTICATION_REQUIRED: json(401),
  INVALID_TOKEN: json(401),
  INVALID_CODE: json(401),
  SIGN_IN_FAILED: json(401),
  INSUFFICIENT_CREDITS: text(402),
  MODEL_NOT_ALLOWED: text(403),
  FORBIDDEN: json(403),
  NOT_FOUND: text(404),
  MODEL_NOT_FOUND: { status: 404, coded: false, body: "error" },
  UNKNOWN_PATH: json(404),
  METHOD_NOT_ALLOWED: json(405),
  REQUEST_TOO_LARGE: text(413),
  UNSUPPORTED_MEDIA_TYPE: text(415),
  DAILY_REQUEST_LIMIT_EXCEEDED: text(429),
  RATE_LIMIT_ERROR: text(429),
  IP_RATE_LIMIT: json(429),
  TOO_MANY_REQUESTS: json(429),
  INTERNAL: { status: 500, coded: false, body: "text" },
  PROVIDER_ERROR: text(502, true),
  CIRCUIT_BREAKER_OPEN: text(503),
  OVERLOADED: text(503),
  STORE_UNAVAILABLE: text(503),
  SHUTTING_DOWN: text(503),
  PROVIDER_TIMEOUT: text(504, true),
} satisfies Record<string, ErrorRow>);

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** Seconds until a retry makes sense; sent as `Retry-After`, rounded up, at least 1. */
  readonly retryAfter?: number;
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
    return ERRORS[this.code].status;
  }
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

/** The store does not answer: 503, never 401 or 402. */
export function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "Store unavailable", { retryAfter: 1, cause });
}

export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "STORE_UNAVAILABLE";
}
