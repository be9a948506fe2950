import { expect, test } from "vitest";
import { GatewayError, type InferenceRequest, type Kind } from "../../../src/kit/index.ts";
import { GOOD, send, start } from "../support.ts";

const HEADERS = { authorization: `Bearer ${GOOD}`, "content-type": "application/json" };

const BODIES: readonly (readonly [path: string, endpoint: string, kind: Kind, body: object])[] = [
  ["/v1/chat/completions", "chat", "chat", { messages: [] }],
  ["/v1/embeddings", "embeddings", "embedding", { input: "text" }],
  ["/v1/rerank", "rerank", "rerank", { query: "q", documents: ["a"] }],
  ["/v2/rerank", "rerank", "rerank", { query: "q", documents: ["a"], max_tokens_per_doc: 4096, priority: 0 }],
  ["/v1/audio/speech", "speech", "speech", { input: "text", voice: "v" }],
  ["/v1/images/generations", "image", "image", { prompt: "a cat" }],
];

test.each(BODIES)("%s is read as its own kind and checked by its own schema", async (path, endpoint, kind, body) => {
  const checked: string[] = [];
  const { port, requests } = await start({
    validateBody(checkedEndpoint) {
      checked.push(checkedEndpoint);
      return null;
    },
    async run({ body, client }) {
      const { call, format } = body!;
      client.answer(200, format.contentType, JSON.stringify(call), {});
    },
  });
  const answer = await send(port, { path, headers: HEADERS, body: JSON.stringify({ model: "route/x", ...body }) });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({ kind, model: "route/x", stream: false });
  expect(requests[0]!.head.endpoint).toBe(endpoint);
  expect(checked).toEqual([endpoint]);
});

test.each(["/v1/embeddings", "/v1/rerank", "/v2/rerank", "/v1/audio/speech", "/v1/images/generations"])(
  "%s: what its schema refuses is a 400 that names the place, and other methods are 405",
  async (path) => {
    const { port } = await start();
    const refused = await send(port, { path, headers: HEADERS, body: "{}" });
    expect(refused).toMatchObject({ status: 400, text: "Invalid request: /model is required" });
    const wrong = await send(port, { path, method: "GET", headers: HEADERS });
    expect(wrong).toMatchObject({ status: 405, headers: { allow: "POST" } });
  },
);

function refusing(error: unknown): (request: InferenceRequest) => Promise<void> {
  return async ({ client }) => client.refuse(error, { "X-RateLimit-Limit-Day": "5" });
}

test.each([
  [new GatewayError("PROVIDER_ERROR", "It broke", { permanent: true }), 502, { "x-should-retry": "false" }],
  [new GatewayError("PROVIDER_TIMEOUT", "It broke", { retryAfter: 1 }), 504, { "retry-after": "1" }],
  [new GatewayError("CIRCUIT_BREAKER_OPEN", "It broke"), 503, { "retry-after": "1" }],
])(
  "an image route's upstream failure is JSON with the table's status and headers: %s",
  async (error, status, headers) => {
    const { port } = await start({ early: refusing(error) });
    const image = await send(port, { path: "/v1/images/generations" });
    expect(image.status).toBe(status);
    expect(JSON.parse(image.text)).toEqual({ error: { message: "It broke", type: "api_error" } });
    expect(image.headers).toMatchObject({
      ...headers,
      "content-type": "application/json",
      "x-error-code": error.code,
      "x-ratelimit-limit-day": "5",
    });
    expect(await send(port, { path: "/v1/audio/speech" })).toMatchObject({ status, text: "It broke" });
  },
);

test.each([
  [new GatewayError("MODEL_NOT_FOUND", "Model not found"), 404, '{"error":"Model not found"}', undefined],
  [new GatewayError("AUTHENTICATION_ERROR", "Invalid API key"), 401, "Invalid API key", "AUTHENTICATION_ERROR"],
  [new Error("a fault"), 500, "Internal server error", undefined],
])("an image route's other errors are the table's: %s", async (error, status, text, code) => {
  const { port } = await start({ early: refusing(error) });
  const answer = await send(port, { path: "/v1/images/generations" });
  expect(answer).toMatchObject({ status, text });
  expect(answer.headers["x-error-code"]).toBe(code);
});
