import { expect, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import type { Json } from "../../../src/kit/index.ts";
import { pdf, png } from "../../support/media.ts";
import { testModel, testSnapshot } from "../../support/snapshot.ts";
import { send, waitFor } from "../support.ts";
import { bearer, startRoutes, TOKEN } from "./support.ts";

const PATH = "/v1/messages/count_tokens";
const VERSION = { "anthropic-version": "2023-06-01" };
const JSON_TYPE = { "content-type": "application/json" };
const GOOD = { model: "route/free", messages: [{ role: "user", content: "Hello there" }] };
const ROLE = "user".length + 1;

/** What the tests' tokenizer counts is characters. */
async function startCounting(parts: Parameters<typeof startRoutes>[0] = {}) {
  const counted: string[] = [];
  const routes = await startRoutes({
    ...parts,
    parts: {
      tokensIn: async (text) => {
        counted.push(text);
        return text.length;
      },
      ...parts.parts,
    },
  });
  const count = (body: unknown, headers: Record<string, string> = {}) =>
    routes.ask(
      "POST",
      PATH,
      { ...bearer(routes.key), ...JSON_TYPE, ...headers },
      typeof body === "string" ? body : JSON.stringify(body),
    );
  return { ...routes, counted, count };
}

test("the answer is the count alone, by a key in either header, with or without a query", async () => {
  const { ask, key, counted, count } = await startCounting();
  const answer = { status: 200, text: `{"input_tokens":${"Hello there".length + ROLE}}` };
  expect(await count(GOOD)).toMatchObject(answer);
  expect(
    await ask("POST", `${PATH}?beta=true`, { "x-api-key": key, ...JSON_TYPE }, JSON.stringify(GOOD)),
  ).toMatchObject(answer);
  expect(new Set(counted)).toEqual(new Set(["Hello there\nuser"]));
});

test("its request id is sent under both names", async () => {
  const { count } = await startCounting();
  for (const body of [GOOD, {}]) {
    const { headers } = await count(body, { "x-request-id": "r-1" });
    expect([headers["x-request-id"], headers["request-id"]]).toEqual(["r-1", "r-1"]);
  }
});

test.each<[Json, string]>([
  [{ system: "Be brief." }, "Be brief."],
  [{ system: [{ type: "text", text: "Be kind." }] }, "Be kind."],
  [
    { tools: [{ name: "look_up", description: "Looks things up", input_schema: { type: "object" } }] },
    "Looks things up",
  ],
  [{ messages: [{ role: "user", content: [{ type: "text", text: "In a block" }] }] }, "In a block"],
  [
    {
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: { city: "Oslo" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "sunny" }] },
      ],
    },
    "sunny",
  ],
])("%j is counted", async (more, text) => {
  const { count, counted } = await startCounting();
  expect((await count({ ...GOOD, ...more })).status).toBe(200);
  expect(counted[0]).toContain(text);
});

test("no max_tokens is needed, and further fields are no error", async () => {
  const { count } = await startCounting();
  for (const more of [{}, { max_tokens: 5 }, { thinking: { type: "adaptive" } }, { future: [1] }]) {
    expect((await count({ ...GOOD, ...more })).status).toBe(200);
  }
});

const REFUSED: readonly (readonly [string, unknown, Record<string, string>, number, string | undefined, string])[] = [
  ["nobody", GOOD, { authorization: "" }, 401, undefined, "Authentication required"],
  ["an unknown key", GOOD, { "x-api-key": "rk_x" }, 401, "AUTHENTICATION_ERROR", "Invalid API key"],
  ["an access token", GOOD, bearer(TOKEN), 401, "AUTHENTICATION_ERROR", "Authentication failed"],
  ["a bad token", GOOD, bearer("a.b.c"), 401, undefined, "Invalid or expired token"],
  [
    "another type",
    GOOD,
    { "content-type": "text/plain" },
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    "Content-Type must be application/json",
  ],
  ["no JSON", "{", {}, 400, "INVALID_REQUEST", "Invalid request: / must be valid JSON"],
  ["no model", { messages: GOOD.messages }, {}, 400, "INVALID_REQUEST", "Invalid request: /model is required"],
  ["no messages", { model: "route/free" }, {}, 400, "INVALID_REQUEST", "Invalid request: /messages is required"],
  ["an unknown model", { ...GOOD, model: "route/none" }, {}, 400, "INVALID_MODEL", "Invalid model: 'route/none'"],
  [
    "a name of every object",
    { ...GOOD, model: "constructor" },
    {},
    400,
    "INVALID_MODEL",
    "Invalid model: 'constructor'",
  ],
  [
    "a model of another kind",
    { ...GOOD, model: "route/embed" },
    {},
    400,
    "INVALID_MODEL",
    "Invalid model: 'route/embed'",
  ],
  [
    "a plan without the model",
    { ...GOOD, model: "route/max" },
    {},
    403,
    "MODEL_NOT_ALLOWED",
    "Model 'route/max' is not available on your plan",
  ],
];

