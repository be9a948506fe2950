import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { dataOf, shown } from "../support/http.ts";
import { MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { "route/dear": ["-"] },
    config: {
      server: { body_limit: "16MiB" },
      models: { "route/dear": { price: { input_per_million: 1_000, output_per_million: 1_000 } } },
    },
  });
});
beforeEach(async () => {
  user = await gateway.user();
});
afterAll(() => gateway.close());

/** Sends a body, and expects a 400 that changes nothing. */
async function expectRefused(body: string, code: string, text: string): Promise<void> {
  const before = await gateway.books(user);
  const asked = gateway.simulator.ledger().length;
  expect(shown(await gateway.chat(user, {}, { body }))).toEqual([400, code, "text/plain; charset=utf-8", text]);
  expect(await gateway.books(user)).toEqual(before);
  expect(gateway.simulator.ledger()).toHaveLength(asked);
}

const good = { model: "route/one", messages: MESSAGES };
const say = (value: unknown): string => JSON.stringify(value);
const withMessage = (message: unknown): string => say({ ...good, messages: [message] });

const withKeys = (length: number): string => {
  const keys = Array.from({ length }, (_, index) => `"k${index}":"${"x".repeat(50)}"`).join();
  return `{"model":"route/one","messages":[{"role":"user","content":"a"}],${keys}}`;
};

describe("bodies that are not what the endpoint takes", () => {
  test.each([
    ["", "/ must not be empty"],
    [" ", "/ must be valid JSON"],
    ["{", "/ must be valid JSON"],
    ["{'model':1}", "/ must be valid JSON"],
    [`${say(good)} trailing`, "/ must be valid JSON"],
    [`\uFEFF${say(good)}`, "/ must be valid JSON"],
    ["null", "/ must be an object"],
    ["[]", "/ must be an object"],
    ["5", "/ must be an object"],
    ['"text"', "/ must be an object"],
    ["{}", "/model is required"],
    [say({ model: "route/one" }), "/messages is required"],
    [say({ ...good, model: 5 }), "/model must be a string"],
    [say({ ...good, model: null }), "/model must be a string"],
    [say({ ...good, model: ["route/one"] }), "/model must be a string"],
    [say({ ...good, model: "" }), "/model must not be empty"],
    [say({ ...good, messages: [] }), "/messages must not be empty"],
    [say({ ...good, messages: "hi" }), "/messages must be an array"],
    [say({ ...good, messages: [MESSAGES[0], 5] }), "/messages/1 must be an object"],
    [withMessage({ content: "hi" }), "/messages/0/role is required"],
    [withMessage({ role: 5, content: "hi" }), "/messages/0/role must be a string"],
    [withMessage({ role: "user", content: 5 }), "/messages/0/content must be a string, an array or null"],
    [withMessage({ role: "user", content: ["x"] }), "/messages/0/content/0 must be an object"],
    [say({ ...good, stream: "true" }), "/stream must be a boolean or null"],
    [say({ ...good, temperature: "hot" }), "/temperature must be a number or null"],
    [say({ ...good, max_tokens: 0 }), "/max_tokens must be at least 1"],
    [say({ ...good, max_tokens: -1 }), "/max_tokens must be at least 1"],
    [say({ ...good, max_tokens: 1.5 }), "/max_tokens must be an integer or null"],
    [say({ ...good, max_tokens: "9" }), "/max_tokens must be an integer or null"],
    [say({ ...good, n: 0 }), "/n must be at least 1"],
    [say({ ...good, tools: "x" }), "/tools must be an array or null"],
    [say({ ...good, tools: [{ type: "function", function: {} }] }), "/tools/0/function/name is required"],
    [say({ ...good, tool_choice: 5 }), "/tool_choice must be a string, an object or null"],
    [
      say({ ...good, stream_options: { include_usage: "yes" } }),
      "/stream_options/include_usage must be a boolean or null",
    ],
    [
      '{"model":"route/one","messages":[{"role":"user","content":"a"}],"max_tokens":1e400}',
      "/max_tokens must be an integer or null",
    ],
    [
      '{"model":"route/one","messages":[{"role":"user","content":"a"}],"temperature":1e400}',
      "/temperature must be a number or null",
    ],
  ])("%s", async (body, what) => {
    expect.hasAssertions();
    await expectRefused(body, "INVALID_REQUEST", `Invalid request: ${what}`);
  });

  test("bytes that are not UTF-8", async () => {
    const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: Buffer.from('{"model":"route/\xff"}', "latin1"),
    });
    expect([response.status, await response.text()]).toEqual([400, "Invalid request: / must be UTF-8"]);
  });
});

