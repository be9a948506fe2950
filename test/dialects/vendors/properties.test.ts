import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import { Report } from "../../../src/dialects/canonical/report.ts";
import { ANY_ORDER } from "../../../src/dialects/canonical/turns.ts";
import { azureAt } from "../../../src/dialects/azure/index.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { fitted } from "../../../src/dialects/chat/fitting.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { rulesOf } from "../../../src/dialects/vendors/rules.ts";
import type { RuledVendor, Rules } from "../../../src/dialects/vendors/types.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/** Models of every vendor, those with rules of their own among them. */
const MODELS: readonly (readonly [RuledVendor, model: string])[] = [
  ["openai", "gpt-4o"],
  ["openai", "gpt-5"],
  ["openai", "gpt-5.1"],
  ["openai", "o4-mini"],
  ["azure", "production"],
  ["mistral", "mistral-small-latest"],
  ["deepseek", "deepseek-v4-pro"],
  ["groq", "openai/gpt-oss-120b"],
  ["groq", "llama-3.3-70b-versatile"],
  ["openrouter", "anthropic/claude-sonnet-4.5"],
  ["xai", "grok-4"],
  ["moonshot", "kimi-k2.6"],
  ["together", "openai/gpt-oss-20b"],
  ["fireworks", "accounts/fireworks/models/glm-4p6"],
  ["cerebras", "gpt-oss-120b"],
  ["perplexity", "sonar-reasoning-pro"],
  ["alibaba", "qwen-plus"],
  ["zai", "glm-5.3"],
  ["nvidia", "nvidia/nemotron-3-ultra"],
  ["ollama", "qwen3:32b"],
  ["vllm", "any"],
  ["lmstudio", "any"],
  ["llamacpp", "any"],
  ["generic", "any"],
];

const location = (vendor: RuledVendor) => ({ baseUrl: "", headers: {}, ...(vendor !== "azure" && { vendor }) });
const rulesFor = (vendor: RuledVendor, model: string): Rules =>
  rulesOf(location(vendor), model, vendor === "azure" ? "azure" : "openai");

function codecOf(vendor: RuledVendor): AnswerCodec {
  const { codecs } = vendor === "azure" ? azureAt(location(vendor)) : openai.at!(location(vendor));
  if (codecs.chat?.type !== "answer") throw new Error("no chat");
  return codecs.chat;
}

interface Sent {
  readonly body: Json;
  readonly dropped: readonly string[];
  readonly request: UpstreamRequest;
}