test.each(REFUSED)("%s is refused, in both forms", async (_, body, headers, status, code, message) => {
  const models = [
    testModel("route/free"),
    testModel("route/max", { tier: "Max" }),
    testModel("route/embed", { kind: "embedding" }),
  ];
  const { count, counted } = await startCounting({ snapshot: () => testSnapshot({ models }) });
  const plain = await count(body, headers);
  expect([plain.status, plain.headers["x-error-code"]]).toEqual([status, code]);
  expect(plain.text).toBe(code === undefined ? JSON.stringify({ message }) : message);
  const own = await count(body, { ...headers, ...VERSION });
  expect([own.status, own.headers["x-error-code"], own.headers["content-type"]]).toEqual([
    status,
    code,
    "application/json",
  ]);
  expect(JSON.parse(own.text)).toMatchObject({ type: "error", error: { message } });
  expect(counted).toEqual([]);
});

test("a body may be as long as that of an inference request", async () => {
  const { count } = await startCounting();
  const long = "word ".repeat(100_000);
  expect(await count({ ...GOOD, messages: [{ role: "user", content: long }] })).toMatchObject({
    status: 200,
    text: `{"input_tokens":${long.length + ROLE}}`,
  });
  const { status, text } = await count({ ...GOOD, messages: [{ role: "user", content: "x".repeat(1024 * 1024) }] });
  expect([status, text]).toEqual([413, "Request body exceeds the limit of 1048576 bytes"]);
});

test("four are counted at once for a user, the fifth is told to wait", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const { count } = await startCounting({
    parts: {
      async tokensIn(text) {
        running += 1;
        await gate.promise;
        return text.length;
      },
    },
  });
  const four = [1, 2, 3, 4].map(() => count(GOOD));
  await waitFor(() => running === 4);
  expect(await count(GOOD)).toMatchObject({
    status: 429,
    text: "Concurrent count_tokens limit exceeded",
    headers: { "x-error-code": "RATE_LIMIT_ERROR", "retry-after": "1" },
  });
  gate.resolve();
  for (const { status } of await Promise.all(four)) expect(status).toBe(200);
  expect((await count(GOOD)).status).toBe(200);
});

test("more than 4 MiB is too much, however long inference requests may be", async () => {
  const { count } = await startCounting({
    snapshot: () => ({ ...testSnapshot(), server: { ...testSnapshot().server, bodyLimit: 32 * 1024 * 1024 } }),
  });
  const long = { ...GOOD, messages: [{ role: "user", content: "x".repeat(4 * 1024 * 1024) }] };
  expect(await count(long)).toMatchObject({ status: 413, text: "Request body exceeds the limit of 4194304 bytes" });
});

test("a fault of the tokenizer is a 500 that says nothing, and is logged", async () => {
  const { count, lines } = await startCounting({
    parts: { tokensIn: () => Promise.reject(new TypeError("secret detail")) },
  });
  const { status, text } = await count(GOOD);
  expect([status, text]).toEqual([500, "Internal server error"]);
  const own = await count(GOOD, { ...VERSION, "x-request-id": "r-1" });
  expect([own.status, JSON.parse(own.text)]).toEqual([
    500,
    { type: "error", error: { type: "api_error", message: "Internal server error" }, request_id: "r-1" },
  ]);
  expect(lines.map(({ message }) => message)).toContain("request failed");
});

test("the address's limit comes first, in the form that the client reads", async () => {
  const { count } = await startCounting({ settings: { ipLimit: { requests: 1, window: 3_600_000 } } });
  expect((await count(GOOD)).status).toBe(200);
  const plain = await count(GOOD);
  const own = await count(GOOD, VERSION);
  expect([plain.status, own.status]).toEqual([429, 429]);
  expect(JSON.parse(plain.text)).toMatchObject({ message: "Rate limit exceeded. Please try again later." });
  expect(JSON.parse(own.text)).toMatchObject({ error: { type: "rate_limit_error" } });
});

