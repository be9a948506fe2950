import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { casesIn, framed } from "../../dialects/responses/support.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/* The unmodified clients through the gateway to a server that has nothing but `POST /responses`. */

interface Asked {
  readonly path: string;
  readonly body: Json;
}

const STREAMS = new Map(casesIn("streams") as readonly (readonly [string, { readonly events: readonly Json[] }])[]);
const KEEP = { price: { input_per_million: 1, output_per_million: 2 }, kind: "chat", tier: "Free", owned_by: "x" };

let upstream: Server;
let gateway: TestGateway;
let user: TestUser;
/** Names of recorded answers, one for each request; the last one again and again. */
let plays: readonly string[] = [];
const asked: Asked[] = [];

beforeAll(async () => {
  upstream = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Json;
      const name = plays[Math.min(asked.length, plays.length - 1)] ?? "text";
      asked.push({ path: req.url ?? "", body });
      const { events } = STREAMS.get(name)!;
      if (body["stream"] === true) {
        res.setHeader("content-type", "text/event-stream");
        return res.end(framed(events));
      }
      res.setHeader("content-type", "application/json");
      return res.end(JSON.stringify(events.at(-1)!["response"]));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const openai = { dialect: "openai", base_url: `${origin}/v1`, api_keys: ["k"], vendor: "openai" };
  gateway = await TestGateway.start({
    config: {
      upstreams: {
        responses: { ...openai, api: "responses" },
        auto: openai,
        poor: { ...openai, api: "responses" },
        azure: { dialect: "azure", base_url: `${origin}/openai/v1`, api_keys: ["k"], api: "responses" },
        sim: { dialect: "openai", base_url: "sim:", api_keys: ["k"] },
      },
      models: {
        "route/r": { ...KEEP, chain: [{ upstream: "responses", model: "gpt-5.1" }] },
        "route/auto": { ...KEEP, chain: [{ upstream: "auto", model: "gpt-5.4" }] },
        "route/azure": { ...KEEP, chain: [{ upstream: "azure", model: "gpt-5.1-prod" }] },
        "route/poor": { ...KEEP, chain: [{ upstream: "poor", model: "gpt-5.1" }] },
        "route/sim": { ...KEEP, chain: [{ upstream: "sim", model: "m" }] },
        "route/chain": {
          ...KEEP,
          chain: [
            { upstream: "poor", model: "gpt-5.1" },
            { upstream: "sim", model: "m" },
          ],
        },
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(async () => {
  user = await gateway.user();
  asked.length = 0;
  plays = ["text"];
});

const openaiClient = (): OpenAI => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: user.key, maxRetries: 0 });
const TOOLS: OpenAI.Responses.FunctionTool[] = [
  { type: "function", name: "add", parameters: { type: "object", properties: {} }, strict: false },
  { type: "function", name: "now", parameters: { type: "object", properties: {} }, strict: false },
];

describe("openai, responses", () => {
  test.each(["route/r", "route/azure"])("%s: create, streamed and whole", async (model) => {
    const client = openaiClient();
    const whole = await client.responses.create({ model, input: "hi" });
    expect(whole).toMatchObject({ output_text: "Good day, 世界.", model, status: "completed", store: false });
    expect(whole.usage).toMatchObject({ input_tokens: 30, output_tokens: 9 });
    const stream = client.responses.stream({ model, input: "hi" });
    const models = new Set<string>();
    for await (const event of stream) if ("response" in event) models.add(event.response.model);
    expect([...models]).toEqual([model]);
    expect((await stream.finalResponse()).output_text).toBe("Good day, 世界.");
    expect(asked.map(({ path }) => path.replace("/openai/v1", "/v1"))).toEqual(["/v1/responses", "/v1/responses"]);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served" }, { outcome: "served" }]);
  });

  test("a tool loop of two turns keeps its reasoning and its ids", async () => {
    plays = ["reasoning-tools", "text"];
    const client = openaiClient();
    const ask = { model: "route/r", tools: TOOLS, store: false, reasoning: { summary: "auto" } } as const;
    const first = await client.responses.stream({ ...ask, input: "12+7?" }).finalResponse();
    expect(first.output.map(({ type, id }) => [type, id])).toEqual([
      ["reasoning", "rs_1"],
      ["function_call", "fc_1"],
      ["function_call", "fc_2"],
    ]);
    const results = first.output
      .filter(({ type }) => type === "function_call")
      .map((call) => ({
        type: "function_call_output" as const,
        call_id: (call as OpenAI.Responses.ResponseFunctionToolCall).call_id,
        output: "19",
      }));
    const turns = [{ role: "user", content: "12+7?" }, ...first.output, ...results] as OpenAI.Responses.ResponseInput;
    await client.responses.create({ ...ask, input: turns });
    const input = asked[1]!.body["input"] as readonly Json[];
    expect(input[1]).toMatchObject({ type: "reasoning", id: "rs_1", encrypted_content: "gAAAAABpPDI-_x==" });
    expect((input[1]!["summary"] as readonly Json[]).map(({ text }) => text)).toEqual(["**Planning**", "Add first."]);
    expect(input.slice(2).map(({ type, call_id }) => [type, call_id])).toEqual([
      ["function_call", "call_AB6"],
      ["function_call", "call_CD7"],
      ["function_call_output", "call_AB6"],
      ["function_call_output", "call_CD7"],
    ]);
    expect(asked[0]!.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
  });

  test("an incomplete answer", async () => {
    plays = ["incomplete-length"];
    const answer = await openaiClient().responses.create({ model: "route/r", input: "hi" });
    expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });

  test("an item that only the Responses API has: refused where the chain has no such upstream", async () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "compaction", encrypted_content: "gAAA" },
    ];
    const client = openaiClient();
    const items = input as OpenAI.Responses.ResponseInput;
    expect((await client.responses.create({ model: "route/r", input: items })).output_text).toContain("Good day");
    expect(asked[0]!.body["input"]).toEqual(input);
    const refused = client.responses.create({ model: "route/sim", input: items });
    await expect(refused).rejects.toThrow("/input/1/type can only be read by the provider that made it");
  });

  test("references to what is stored are refused with what to do", async () => {
    const input = [{ type: "item_reference", id: "msg_1" }] as OpenAI.Responses.ResponseInput;
    const refused = openaiClient().responses.create({ model: "route/r", input });
    await expect(refused).rejects.toThrow("send store: false and the items themselves");
    expect(asked).toEqual([]);
  });
});

describe("openai, chat completions", () => {
  test("auto: tools with reasoning go to the Responses endpoint, the loop keeps its reasoning", async () => {
    plays = ["reasoning-tools", "text"];
    const client = openaiClient();
    const tools = TOOLS.map(({ name }) => ({ type: "function" as const, function: { name } }));
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "12+7?" }];
    const first = await client.chat.completions.create({ model: "route/auto", messages, tools });
    const { message, finish_reason } = first.choices[0]!;
    expect([finish_reason, message.tool_calls?.length, first.model]).toEqual(["tool_calls", 2, "route/auto"]);
    expect(first.usage).toMatchObject({ prompt_tokens: 299, completion_tokens: 53 });
    const results = message.tool_calls!.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "19" }));
    const stream = client.chat.completions.stream({
      model: "route/auto",
      messages: [...messages, message, ...results],
      tools,
    });
    expect(await stream.finalContent()).toBe("Good day, 世界.");
    expect(asked.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
    expect((asked[1]!.body["input"] as readonly Json[]).map(({ type }) => type)).toEqual([
      "message",
      "reasoning",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
  });

  test("a failure told as the first event fails over, and no word of the account is told", async () => {
    plays = ["fault-quota"];
    const stream = openaiClient().chat.completions.stream({
      model: "route/chain",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(await stream.finalContent()).not.toBe("");
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", upstream: "sim" }]);
    const alone = openaiClient().chat.completions.create({
      model: "route/poor",
      messages: [{ role: "user", content: "hi" }],
      stream: true,
    });
    await expect(alone).rejects.toThrow(/^50[23] (?!.*quota)/);
  });

  test("a stream that is cut, and one that breaks, end in an error", async () => {
    for (const [play, told] of [
      ["cut", /upstream/],
      ["fault-midway", /overloaded/],
    ] as const) {
      plays = [play];
      const stream = await openaiClient().chat.completions.create({
        model: "route/r",
        messages: [{ role: "user", content: "hi" }],
        stream: true,
      });
      const read = async (): Promise<void> => {
        for await (const chunk of stream) void chunk;
      };
      await expect(read()).rejects.toThrow(told);
    }
  });
});

test("Anthropic's client: a tool loop of two turns keeps its reasoning", async () => {
  plays = ["reasoning-tools", "text"];
  const client = new Anthropic({ baseURL: gateway.url, apiKey: user.key, maxRetries: 0 });
  const tools = TOOLS.map(({ name }) => ({ name, input_schema: { type: "object" as const } }));
  const ask = { model: "route/r", max_tokens: 2000, tools };
  const first = await client.messages.stream({ ...ask, messages: [{ role: "user", content: "12+7?" }] }).finalMessage();
  expect(first.content.map(({ type }) => type)).toEqual([
    "thinking",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_use",
  ]);
  const results = first.content.flatMap((block) =>
    block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "19" }] : [],
  );
  await client.messages.create({
    ...ask,
    messages: [
      { role: "user", content: "12+7?" },
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ],
  });
  expect((asked[1]!.body["input"] as readonly Json[]).slice(1, 3)).toMatchObject([
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABpPDI-_x==" },
    { type: "function_call", call_id: "call_AB6", arguments: '{"a":12,"b":7}' },
  ]);
});
