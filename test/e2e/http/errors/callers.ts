import {
  BODIES,
  CHATS,
  COUNT,
  counted,
  type ErrorCase,
  INFERENCE,
  json,
  KEYED,
  KEYS,
  message,
  of,
  SCOPED,
  type Shown,
  text,
  TOKEN,
  typed,
} from "./case.ts";

/** Who asks may not. */
export const OF_CALLERS: readonly ErrorCase[] = [
  { ...of("AUTHENTICATION_REQUIRED", "nobody", [...INFERENCE, ...KEYED, COUNT]), headers: {}, answer: required() },
  {
    ...of("AUTHENTICATION_REQUIRED", "another scheme", [...INFERENCE, ...KEYED, COUNT]),
    headers: { authorization: "Basic <key>" },
    answer: required(),
  },
  ...["Bearer", "key"].map((how): ErrorCase => ({
    ...of("AUTHENTICATION_ERROR", `an unknown key as ${how}`, [...INFERENCE, ...KEYED, COUNT]),
    headers: how === "key" ? { "x-api-key": "<unknown>" } : { authorization: "Bearer <unknown>" },
    answer: text(401, "AUTHENTICATION_ERROR", "Invalid API key"),
  })),
  {
    ...of("AUTHENTICATION_ERROR", "an access token where a key is needed", [...INFERENCE, COUNT]),
    headers: TOKEN,
    answer: text(401, "AUTHENTICATION_ERROR", "Authentication failed"),
  },
  {
    ...of("INVALID_TOKEN", "no key and no token", [...INFERENCE, ...KEYED, ...KEYS, COUNT]),
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
  {
    ...of("KEY_RESTRICTED", "a key from elsewhere", [...INFERENCE, ...KEYED, COUNT]),
    limits: { addresses: ["192.0.2.0/24"] },
    answer: text(403, "KEY_RESTRICTED", "This API key may not be used from this address"),
  },
  ...([["inference", [...INFERENCE, COUNT]], ...SCOPED] as const).map(([scope, on]): ErrorCase => ({
    ...of("KEY_RESTRICTED", `a key without the scope ${scope}`, on),
    limits: { scopes: [scope === "usage" ? "inference" : "usage"] },
    answer: text(403, "KEY_RESTRICTED", `This API key does not have the scope '${scope}'`),
  })),
  ...INFERENCE.map((endpoint): ErrorCase => ({
    ...of("MODEL_NOT_ALLOWED", "a plan without the model", [endpoint]),
    tier: "Free",
    suffix: "-max",
    answer: text(403, "MODEL_NOT_ALLOWED", `Model '<model>-max' is not available on your plan`),
  })),
  {
    ...of("MODEL_NOT_ALLOWED", "a plan without the model", [COUNT]),
    tier: "Free",
    sent: { body: counted("route/one-max") },
    answer: text(403, "MODEL_NOT_ALLOWED", "Model 'route/one-max' is not available on your plan"),
  },
  {
    ...of("NOT_FOUND", "an unknown key", ["DELETE /v1/user/key/key_123"]),
    headers: TOKEN,
    answer: text(404, "NOT_FOUND", "API key not found"),
  },
  {
    ...of("NOT_FOUND", "an unknown key", ["PATCH /v1/user/key/key_123", "POST /v1/user/key/key_123/roll"]),
    headers: typed(TOKEN),
    sent: { body: { name: "x" } },
    answer: text(404, "NOT_FOUND", "API key not found"),
  },
  {
    ...of("NOT_FOUND", "an unknown stream", ["DELETE /v1/user/streams/stream_123"]),
    answer: text(404, "NOT_FOUND", "No such stream"),
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
    ...of("RATE_LIMIT_ERROR", "the limit of concurrent streams", CHATS),
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
    ...of("IP_RATE_LIMIT", "too many requests of one address", [...INFERENCE, ...KEYED, ...KEYS, ...BODIES, COUNT]),
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
];

function required(): Shown {
  return message(401, "Authentication required");
}

function poor(): Shown {
  return text(402, "INSUFFICIENT_CREDITS", "Insufficient credits for this request");
}

function limited(what: string): Shown {
  return text(429, "RATE_LIMIT_ERROR", `${what} limit exceeded`);
}
