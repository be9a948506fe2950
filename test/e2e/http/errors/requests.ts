import {
  BODIES,
  CHATS,
  COUNT,
  counted,
  type ErrorCase,
  INFERENCE,
  json,
  message,
  NO_IMAGES,
  of,
  type Shown,
  text,
  TOKEN,
  typed,
  type Where,
  WITH_JSON,
} from "./case.ts";
import type { Sent } from "../../support/http.ts";

const KEY = { authorization: "Bearer <key>" };
const ONCE: Sent = { headers: { "idempotency-key": "k" } };

/** What is asked for is wrong. */
export const OF_REQUESTS: readonly ErrorCase[] = [
  ...broken(WITH_JSON, '{"model":', "must be valid JSON"),
  ...broken(["transcription"], "--", "must be a whole multipart/form-data body"),
  ...broken(BODIES, "{", "must be valid JSON", typed(TOKEN)),
  ...broken([COUNT], "{", "must be valid JSON", typed(KEY)),
  { ...refusedBy("no messages", [COUNT], '{"model":"route/one"}', "/messages is required"), headers: typed(KEY) },
  refusedBy("a key without a name", ["POST /v1/user/key"], "{}", "/name must be a string of 1 to 100 characters"),
  refusedBy("no address", ["POST /auth/login"], "{}", "/email must be an e-mail address"),
  {
    ...of("INVALID_REQUEST", "a path that is not well-formed", [
      "GET /v1/models/%zz",
      "DELETE /v1/user/key/%zz",
      "DELETE /v1/user/streams/%zz",
      "GET /auth/oauth/%zz",
      "GET /auth/oauth/%zz/callback",
    ]),
    headers: TOKEN,
    answer: wrong("/ must have a well-formed path"),
  },
  {
    ...of("INVALID_REQUEST", "a page of none", ["GET /v1/user/ledger?limit=0", "GET /v1/user/usage?limit=0"]),
    headers: TOKEN,
    answer: wrong("/limit must be a whole number from 1 to 1000"),
  },
  {
    ...of("INVALID_REQUEST", "a key that is none"),
    sent: { headers: { "idempotency-key": "" } },
    answer: wrong("Idempotency-Key must be 1 to 255 visible ASCII characters"),
  },
  {
    ...of("IDEMPOTENCY_CONFLICT", "a stream that was sent before", CHATS),
    tier: "Max",
    changes: { stream: true },
    before: 1,
    sent: ONCE,
    final: true,
    answer: text(
      409,
      "IDEMPOTENCY_CONFLICT",
      "Request req-1 with this Idempotency-Key has ended (served): its answer is not kept",
    ),
  },
  {
    ...of("IDEMPOTENCY_CONFLICT", "another request"),
    tier: "Max",
    earlier: { user: "somebody else" },
    sent: ONCE,
    answer: text(422, "IDEMPOTENCY_CONFLICT", "Idempotency-Key was sent with another request before"),
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
  ...["route/none", "route/paint"].map((model): ErrorCase => ({
    ...of("INVALID_MODEL", `not a chat model: ${model}`, [COUNT]),
    sent: { body: counted(model) },
    answer: invalid(model),
  })),
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
  {
    ...of("UNKNOWN_PATH", "no such path", [
      "GET /v1/nothing",
      "POST /v1/embedding",
      "POST /v1/messages/batches",
      "GET /v1/responses/resp_1",
      "GET /auth/oauth/nobody",
      "GET /auth/oauth/nobody/callback",
    ]),
    answer: message(404, "Not found"),
  },
  {
    ...of("METHOD_NOT_ALLOWED", "another method", [
      "GET /v1/embeddings",
      "GET /v1/messages",
      "PUT /v1/responses",
      "GET /v1/messages/count_tokens",
      "PUT /v1/audio/speech",
      "PATCH /v1/user/key",
    ]),
    answer: message(405, "Method not allowed"),
  },
  {
    ...of("UPGRADE_REQUIRED", "a WebSocket", ["GET /v1/responses"]),
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "eA==",
    },
    answer: message(426, "WebSockets are not served here: use POST /v1/responses"),
  },
  {
    ...of("UNKNOWN_PATH", "a base URL without /v1", ["POST /chat/completions"]),
    answer: message(404, "Not found: the path is /v1/chat/completions; add /v1 to the client's base URL"),
  },
  {
    ...of("UNKNOWN_PATH", "a base URL with /v1 twice", ["GET /v1/v1/models/route/one"]),
    answer: message(
      404,
      "Not found: the path is /v1/models/route/one; take the second /v1 out of the client's base URL",
    ),
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
  ...[{ body: "x".repeat(262_145) }, { body: `${" ".repeat(262_144)}{`, chunked: true }].map((sent): ErrorCase => ({
    ...of("REQUEST_TOO_LARGE", sent.chunked ? "a body that is too long, in pieces" : "a body that is too long", [
      COUNT,
    ]),
    headers: typed(KEY),
    sent,
    answer: text(413, "REQUEST_TOO_LARGE", "Request body exceeds the limit of 262144 bytes"),
  })),
  ...typeRefused(WITH_JSON, "application/json", { headers: { "content-type": "text/plain" } }),
  ...typeRefused(["transcription"], "multipart/form-data", { headers: { "content-type": "application/json" } }),
  {
    ...of("UNSUPPORTED_MEDIA_TYPE", "a compressed body"),
    sent: { headers: { "content-encoding": "gzip" } },
    answer: text(415, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be identity"),
  },
  {
    ...typeRefused(BODIES, "application/json", { body: "{}" })[0]!,
    headers: { ...TOKEN, "content-type": "text/plain" },
  },
  {
    ...typeRefused([COUNT], "application/json", { body: "{}" })[0]!,
    headers: { ...KEY, "content-type": "text/plain" },
  },
];

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

function wrong(what: string): Shown {
  return text(400, "INVALID_REQUEST", `Invalid request: ${what}`);
}

function invalid(model: string): Shown {
  return text(400, "INVALID_MODEL", `Invalid model: '${model}'`);
}

function noModel(): Shown {
  return json(404, { error: "Model not found" });
}