describe("bodies beyond the specification that are served and travel on", () => {
  test.each<[string, Json]>([
    [
      "other roles and content parts",
      {
        messages: [
          { role: "developer", content: [{ type: "text", text: "Hello there" }] },
          { role: "user", content: "x" },
        ],
      },
    ],
    [
      "null for what is optional",
      {
        temperature: null,
        max_tokens: null,
        stream: null,
        stream_options: null,
        tools: null,
        stop: null,
        n: null,
        user: null,
      },
    ],
    [
      "a tool choice that is an object",
      {
        tools: [{ type: "function", function: { name: "f" } }],
        tool_choice: { type: "function", function: { name: "f" } },
      },
    ],
    ["fields nobody knows", { future: { deep: [1, { a: null }] }, "x-y/z~": 1 }],
    ["lone surrogates", { messages: [{ role: "user", content: "\ud800 and \udfff" }], user: "\udc00" }],
    [
      "text of many languages, control characters",
      { messages: [{ role: "user", content: "\u0000\u2028\u202e\u{1f600} 漢字" }] },
    ],
  ])("%s", async (_, body) => {
    const answer = await gateway.chat(user, body);
    expect([answer.status, answer.text.includes('"model":"route/one"')]).toEqual([200, true]);
    const streamed = await gateway.chat(user, { ...body, stream: true });
    expect([streamed.status, dataOf(streamed.text).at(-1)]).toEqual([200, "[DONE]"]);
  });
});

const nested = (levels: number): string =>
  `{"model":"route/one","messages":[{"role":"user","content":"a"}],"x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

describe("hostile bodies", () => {
  test("200 levels are served, 201 and 200,000 are not", async () => {
    expect((await gateway.chat(user, {}, { body: nested(200) })).status).toBe(200);
    const text = "Invalid request: / must not be nested deeper than 200 levels";
    await expectRefused(nested(201), "INVALID_REQUEST", text);
    await expectRefused(nested(200_000), "INVALID_REQUEST", text);
    // Refused before it is parsed, and so before it is known to be no JSON.
    await expectRefused("[".repeat(200_000), "INVALID_REQUEST", text);
  });

  test("nine thousand keys and ten megabytes of text are no more than work, a hundred thousand keys are refused", async () => {
    expect((await gateway.chat(user, {}, { body: withKeys(9_000) })).status).toBe(200);
    const text = "Invalid request: / must not have more than 10000 different names of fields";
    await expectRefused(withKeys(100_000), "INVALID_REQUEST", text);
    const rich = await gateway.user({ credits: "1000" });
    const long = "word ".repeat(2_000_000);
    const answer = await gateway.chat(rich, { messages: [{ role: "user", content: long }] });
    expect([answer.status, (JSON.parse(answer.text) as { usage: Json }).usage["prompt_tokens"]]).toEqual([
      200, 2_000_000,
    ]);
  });

  test("names of prototypes are plain data, in the body and as a model", async () => {
    const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"model":"route/one",
      "messages":[{"role":"user","content":"a","__proto__":{"role":"system"}}]}`;
    expect((await gateway.chat(user, {}, { body })).status).toBe(200);
    expect(({} as Json)["polluted"]).toBeUndefined();
    for (const model of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      await expectRefused(say({ ...good, model }), "INVALID_MODEL", `Invalid model: '${model}'`);
    await expectRefused(
      '{"__proto__":{"model":"route/one","messages":[{"role":"user"}]}}',
      "INVALID_REQUEST",
      "Invalid request: /model is required",
    );
  });

  test.each([
    "route/one\r\nX-Evil: 1",
    "route/one%0d%0aX-Evil: 1",
    "route/one\u0000",
    "route/one\u010d\u010a",
    "route/\u202eeno",
    "route/../one",
    "route/one#",
    "route/one ",
    "ROUTE/ONE",
    "route/\ud800",
    "<script>alert(1)</script>",
    "x".repeat(10_240),
  ])("a model that is no identifier is unknown, whatever it is made of (%#)", async (model) => {
    const answer = await gateway.chat(user, { model });
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "INVALID_MODEL"]);
    expect(answer.text).toBe(`Invalid model: '${model.toWellFormed()}'`);
    expect(answer.headers).not.toHaveProperty("x-evil");
  });

  test("of a field that is there twice, the one that is priced is the one that is sent on", async () => {
    const messages = JSON.stringify(MESSAGES.slice(0, 1));
    const body = `{"model":"route/one","model":"route/dear","max_tokens":1,"max_tokens":3,"messages":${messages}}`;
    const answer = await gateway.chat(user, {}, { body });
    expect(JSON.parse(answer.text)).toMatchObject({
      model: "route/dear",
      usage: { prompt_tokens: 2, completion_tokens: 3 },
    });
    expect(gateway.simulator.ledger().at(-1)?.model).toBe("dear-model");
    const { ledger } = await gateway.books(user);
    expect(ledger).toMatchObject([{ model: "route/dear", charge: 5_000_000n }]);
  });

  test.each<Json>([
    { max_tokens: Number.MAX_SAFE_INTEGER },
    { max_tokens: 2 ** 53 },
    { max_completion_tokens: 1e300 },
    { n: 128, max_tokens: 1e15 },
    { n: 128 },
    { max_tokens: 1, max_completion_tokens: 1e9 },
  ])("%j needs the credits it may cost", async (body) => {
    const before = await gateway.books(user);
    expect((await gateway.chat(user, { model: "route/dear", ...body })).status).toBe(402);
    expect(await gateway.books(user)).toEqual(before);
  });

  test.each<Json>([{ temperature: -1e308 }, { seed: -1e300 }, { top_p: 5e-324 }])(
    "%j is the upstream's to judge, and never makes a credit",
    async (body) => {
      const before = await gateway.books(user);
      expect([200, 400]).toContain((await gateway.chat(user, { model: "route/dear", ...body })).status);
      expect((await gateway.books(user)).balance).toBeLessThanOrEqual(before.balance);
    },
  );
});
