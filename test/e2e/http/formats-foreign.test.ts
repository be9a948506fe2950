import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../../src/dialects/capabilities.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { askFormat, eventsOf, FORMAT_NAMES, FORMATS, modelsIn, streamedText } from "../support/formats.ts";
import { shown } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/** Where the upstream's clients meet it, by dialect. */
const ADDRESSES = { openai: "/v1", anthropic: "", gemini: "" } as const;
const DIALECTS = (Object.keys(ADDRESSES) as readonly (keyof typeof ADDRESSES)[]).filter((name) =>
  CAPABILITIES[name].served.includes("chat"),
);

/** An upstream that nobody here wrote. */
const mock = new LLMock({ port: 0, chunkSize: 7 });
let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  await mock.start();
  gateway = await TestGateway.start({
    config: {
      upstreams: Object.fromEntries(
        DIALECTS.map((dialect) => [
          dialect,
          { dialect, base_url: mock.url + ADDRESSES[dialect], api_keys: ["upstream-key"] },
        ]),
      ),
      models: Object.fromEntries(
        DIALECTS.map((dialect) => [
          `route/${dialect}`,
          {
            kind: "chat",
            tier: "Free",
            owned_by: "elsewhere",
            price: { input_per_million: 1, output_per_million: 2 },
            chain: [{ upstream: dialect, model: `${dialect}-model` }],
          },
        ]),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await mock.stop();
});
beforeEach(async () => {
  user = await gateway.user();
  mock.clearFixtures();
  mock.clearRequests();
  mock.resetMatchCounts();
});

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
/** The arguments of the calls in a whole answer. */
function callsIn(value: unknown): readonly unknown[] {
  const found: unknown[] = [];
  JSON.stringify(value, (_key, inner: unknown) => {
    if (isJson(inner)) {
      if (inner["type"] === "tool_use") found.push(inner["input"]);
      const call = isJson(inner["function"]) ? inner["function"] : inner["type"] === "function_call" ? inner : {};
      if (typeof call["arguments"] === "string") found.push(JSON.parse(call["arguments"]));
    }
    return inner;
  });
  return found;
}

const ROWS = FORMAT_NAMES.flatMap((name) => DIALECTS.map((dialect) => [name, dialect] as const));

describe.each(ROWS)("%s over a foreign upstream that speaks %s", (name, dialect) => {
  const format = FORMATS[name];
  const model = `route/${dialect}`;

  test.each([false, true])("an answer (streamed: %s)", async (stream) => {
    mock.onMessage("Hello", { content: "Good day, 世界! How are you?" });
    const { status, text } = await askFormat(gateway, user, name, { model, stream });
    expect(status).toBe(200);
    expect(text).toMatch(stream ? format.done : /^\{/);
    expect(stream ? streamedText(name, text) : format.text(JSON.parse(text) as Json)).toBe(
      "Good day, 世界! How are you?",
    );
    expect([...modelsIn(stream ? eventsOf(text) : JSON.parse(text))]).toEqual([model]);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", upstream: dialect }]);
  });

  test("thinking is told apart from the text", async () => {
    mock.onMessage("Hello", { content: "Done.", reasoning: "Let me think." });
    const whole = await askFormat(gateway, user, name, { model });
    expect(whole.text).toContain('"Let me think."');
    expect(whole.text).toContain('"Done."');
    const { text } = await askFormat(gateway, user, name, { model, stream: true });
    expect(streamedText(name, text)).toBe("Done.");
    expect(text).toContain('"Let me');
  });

  test("a tool is called with its arguments", async () => {
    mock.onMessage("Hello", { toolCalls: [{ name: "get_weather", arguments: { city: "Oslo" } }] });
    const { status, text } = await askFormat(gateway, user, name, {
      model,
      tools: [format.tool("get_weather", SCHEMA)],
    });
    expect([status, callsIn(JSON.parse(text))]).toEqual([200, [{ city: "Oslo" }]]);
  });

  test("a refusal of the upstream's is the client's fault, a fault of it a failure", async () => {
    mock.nextRequestError(400, { message: "it is too hot", type: "invalid_request_error" });
    expect(shown(await askFormat(gateway, user, name, { model })).slice(0, 2)).toEqual([400, "INVALID_REQUEST"]);
    mock.nextRequestError(529, { message: "overloaded", type: "overloaded_error" });
    const failed = await askFormat(gateway, user, name, { model, stream: true });
    expect(shown(failed).slice(0, 2)).toEqual([502, "PROVIDER_ERROR"]);
    const { balance, granted } = await gateway.books(user);
    expect(balance).toBe(granted);
  });

  test("an upstream that disconnects half-way is an error event", async () => {
    mock.onMessage("Hello", { content: "word ".repeat(40) }, { truncateAfterChunks: 4, latency: 10 });
    const { status, text } = await askFormat(gateway, user, name, { model, stream: true });
    expect(status).toBe(200);
    expect(text).not.toMatch(/message_stop|response\.completed/);
    expect(text).toMatch(/"error":\{/);
  });
});
