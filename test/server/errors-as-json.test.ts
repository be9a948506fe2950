import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/kit/index.ts";
import { errorFormOf } from "../../src/server/error-form.ts";
import { open, send, start } from "./support.ts";

const BROKEN = new GatewayError("PROVIDER_ERROR", 'it "broke" </script>\n\u2028', { standardCode: "slow_down" });
const refusing = (error: GatewayError) => ({
  early: async ({ client }: { client: { refuse(error: unknown, headers: object): void } }) => client.refuse(error, {}),
});

describe("who asks for JSON", () => {
  test.each([
    [{}, "text"],
    [{ accept: "*/*" }, "text"],
    [{ accept: "application/json" }, "json"],
    [{ accept: "Application/JSON; charset=utf-8" }, "json"],
    [{ accept: "application/json, text/event-stream" }, "json"],
    [{ accept: "text/event-stream" }, "text"],
    [{ accept: "application/json, text/plain, */*" }, "text"],
    [{ accept: "application/json, text/*;q=0.5" }, "text"],
    [{ accept: "application/json, text/plain;q=0" }, "json"],
    [{ accept: "application/json;q=0" }, "text"],
    [{ accept: "application/jsonp" }, "text"],
    [{ "x-stainless-lang": "python" }, "sdk"],
    [{ "user-agent": "OpenAI/JS 7.55.0" }, "sdk"],
    [{ "user-agent": "AsyncOpenAI/Python 2.1.0", accept: "*/*" }, "sdk"],
    [{ "user-agent": "ai/7.0 ai-sdk/openai-compatible/3.0.1 runtime/node.js/26" }, "sdk"],
    [{ "user-agent": "curl/8.0 (about OpenAI)" }, "text"],
  ])("%j: %s", (headers, form) => {
    expect(errorFormOf(headers)).toBe(form);
  });
});

describe("a plain-text error", () => {
  const headers = { accept: "application/json" };

  test("has the same status, headers and words as JSON", async () => {
    const { port } = await start(refusing(BROKEN));
    const [plain, json] = [await send(port), await send(port, { headers })];
    expect(plain.text).toBe(BROKEN.message);
    expect(JSON.parse(json.text)).toEqual({
      error: { message: BROKEN.message, type: "api_error", code: "slow_down", param: null },
    });
    expect(json).toMatchObject({ status: plain.status, headers: { "x-error-code": plain.headers["x-error-code"] } });
    expect(json.headers["content-type"]).toBe("application/json");
  });

  test("is bounded", async () => {
    const { port } = await start(refusing(new GatewayError("INVALID_MODEL", "x".repeat(100_000))));
    const { text } = await send(port, { headers });
    expect(text.length).toBeLessThan(10_000);
    expect((JSON.parse(text) as { error: object }).error).toMatchObject({ code: "invalid_model" });
  });

  test("stays plain where the configuration says so", async () => {
    const { port } = await start({ ...refusing(BROKEN), settings: { errorFormat: "text" } });
    expect(await send(port, { headers })).toMatchObject({ text: BROKEN.message });
    const sdk = await send(port, { path: "/v1/nothing", headers: { "x-stainless-lang": "js" } });
    expect(sdk.text).toBe('{"message":"Not found"}');
  });

  test("a fault of the gateway says nothing more than that", async () => {
    const { port } = await start(refusing(new GatewayError("INTERNAL", "secret")));
    expect(JSON.parse((await send(port, { headers })).text)).toEqual({
      error: { message: "Internal server error", type: "api_error", code: null, param: null },
    });
  });

  test("is in the Messages format for its clients, wherever they ask", async () => {
    const { port } = await start(refusing(BROKEN));
    const sent = { headers: { "x-stainless-lang": "js", "anthropic-version": "2023-06-01" } };
    expect(JSON.parse((await send(port, sent)).text)).toMatchObject({ type: "error", error: { type: "api_error" } });
  });

  test.each([
    ["json", "Accept: application/json\r\n", '{"error":{"message":"Bad Request","type":"invalid_request_error"'],
    ["text", "", "Bad Request"],
  ])("of a request that two servers could read differently: %s", async (_form, fields, begins) => {
    const { port } = await start({ listen: { errorFormat: () => "auto" } });
    const connection = await open(port);
    connection.socket.write(`GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n${fields}\r\n`);
    const text = await connection.closed();
    expect(text).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(text.slice(text.indexOf("\r\n\r\n") + 4).startsWith(begins)).toBe(true);
  });
});