function send(vendor: RuledVendor, model: string, body: Json): Sent {
  const call = readChat({ model: "route/a", ...body });
  const request = codecOf(vendor).request(call, testTarget("alpha", { model }), "k");
  return { body: JSON.parse(request.body as string) as Json, dropped: request.dropped ?? [], request };
}

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 90 }),
  fc.string({ unit: fc.constantFrom("a", "_", ".", "é"), minLength: 60, maxLength: 70 }),
);
const id = fc.oneof(fc.string({ minLength: 1, maxLength: 90 }), fc.constantFrom("call_1", "abcdefghi"));
const toolCall = fc.record(
  {
    id,
    type: fc.constant("function"),
    function: fc.record({ name, arguments: fc.constant("{}") }),
    extra_content: fc.constant({ google: { thought_signature: "x" } }),
  },
  { requiredKeys: ["id", "type", "function"] },
);
const detail = fc.constantFrom<Json>(
  { type: "reasoning.text", text: "Hm.", signature: "s" },
  { type: "reasoning.encrypted", data: "gemini1.h.AAAA" },
  { type: "reasoning.summary", summary: "S." },
);
/** What is known again wherever it goes. */
const SAID = "zebra";
const message = fc.oneof(
  fc.record(
    {
      role: fc.constantFrom("system", "developer", "user"),
      content: fc.constantFrom<unknown>(SAID, [{ type: "text", text: SAID, cache_control: { type: "ephemeral" } }]),
      name: fc.string({ maxLength: 5 }),
      another: fc.constant(1),
    },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record(
    {
      role: fc.constant("assistant"),
      content: fc.constantFrom(SAID, null),
      tool_calls: fc.array(toolCall, { maxLength: 2 }),
      reasoning_content: fc.constantFrom("Hm.", "", null),
      reasoning: fc.constant("Hm."),
      reasoning_details: fc.array(detail, { maxLength: 2 }),
      block_order: fc.constant(["reasoning", "content"]),
      annotations: fc.constant([]),
      refusal: fc.constantFrom("no", null),
    },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record({ role: fc.constant("tool"), tool_call_id: id, content: fc.constant("ok") }),
);
const tools = fc
  .uniqueArray(name, { maxLength: 5 })
  .map((names) =>
    names.map((own) => ({ type: "function", function: { name: own, parameters: { type: "object" }, strict: true } })),
  );
const bodies: fc.Arbitrary<Json> = fc.record(
  {
    messages: fc.array(message, { minLength: 1, maxLength: 5 }),
    tools,
    tool_choice: fc.constantFrom<unknown>("auto", "none", "required", { type: "function", function: { name: "f" } }),
    max_tokens: fc.integer({ min: 1, max: 1000 }),
    max_completion_tokens: fc.integer({ min: 1, max: 1000 }),
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra", null),
    thinking: fc.constantFrom<Json>(
      { type: "disabled" },
      { type: "adaptive" },
      { type: "enabled", budget_tokens: 1024 },
    ),
    stop: fc.oneof(fc.string(), fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 20 })),
    user: fc.string({ maxLength: 200 }),
    temperature: fc.constantFrom(0, 0.5, 1),
    top_p: fc.constantFrom(0.5, 1),
    presence_penalty: fc.constantFrom(0, 1),
    logprobs: fc.boolean(),
    seed: fc.integer(),
    stream: fc.boolean(),
    stream_options: fc.constant({ include_usage: true }),
    service_tier: fc.constantFrom("auto", "priority"),
    models: fc.constant(["other"]),
    provider: fc.constant({ order: ["other"] }),
    another: fc.constantFrom<unknown>(1, { a: 1 }),
  },
  { requiredKeys: ["messages"] },
);

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const GATEWAY_MADE = ["block_order", "annotations", "native_finish_reason", "stop_sequence"];
const REASONING = ["reasoning", "reasoning_content", "reasoning_details"];
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/** The rules that a body breaks, named. */
function broken(body: Json, rules: Rules): readonly string[] {
  const found: string[] = [];
  const rule = (what: string, kept: boolean): void => {
    if (!kept) found.push(what);
  };
  if (rules.outputLimit !== "either") {
    rule("limit", body[rules.outputLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens"] === undefined);
  }
  const effort = body["reasoning_effort"];
  const own = rules.unknownFields && effort === "ultra";
  rule("effort", effort === undefined || own || (rules.efforts as readonly unknown[]).includes(effort));
  const taken = effort === "none" ? rules.samplingWithoutReasoning : rules.sampling;
  for (const field of ["temperature", "top_p", "presence_penalty", "logprobs"]) {
    rule(field, body[field] === undefined || taken.has(field));
  }
  const stops = Array.isArray(body["stop"]) ? body["stop"].length : body["stop"] === undefined ? 0 : 1;
  rule("stop", stops <= rules.stop);
  const { user } = body;
  rule("user", user === undefined || (typeof user === "string" && user.length <= rules.user && rules.user > 0));
  rule("stream_options", rules.streamOptions || body["stream_options"] === undefined);
  for (const field of rules.refusedFields) rule(field, body[field] === undefined);
  if (!rules.unknownFields) rule("unknown", body["another"] === undefined);
  if (rules.toolChoice !== "any") rule("tool_choice", !isJson(body["tool_choice"]));
  if (rules.toolChoice === "auto") rule("required", body["tool_choice"] !== "required");
  for (const tool of list(body["tools"])) {
    const described = tool["function"] as Json;
    rule("tool name", fits(described["name"], rules));
    rule("strict", rules.strictTools || described["strict"] === undefined);
  }
  for (const one of list(body["messages"])) {
    rule("role", rules.developerRole || one["role"] !== "developer");
    for (const field of GATEWAY_MADE) rule(field, one[field] === undefined);
    for (const field of REASONING) {
      // OpenRouter's text without details stands in `reasoning`.
      const echoed =
        field === rules.reasoningEcho || (field === "reasoning" && rules.reasoningEcho.endsWith("details"));
      rule(field, one[field] === undefined || echoed);
    }
    if (!rules.unknownFields) rule("message", one["another"] === undefined);
    const calls = list(one["tool_calls"]);
    if (rules.reasoningDemanded !== null && calls.length > 0) {
      rule("reasoning is demanded", typeof one[rules.reasoningEcho] === "string");
    }
    for (const called of calls) {
      rule("extra_content", called["extra_content"] === undefined);
      rule("call name", fits((called["function"] as Json)["name"], rules));
    }
    for (const given of [one["tool_call_id"], ...calls.map((called) => called["id"])]) {
      if (typeof given !== "string") continue;
      rule("id", rules.toolCallIds === "mistral" ? MISTRAL.test(given) : given.length <= rules.toolCallId);
    }
  }
  return found;
}

function fits(given: unknown, { toolName, toolNameCharacters }: Rules): boolean {
  if (typeof given !== "string" || given.length > toolName) return false;
  return toolNameCharacters === "any" || /^[\w-]+$/.test(given);
}

/** Where the meaning of a field may be found under another name or value. */
const MAPPED: Readonly<Record<string, readonly string[]>> = {
  max_tokens: ["max_completion_tokens"],
  max_completion_tokens: ["max_tokens"],
  reasoning_effort: ["thinking", "enable_thinking"],
  thinking: ["reasoning_effort", "enable_thinking"],
  seed: ["random_seed"],
};
const ASKS_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  temperature: [1],
  top_p: [1],
  presence_penalty: [0],
  logprobs: [false],
  service_tier: ["auto"],
  tool_choice: ["auto"],
  user: [],
};

describe.each(MODELS)("%s, %s", (vendor, model) => {
  const rules = rulesFor(vendor, model);

  test("what is sent keeps every rule", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(broken(send(vendor, model, body).body, rules)).toEqual([]);
      }),
    );
  });

  test("no field is lost without a report", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const { body: sent, dropped } = send(vendor, model, body);
        const lost = Object.entries(body).filter(([field, value]) => {
          if (value === null || field === "stream_options" || field === "messages" || field === "stream") return false;
          if (Array.isArray(value) && value.length === 0) return false;
          if ((ASKS_NOTHING[field] ?? []).includes(value)) return false;
          if (field === "thinking" && (body["reasoning_effort"] ?? null) !== null && !isOff(value)) return false;
          if (field === "thinking" && isJson(value) && value["type"] === "adaptive") return false;
          if (field === "tool_choice" && body["tools"] !== undefined && sent["tools"] === undefined) return false;
          const there = [field, ...(MAPPED[field] ?? [])].some((own) => sent[own] !== undefined);
          return !there && !dropped.some((pointer) => pointer === `/${field}` || pointer.startsWith(`/${field}/`));
        });
        expect(lost).toEqual([]);
      }),
    );
  });

  test("nothing that is said is lost", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const messages = list(send(vendor, model, body).body["messages"]);
        const sent = JSON.stringify(messages.map(({ content }) => content));
        const own = list(body["messages"]);
        const said = own.filter(({ content }) => JSON.stringify(content ?? "").includes(SAID));
        expect(sent.split(SAID).length - 1).toBe(said.length);
        const called = own.flatMap((one) => list(one["tool_calls"]));
        const calls = messages.flatMap((one) => list(one["tool_calls"]));
        expect(calls.length + sent.split("[called ").length - 1).toBe(called.length);
      }),
    );
  });

  const inAnyOrder = takesAnyOrder(rules) ? [true] : [];
  test.each(inAnyOrder)("messages stay in their places, with what was said", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const sent = list(send(vendor, model, body).body["messages"]);
        const own = list(body["messages"]);
        // Calls and results are put in pairs.
        fc.pre(own.every((one) => one["role"] !== "tool" && list(one["tool_calls"]).length === 0));
        expect(sent.length).toBe(own.length);
        for (const [index, one] of own.entries()) {
          // Parts lose their marks of a cache.
          const said = typeof one["content"] === "string" ? one["content"] : sent[index]?.["content"];
          // What has no place for a refusal gets it as words.
          const refused = one["refusal"] === "no" && sent[index]?.["refusal"] === undefined;
          const told = refused ? (one["content"] === null ? "no" : `${SAID}\n\nno`) : said;
          expect(sent[index]?.["content"] ?? "").toEqual(told ?? "");
          expect(list(sent[index]?.["tool_calls"]).length).toBe(list(one["tool_calls"]).length);
        }
      }),
    );
  });

  test("tools are called by the client's names, whole and streamed", () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), (names) => {
        const body = { messages: [{ role: "user", content: "hi" }], tools: names.map(described) };
        const { body: sent, request } = send(vendor, model, body);
        const short = list(sent["tools"]).map((tool) => (tool["function"] as Json)["name"] as string);
        if (short.length === 0) return;
        expect(new Set(short).size).toBe(names.length);
        expect(request.form !== undefined).toBe(short.some((one, index) => one !== names[index]));
        const codec = codecOf(vendor);
        const form = request.form ?? codec;
        const call = readChat({ model: "route/a", ...body });
        const calls = short.map((one, index) => ({
          index,
          id: `call_${index}`,
          type: "function",
          function: { name: one, arguments: "{}" },
        }));
        const whole = { id: "a", choices: [{ index: 0, message: { role: "assistant", tool_calls: calls } }] };
        const { body: answer } = form.answer(bytes(whole), call);
        expect(namesIn(list(answer["choices"]).map((choice) => choice["message"] as Json))).toEqual(names);
        const decoder = form.decoder?.(call);
        const chunks = calls.map((one) => ({
          id: "a",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [{ index: 0, delta: { role: "assistant", tool_calls: [one] }, finish_reason: null }],
        }));
        const text = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`);
        const events = decoder?.feed(new TextEncoder().encode(text.join(""))) ?? [];
        const deltas = events.flatMap(({ data }) => list(data["choices"]).map((choice) => choice["delta"] as Json));
        expect(namesIn(deltas)).toEqual(names);
        // What is relayed as it came says the same.
        for (const { data, raw = JSON.stringify(data) } of events) expect(JSON.parse(raw)).toEqual(data);
      }),
      { numRuns: FEW_RUNS },
    );
  });

  test("what is fitted already is not touched again", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const once = fit(body, rules).body;
        expect(fit(once, rules)).toEqual({ body: once, dropped: [] });
      }),
    );
  });
});

function takesAnyOrder(rules: Rules): boolean {
  return Object.entries(ANY_ORDER).every(([name, value]) => {
    // Neither moves a message of these.
    return name === "toolMedia" || name === "textForm" || rules[name as keyof Rules] === value;
  });
}

/** A chat client's body as a target takes it, and what it does not take. */
function fit(body: Json, rules: Rules): { readonly body: Json; readonly dropped: readonly string[] } {
  const report = new Report({ ...readChat({ model: "route/a", messages: [] }), body });
  return { body: fitted(body, { rules, translated: false, report, places: null }).body, dropped: report.dropped };
}

function isOff(thinking: unknown): boolean {
  return isJson(thinking) && thinking["type"] === "disabled";
}

const described = (own: string): Json => ({
  type: "function",
  function: { name: own, parameters: { type: "object" } },
});
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const namesIn = (said: readonly Json[]): readonly unknown[] =>
  said.flatMap((part) => list(part["tool_calls"]).map((called) => (called["function"] as Json | undefined)?.["name"]));

test("a body that the target takes is the very same object", () => {
  const body = {
    model: "route/a",
    messages: [
      { role: "developer", content: "a" },
      { role: "user", content: [{ type: "text", text: "b", cache_control: { type: "ephemeral" } }] },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f" } }] },
      { role: "tool", tool_call_id: "c", content: "d" },
    ],
    tools: [described("f")],
    tool_choice: { type: "function", function: { name: "f" } },
    max_tokens: 9,
    reasoning_effort: "high",
    temperature: 0.5,
    stop: ["a"],
    user: "u",
    later: { a: 1 },
  };
  expect(fit(body, rulesFor("generic", "any")).body).toBe(body);
  expect(fit({ ...body, later: undefined }, rulesFor("openai", "gpt-4o")).dropped).toEqual(["/reasoning_effort"]);
});

describe("Mistral's ids", () => {
  test("of equal calls are equal, of different ones different", () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), (ids) => {
        const messages = ids.flatMap((own) => [
          { role: "assistant", content: null, tool_calls: [{ id: own, type: "function", function: { name: "f" } }] },
          { role: "tool", tool_call_id: own, content: "ok" },
        ]);
        const sent = list(send("mistral", "mistral-large-latest", { messages }).body["messages"]);
        const called = sent.flatMap((one) => list(one["tool_calls"]).map((call) => call["id"]));
        expect(sent.flatMap((one) => (one["role"] === "tool" ? [one["tool_call_id"]] : []))).toEqual(called);
        expect(new Set(called).size).toBe(ids.length);
      }),
    );
  });
});
