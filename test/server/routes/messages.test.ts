import { describe, expect, test } from "vitest";
import { GatewayError, type InferenceRequest } from "../../../src/kit/index.ts";
import { GOOD, send, start } from "../support.ts";

const PATH = "/v1/messages";
const VERSION = { "anthropic-version": "2023-06-01" };
const HEADERS = { "x-api-key": GOOD, "content-type": "application/json", "x-request-id": "r-1" };
const BODY = JSON.stringify({ model: "route/x", max_tokens: 10, messages: [{ role: "user", content: "hi" }] });

const refuse =
  (error: unknown) =>
  async ({ client }: InferenceRequest) =>
    client.refuse(error, { "X-Test": "1" });
const shown = (type: string, message: string) =>
  JSON.stringify({ type: "error", error: { type, message }, request_id: "r-1" });

describe("a Messages request", () => {
  test.each([PATH, `${PATH}?beta=true`, `${PATH}?`])("on %s is read as one, by the path alone", async (path) => {
    const { port, requests } = await start();
    const headers = { ...HEADERS, ...VERSION, "anthropic-beta": "a-1,b-2" };
    const { status, headers: answered } = await send(port, { path, headers, body: BODY });
    expect(status).toBe(200);
    expect([answered["request-id"], answered["x-request-id"]]).toEqual(["r-1", "r-1"]);
    expect(requests.map(({ head }) => [head.endpoint, head.credentials])).toEqual([
      ["messages", { kind: "key", value: GOOD }],
    ]);
  });

  test("takes its version and betas along, and no header beside", async () => {
    const seen: unknown[] = [];
    const { port } = await start({
      async run({ body, client }) {
        seen.push(body!.call.headers);
        client.answer(200, "application/json", "{}", {});
      },
    });
    const more = { ...VERSION, "anthropic-beta": "a-1,b-2", cookie: "x=1", "x-app": "cli" };
    await send(port, { path: PATH, headers: { ...HEADERS, ...more }, body: BODY });
    await send(port, { path: PATH, headers: HEADERS, body: BODY });
    expect(seen).toEqual([{ ...VERSION, "anthropic-beta": "a-1,b-2" }, undefined]);
  });

  test.each(["2023-06-01", "2026-10-21", "nonsense", ""])(
    "anthropic-version %j: errors in the Messages format",
    async (version) => {
      const { port } = await start();
      const headers = { ...HEADERS, "anthropic-version": version, "x-api-key": "rk_bad" };
      const { status, headers: answered, text } = await send(port, { path: PATH, headers, body: BODY });
      expect([status, answered["content-type"], answered["x-error-code"], text]).toEqual([
        401,
        "application/json",
        "AUTHENTICATION_ERROR",
        shown("authentication_error", "Invalid API key"),
      ]);
    },
  );

  test("a fault of the gateway says nothing, in either form", async () => {
    const { port } = await start({ early: refuse(new TypeError("secret detail")) });
    const plain = await send(port, { path: PATH, headers: HEADERS, body: BODY });
    const own = await send(port, { path: PATH, headers: { ...HEADERS, ...VERSION }, body: BODY });
    expect([plain.status, plain.text]).toEqual([500, "Internal server error"]);
    expect([own.status, own.text]).toEqual([500, shown("api_error", "Internal server error")]);
    for (const { headers } of [plain, own]) expect([headers["request-id"], headers["x-test"]]).toEqual(["r-1", "1"]);
  });

  test("other endpoints keep their errors, whatever the header says", async () => {
    const { port } = await start({ early: refuse(new GatewayError("INVALID_MODEL", "Invalid model: 'x'")) });
    for (const path of ["/v1/chat/completions", "/v1/responses", "/v1/images/generations"]) {
      const { text, headers } = await send(port, { path, headers: { ...HEADERS, ...VERSION }, body: BODY });
      expect([text, headers["request-id"]]).toEqual(["Invalid model: 'x'", undefined]);
    }
  });
});

test.each([
  ["POST", "/v1/messages/", 404, "not_found_error", "Not found"],
  ["POST", "/v1/messages/batches", 404, "not_found_error", "Not found"],
  ["GET", "/v1/messages/batches/b1?limit=1", 404, "not_found_error", "Not found"],
  ["POST", "/v1/messages/count_tokens/", 404, "not_found_error", "Not found"],
  ["GET", "/v1/messages", 405, "invalid_request_error", "Method not allowed"],
  ["DELETE", "/v1/messages?beta=true", 405, "invalid_request_error", "Method not allowed"],
])("%s %s with a version: %i in the Messages format", async (method, path, status, type, message) => {
  const { port } = await start();
  const headers = { ...HEADERS, "anthropic-version": "2026-10-21" };
  const answer = await send(port, { method, path, headers, body: method === "POST" ? BODY : "" });
  expect([answer.status, answer.headers["content-type"], answer.headers["request-id"]]).toEqual([
    status,
    "application/json",
    "r-1",
  ]);
  expect(answer.headers.allow).toBe(status === 405 ? "POST" : undefined);
  expect(answer.text).toBe(shown(type, message));
});

test("other paths keep their 404, whatever the header says", async () => {
  const { port } = await start();
  const { text, headers } = await send(port, {
    path: "/v1/message",
    headers: { ...HEADERS, ...VERSION },
    body: BODY,
  });
  expect([text, headers["request-id"]]).toEqual(['{"message":"Not found"}', undefined]);
});

test.each([
  ["POST", "/v1/messages/", 404, undefined],
  ["POST", "/v1/Messages", 404, undefined],
  ["POST", "/v1/messages/batches", 404, undefined],
  ["POST", "/v1/responses/resp_1/cancel", 404, undefined],
  ["HEAD", "/", 404, undefined],
  ["GET", "/", 404, undefined],
  ["GET", "/v1/messages", 405, "POST"],
  ["DELETE", "/v1/responses", 405, "POST"],
  ["HEAD", "/v1/messages", 405, "POST"],
])("%s %s is refused politely: %i", async (method, path, status, allow) => {
  const { port, requests } = await start();
  const answer = await send(port, { method, path, headers: HEADERS, body: method === "POST" ? BODY : "" });
  expect([answer.status, answer.headers.allow, answer.headers["x-request-id"]]).toEqual([status, allow, "r-1"]);
  const message = status === 404 ? "Not found" : "Method not allowed";
  expect(answer.text).toBe(method === "HEAD" ? "" : JSON.stringify({ message }));
  expect(requests).toEqual([]);
});