test("its bodies take their room in memory, and give it back", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const long = { ...GOOD, messages: [{ role: "user", content: "x".repeat(600) }] };
  const { count } = await startCounting({
    // A quarter of it, which is one user's, is one such body and not two.
    settings: { bodyMemory: 4_000 },
    parts: {
      async tokensIn(text) {
        running += 1;
        await gate.promise;
        return text.length;
      },
    },
  });
  const first = count(long);
  await waitFor(() => running === 1);
  for (const refused of [await count(long), await count(long)]) {
    expect(refused).toMatchObject({ status: 503, text: "Server is busy", headers: { "x-error-code": "OVERLOADED" } });
  }
  gate.resolve();
  expect((await first).status).toBe(200);
  expect((await count({ messages: [] })).status).toBe(400);
  for (let again = 0; again < 3; again += 1) expect((await count(long)).status).toBe(200);
});

test("each user has a budget of bytes a minute; refused counts take nothing of it", async () => {
  let now = Date.UTC(2027, 0, 15, 8, 30, 15);
  const body = JSON.stringify(GOOD);
  const base = testSnapshot();
  const server = { ...base.server, countBudget: 2 * body.length + 10 };
  const { count, counted, ask, store } = await startCounting({
    now: () => now,
    snapshot: () => ({ ...base, server }),
    parts: { now: () => now },
  });
  expect((await count(body)).status).toBe(200);
  expect((await count({ ...GOOD, model: "route/none" })).status).toBe(400);
  expect((await count({ model: "route/free" })).status).toBe(400);
  expect((await count(body)).status).toBe(200);
  const refused = await count(body);
  expect(refused).toMatchObject({
    status: 429,
    text: "Per-minute count_tokens budget exceeded",
    headers: { "x-error-code": "RATE_LIMIT_ERROR", "retry-after": "45" },
  });
  expect(JSON.parse((await count(body, VERSION)).text)).toMatchObject({ error: { type: "rate_limit_error" } });
  expect(counted.length).toBe(2);
  // Another user has a budget of its own.
  const { body: bobs } = await createKey(store, { userId: "bob", name: "first" });
  expect((await ask("POST", PATH, { ...bearer(bobs.key), ...JSON_TYPE }, body)).status).toBe(200);
  now += 45_000;
  expect((await count(body)).status).toBe(200);
  // What would never fit is too large, not too early.
  const { status, text } = await count({ ...GOOD, system: "x".repeat(2 * body.length) });
  expect([status, text]).toEqual([413, `Request body exceeds the limit of ${server.countBudget} bytes`]);
});

test("a body without a length is measured when it has come", async () => {
  const body = JSON.stringify(GOOD);
  const base = testSnapshot();
  const { port, key } = await startCounting({
    snapshot: () => ({ ...base, server: { ...base.server, countBudget: body.length + 10 } }),
  });
  const chunked = () => send(port, { path: PATH, headers: { ...bearer(key), ...JSON_TYPE }, body, chunked: true });
  expect([(await chunked()).status, (await chunked()).status]).toEqual([200, 429]);
});

test.each<[what: string, Json, tokens: number]>([
  ["an image by its address", { type: "image", source: { type: "url", url: "https://media.example/a.png" } }, 1_600],
  [
    "an image of a known size",
    { type: "image", source: { type: "base64", media_type: "image/png", data: png(1_000, 1_000).toString("base64") } },
    1_296,
  ],
  [
    "a document by its address",
    { type: "document", source: { type: "url", url: "https://media.example/a.pdf" } },
    3_000,
  ],
  [
    "a document of known pages",
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf(2).toString("base64") } },
    6_000,
  ],
])("%s counts as its provider counts it", async (_, part, tokens) => {
  const { count, counted } = await startCounting();
  const results = [
    { role: "user", content: [part] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [part] }] },
  ];
  for (const message of results) {
    const { text } = await count({ ...GOOD, messages: [message] });
    // What the tests' tokenizer counts are characters.
    expect(JSON.parse(text)).toEqual({ input_tokens: tokens + counted.at(-1)!.length });
  }
});
