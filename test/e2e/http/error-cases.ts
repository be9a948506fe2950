import type { Endpoint, ErrorCode, Json } from "../../../src/kit/index.ts";
import { ENDPOINTS } from "../support/kinds.ts";
import type { Sent } from "../support/http.ts";

/** An inference endpoint, or a method and a path. */
export type Where = Endpoint | `${"GET" | "POST" | "DELETE" | "PUT" | "PATCH"} /${string}`;

/** Status, `X-Error-Code`, content type, body. */
export type Shown = readonly [number, string | undefined, string, string];

/** One error of the API, and what brings it about. */
export interface ErrorCase {
  readonly code: ErrorCode;
  readonly when: string;
  readonly on: readonly Where[];
  readonly answer: Shown;
  /** Which gateway: one that is well, one whose store is away, one that is stopped meanwhile, one that limits addresses. */
  readonly at?: "away" | "ending" | "strict";
  readonly tier?: string;
  readonly credits?: string;
  /** `<key>`, `<token>` and `<unknown>` stand for the user's; left out: the user's key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the model, see errors.test.ts. */
  readonly suffix?: string;
  readonly changes?: Json;
  readonly sent?: Sent;
  /** Requests like it that are made before. */
  readonly before?: number;
  /** Seconds, or between which; a window: until it ends. */
  readonly retryAfter?: number | readonly [number, number] | "day" | "hour" | "minute";
  /** The chain has been tried: a client's library must not try it again. */
  readonly final?: true;
  /** The address's limit is told in headers and body. */
  readonly address?: true;
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
const text = (status: number, code: ErrorCode, body: string): Shown => [status, code, TEXT, body];
const json = (status: number, body: Json): Shown => [status, undefined, JSON_TYPE, JSON.stringify(body)];
const message = (status: number, what: string): Shown => json(status, { message: what });
const apiError = (status: number, code: ErrorCode, what: string): Shown => {
  return [status, code, JSON_TYPE, JSON.stringify({ error: { message: what, type: "api_error" } })];
};

const INFERENCE = ENDPOINTS;
const NO_IMAGES: readonly Endpoint[] = ["chat", "embeddings", "rerank", "speech", "transcription"];
const WITH_JSON: readonly Endpoint[] = ["chat", "embeddings", "rerank", "speech", "image"];
/** Key or access token (decisions 2, third column). */
const KEYED: readonly Where[] = [
  "GET /v1/models/route/one",
  "GET /v1/pricing",
  "GET /v1/user/requests",
  "GET /v1/user/requests/hourly",
  "POST /v1/user/streams/kill",
];
const KEYS: readonly Where[] = ["POST /v1/user/key", "GET /v1/user/key", "DELETE /v1/user/key/key_123"];
const BODIES: readonly Where[] = [
  "POST /v1/user/key",
  "POST /auth/login",
  "POST /auth/login/verify",
  "POST /auth/refresh",
];
const NOBODY = {};
const TOKEN = { authorization: "Bearer <token>" };
const typed = (headers: Record<string, string> = {}) => ({ "content-type": JSON_TYPE, ...headers });

const FAILED = "Every upstream failed: upstream answered 500; upstream answered 503";
const SLOW = "Every upstream timed out: upstream timed out waiting for the first byte";
const OPEN = "Circuit breaker open for an upstream";

export const ERROR_CASES: readonly ErrorCase[] = [
  ...broken(WITH_JSON, '{"model":', "must be valid JSON"),
  ...broken(["transcription"], "--", "must be a whole multipart/form-data body"),
  ...broken(BODIES, "{", "must be valid JSON", typed(TOKEN)),
  refusedBy("a key without a name", ["POST /v1/user/key"], "{}", "/name must be a string of 1 to 100 characters"),
  refusedBy("no address", ["POST /auth/login"], "{}", "/email must be an e-mail address"),
  {
    ...of("INVALID_REQUEST", "a path that is not well-formed", [
      "GET /v1/models/%zz",
      "DELETE /v1/user/key/%zz",
      "GET /auth/oauth/%zz",
      "GET /auth/oauth/%zz/callback",
    ]),
    headers: TOKEN,
    answer: wrong("/ must have a well-formed path"),
  },
  {
    code: "INVALID_REQUEST",
    when: "a live model on a batch",
    on: ["transcription"],
    suffix: "-live",
    answer: text(400, "INVALID_REQUEST", "Model 'route/listen-live' is for real-time streaming only"),
  },
  {
    code: "INVALID_REQUEST",
    when: "in the upstream's words",
    on: INFERENCE,
    suffix: "-picky",
    answer: text(400, "INVALID_REQUEST", "Invalid request: it is too long"),
  },
  { ...of("INVALID_MODEL", "an unknown model"), changes: { model: "route/none" }, answer: invalid("route/none") },
  {
    ...of("INVALID_MODEL", "a model of another kind", NO_IMAGES),
    changes: { model: "route/paint" },
    answer: invalid("route/paint"),
  },
  {
    ...of("MODEL_NOT_FOUND", "a model of another kind", ["image"]),
    changes: { model: "route/one" },
    answer: noModel(),
  },
  { ...of("MODEL_NOT_FOUND", "an unknown model", ["GET /v1/models/route/none"]), answer: noModel() },
  { ...of("AUTHENTICATION_REQUIRED", "nobody", [...INFERENCE, ...KEYED]), headers: NOBODY, answer: required() },
  {
    ...of("AUTHENTICATION_REQUIRED", "another scheme", [...INFERENCE, ...KEYED]),
    headers: { authorization: "Basic <key>" },
    answer: required(),
  },
  ...["Bearer", "key"].map((how): ErrorCase => ({
    ...of("AUTHENTICATION_ERROR", `an unknown key as ${how}`, [...INFERENCE, ...KEYED]),
    headers: how === "key" ? { "x-api-key": "<unknown>" } : { authorization: "Bearer <unknown>" },
    answer: text(401, "AUTHENTICATION_ERROR", "Invalid API key"),
  })),
  {
    ...of("AUTHENTICATION_ERROR", "an access token where a key is needed"),
    headers: TOKEN,
    answer: text(401, "AUTHENTICATION_ERROR", "Authentication failed"),
  },
  {
    ...of("INVALID_TOKEN", "no key and no token", [...INFERENCE, ...KEYED, ...KEYS]),
    headers: { authorization: "Bearer a.b.c" },
    answer: message(401, "Invalid or expired token"),
  },
  {
    ...of("INVALID_TOKEN", "a key where a token is needed", KEYS),
    headers: { authorization: "Bearer <key>" },
    answer: message(401, "Invalid or expired token"),
  },
  {
    ...of("INVALID_TOKEN", "no refresh token of ours", ["POST /auth/refresh"]),
    headers: typed(),
    sent: { body: { refresh_token: "x" } },
    answer: message(401, "Invalid or expired token"),
  },
  {
    ...of("INVALID_CODE", "a wrong code", ["POST /auth/login/verify"]),
    headers: typed(),
    sent: { body: { email: "wrong-code@example.com", code: "000000" } },
    answer: message(401, "Invalid or expired code"),
  },
  {
    ...of("SIGN_IN_FAILED", "a callback that nobody began", ["GET /auth/oauth/corp/callback?code=x&state=y"]),
    answer: message(401, "Sign-in failed"),
  },
  { ...of("INSUFFICIENT_CREDITS", "no credits"), credits: "0", answer: poor() },
  { ...of("INSUFFICIENT_CREDITS", "too few credits"), credits: "0.000000001", answer: poor() },
  ...INFERENCE.map((endpoint): ErrorCase => ({
    ...of("MODEL_NOT_ALLOWED", "a plan without the model", [endpoint]),
    tier: "Free",
    suffix: "-max",
    answer: text(403, "MODEL_NOT_ALLOWED", `Model '<model>-max' is not available on your plan`),
  })),
  {
    ...of("NOT_FOUND", "an unknown key", ["DELETE /v1/user/key/key_123"]),
    headers: TOKEN,
    answer: text(404, "NOT_FOUND", "API key not found"),
  },
  {
    ...of("UNKNOWN_PATH", "no such path", [
      "GET /v1/nothing",
      "POST /v1/embedding",
      "GET /auth/oauth/nobody",
      "GET /auth/oauth/nobody/callback",
    ]),
    answer: message(404, "Not found"),
  },
  {
    ...of("METHOD_NOT_ALLOWED", "another method", ["GET /v1/embeddings", "PUT /v1/audio/speech", "PATCH /v1/user/key"]),
    answer: message(405, "Method not allowed"),
  },
  {
    ...of("REQUEST_TOO_LARGE", "a body that is too long"),
    sent: { body: "x".repeat(262_145) },
    answer: text(413, "REQUEST_TOO_LARGE", "Request body exceeds the limit of 262144 bytes"),
  },
  {
    ...of("REQUEST_TOO_LARGE", "a body that is too long, in pieces"),
    sent: { body: `${" ".repeat(262_144)}{`, chunked: true },
    answer: text(413, "REQUEST_TOO_LARGE", "Request body exceeds the limit of 262144 bytes"),
  },
  {
    ...of("REQUEST_TOO_LARGE", "a body that is too long", BODIES),
    headers: typed(TOKEN),
    sent: { body: "x".repeat(65_537) },
    answer: text(413, "REQUEST_TOO_LARGE", "Request body exceeds the limit of 65536 bytes"),
  },
  ...typeRefused(WITH_JSON, "application/json", { headers: { "content-type": "text/plain" } }),
  ...typeRefused(["transcription"], "multipart/form-data", { headers: { "content-type": "application/json" } }),
  {
    ...typeRefused(BODIES, "application/json", { body: "{}" })[0]!,
    headers: { ...TOKEN, "content-type": "text/plain" },
  },
  {
    ...of("DAILY_REQUEST_LIMIT_EXCEEDED", "the daily limit"),
    tier: "Day",
    retryAfter: "day",
    answer: text(429, "DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded"),
  },
  {
    ...of("RATE_LIMIT_ERROR", "the hourly limit"),
    tier: "Hour",
    retryAfter: "hour",
    answer: limited("Hourly request"),
  },
  {
    ...of("RATE_LIMIT_ERROR", "the limit per minute"),
    tier: "Minute",
    retryAfter: "minute",
    answer: limited("Per-minute request"),
  },
  {
    ...of("RATE_LIMIT_ERROR", "the limit of concurrent streams", ["chat"]),
    tier: "Streams",
    changes: { stream: true },
    retryAfter: 1,
    answer: limited("Concurrent stream"),
  },
  {
    ...of("RATE_LIMIT_ERROR", "no Bearer on key management", KEYS),
    headers: { "x-api-key": "<key>" },
    retryAfter: 1,
    answer: text(429, "RATE_LIMIT_ERROR", "Authentication required"),
  },
  {
    ...of("IP_RATE_LIMIT", "too many requests of one address", [...INFERENCE, ...KEYED, ...KEYS, ...BODIES]),
    at: "strict",
    retryAfter: "hour",
    address: true,
    answer: json(429, { message: "Rate limit exceeded. Please try again later.", retry_after: 0 }),
  },
  {
    ...of("TOO_MANY_REQUESTS", "too many codes for one address", ["POST /auth/login"]),
    headers: typed(),
    sent: { body: { email: "many@example.com" } },
    before: 5,
    retryAfter: "hour",
    answer: json(429, { message: "Too many requests", retry_after: 0 }),
  },
  {
    ...of("TOO_MANY_REQUESTS", "too many tries of one client", ["POST /auth/login/verify"]),
    headers: typed({ "x-forwarded-for": "192.0.2.50" }),
    sent: { body: { email: "guess@example.com", code: "000000" } },
    before: 50,
    retryAfter: "hour",
    answer: json(429, { message: "Too many requests", retry_after: 0 }),
  },
  {
    ...of("INTERNAL", "a plugin that throws"),
    suffix: "-throws",
    answer: [500, undefined, TEXT, "Internal server error"],
  },
  ...failing(NO_IMAGES, text),
  ...failing(["image"], apiError),
  {
    ...of("PROVIDER_ERROR", "an identity provider that is away", ["GET /auth/oauth/corp"]),
    final: true,
    answer: text(502, "PROVIDER_ERROR", "Identity provider unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", [...INFERENCE, ...KEYED, "POST /auth/login"]),
    at: "away",
    retryAfter: 1,
    sent: { headers: typed(), body: { email: "x@example.com" } },
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", [
      "POST /auth/login/verify",
      "POST /auth/refresh",
      "POST /auth/logout",
    ]),
    at: "away",
    headers: typed(),
    retryAfter: 1,
    sent: { body: { email: "x@example.com", code: "123456", refresh_token: `rt_${"x".repeat(43)}` } },
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", KEYS),
    at: "away",
    headers: TOKEN,
    retryAfter: 1,
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("SHUTTING_DOWN", "a stop before the answer"),
    at: "ending",
    retryAfter: 1,
    answer: text(503, "SHUTTING_DOWN", "Server is shutting down"),
  },
];