describe("a JSON error of the specification", () => {
  test.each([
    [{ accept: "application/json" }, '{"message":"Not found"}'],
    [
      { "x-stainless-lang": "js" },
      '{"message":"Not found","error":{"message":"Not found","type":"not_found_error","code":"unknown_path","param":null}}',
    ],
  ])("to %j", async (headers, text) => {
    const { port } = await start();
    expect(await send(port, { path: "/v1/nothing", headers })).toMatchObject({ status: 404, text });
  });
});

const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n";
const GET = "GET /v1/responses HTTP/1.1\r\nHost: x\r\n";

describe("a WebSocket at /v1/responses", () => {
  test("is a 426 that names the protocol, and nothing behind it waits for ever", async () => {
    const { port, server } = await start();
    const connection = await open(port);
    connection.socket.write(`${GET}${UPGRADE}\r\n${GET}\r\n`);
    const text = await connection.closed();
    const [head] = text.split("\r\n\r\n", 1);
    expect(head).toMatch(/^HTTP\/1.1 426 Upgrade Required\r\n/);
    expect(head).toMatch(/\r\nUpgrade: websocket\r\n/);
    expect(head).toMatch(/\r\nConnection: Upgrade\r\n/);
    expect(head).toMatch(/\r\nConnection: close\r\n/);
    expect(text).toContain('{"message":"WebSockets are not served here: use POST /v1/responses"}');
    await expect.poll(() => server.inFlight()).toBe(0);
  });

  test.each([
    ["another method", "PUT /v1/responses HTTP/1.1\r\nHost: x\r\n", UPGRADE, 405],
    ["another path", "GET /v1/chat/completions HTTP/1.1\r\nHost: x\r\n", UPGRADE, 405],
    ["another protocol", GET, "Connection: Upgrade\r\nUpgrade: h2c\r\n", 405],
    ["one of several protocols", GET, "Connection: Upgrade\r\nUpgrade: h2c, WebSocket\r\n", 426],
    ["with a query", "GET /v1/responses?model=x HTTP/1.1\r\nHost: x\r\n", UPGRADE, 426],
    ["HTTP/1.0, which has no upgrades", "GET /v1/responses HTTP/1.0\r\nHost: x\r\n", UPGRADE, 405],
  ])("%s", async (_what, line, fields, status) => {
    const { port } = await start();
    const connection = await open(port);
    connection.socket.write(`${line}${fields}\r\n`);
    const text = await connection.until((all) => all.includes("\r\n\r\n"));
    expect(text.split(" ", 2)[1]).toBe(String(status));
  });
});

test("a plain GET at /v1/responses is a 405, and its connection goes on", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(`${GET}\r\n${GET}\r\n`);
  const text = await connection.until((all) => all.split("HTTP/1.1 405").length === 3);
  expect(text).toMatch(/\r\nallow: POST\r\n/i);
});

describe("a base URL that lacks /v1, or has it twice", () => {
  test.each([
    ["POST", "/chat/completions", "the path is /v1/chat/completions; add /v1 to the client's base URL"],
    ["POST", "/messages", "the path is /v1/messages; add /v1 to the client's base URL"],
    ["POST", "/responses?x=1", "the path is /v1/responses; add /v1 to the client's base URL"],
    ["POST", "/v1/v1/messages", "the path is /v1/messages; take the second /v1 out of the client's base URL"],
    ["POST", "/v1/v1/v1/embeddings", "the path is /v1/embeddings; take the second /v1 out of the client's base URL"],
    ["POST", "/v1/v1/nothing", ""],
    ["POST", "/nothing", ""],
    ["POST", "/v1", ""],
    ["POST", "/v1/chat/completions/", ""],
  ])("%s %s", async (method, path, hint) => {
    const { port } = await start();
    const { status, text } = await send(port, { method, path });
    expect(status).toBe(404);
    expect(JSON.parse(text)).toEqual({ message: hint === "" ? "Not found" : `Not found: ${hint}` });
  });
});