function of(code: ErrorCode, when: string, on: readonly Where[] = INFERENCE): Pick<ErrorCase, "code" | "when" | "on"> {
  return { code, when, on };
}

function broken(
  on: readonly Where[],
  body: string,
  what: string,
  headers?: ErrorCase["headers"],
): readonly ErrorCase[] {
  return [{ ...of("INVALID_REQUEST", "a broken body", on), headers, sent: { body }, answer: wrong(`/ ${what}`) }];
}

function refusedBy(when: string, on: readonly Where[], body: string, what: string): ErrorCase {
  return { ...of("INVALID_REQUEST", when, on), headers: typed(TOKEN), sent: { body }, answer: wrong(what) };
}

function typeRefused(on: readonly Where[], type: string, sent: Sent): readonly ErrorCase[] {
  const answer = text(415, "UNSUPPORTED_MEDIA_TYPE", `Content-Type must be ${type}`);
  return [{ ...of("UNSUPPORTED_MEDIA_TYPE", "another type", on), sent, answer }];
}

/** What upstreams do to a request; `shown` is how an endpoint writes it. */
function failing(on: readonly Endpoint[], shown: typeof text): readonly ErrorCase[] {
  const open = { before: 1, retryAfter: [2_800, 3_600], suffix: "-open" } as const;
  return [
    {
      ...of("PROVIDER_ERROR", "every upstream failed", on),
      final: true,
      suffix: "-broken",
      answer: shown(502, "PROVIDER_ERROR", FAILED),
    },
    {
      ...of("CIRCUIT_BREAKER_OPEN", "every circuit is open", on),
      ...open,
      answer: shown(503, "CIRCUIT_BREAKER_OPEN", OPEN),
    },
    {
      ...of("PROVIDER_TIMEOUT", "every upstream timed out", on),
      final: true,
      suffix: "-slow",
      answer: shown(504, "PROVIDER_TIMEOUT", SLOW),
    },
  ];
}

function wrong(what: string): Shown {
  return text(400, "INVALID_REQUEST", `Invalid request: ${what}`);
}

function invalid(model: string): Shown {
  return text(400, "INVALID_MODEL", `Invalid model: '${model}'`);
}

function noModel(): Shown {
  return json(404, { error: "Model not found" });
}

function required(): Shown {
  return message(401, "Authentication required");
}

function poor(): Shown {
  return text(402, "INSUFFICIENT_CREDITS", "Insufficient credits for this request");
}

function limited(what: string): Shown {
  return text(429, "RATE_LIMIT_ERROR", `${what} limit exceeded`);
}
