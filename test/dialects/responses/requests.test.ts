import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { azure } from "../../../src/dialects/azure/index.ts";
import type { Location } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import type { Call, ClientDialect, Json } from "../../../src/kit/index.ts";
import { contract } from "./client/contract.ts";
import { casesIn, READERS, sent, targetOf } from "./support.ts";

/** A client's request and what a Responses upstream is sent of it. */
interface RequestCase {
  /** Where what is expected stands. */
  readonly source: string;
  readonly client: ClientDialect;
  readonly dialect?: "azure";
  /** The upstream's name for the model. */
  readonly model: string;
  readonly location?: Partial<Location>;
  readonly request: Json;
  readonly path?: string;
  readonly body: Json;
  readonly dropped?: readonly string[];
}

const check = contract();

describe.each(casesIn("requests") as readonly (readonly [string, RequestCase])[])("%s", (_, one) => {
  test("is sent as it should be", () => {
    const call = READERS[one.client]({ model: "route/a", ...one.request });
    const location = { api: "responses", ...one.location } as const;
    const { path, body, dropped, form } = sent(call, one.model, location, one.dialect === "azure" ? azure : openai);
    expect(body).toEqual({ model: one.model, store: false, ...one.body });
    expect(dropped).toEqual(one.dropped ?? []);
    expect([path, form !== null]).toEqual([one.path ?? "/responses", true]);
    // The description of items is stricter than the API: ids that are optional, parts that match several.
    expect(check("CreateResponse", { ...body, input: "hi" })).toEqual([]);
  });
});

test("what Codex says of itself stays behind, unless the upstream is said to take it", () => {
  const call = readResponses({ model: "route/a", input: "hi", client_metadata: { id: "x" } });
  const { body, dropped } = sent(call);
  expect([body["client_metadata"], dropped]).toEqual([undefined, ["/client_metadata"]]);
  const taken = sent(call, "gpt-5.1", { api: "responses", accepts: { fields: ["client_metadata"] } });
  expect([taken.body["client_metadata"], taken.dropped]).toEqual([{ id: "x" }, []]);
});

describe("where a call goes while nothing is configured", () => {
  const asked = { model: "route/a", input: "hi" };
  const chatAsked = { model: "route/a", messages: [{ role: "user", content: "hi" }] };
  test.each<[string, ClientDialect, Json, model: string, base: string, path: string]>([
    [
      "a Responses client of a reasoning model",
      "responses",
      asked,
      "gpt-5.1",
      "https://api.openai.com/v1",
      "/responses",
    ],
    [
      "one of a model that does not reason",
      "responses",
      asked,
      "gpt-4o",
      "https://api.openai.com/v1",
      "/chat/completions",
    ],
    ["one at another server", "responses", asked, "gpt-5.1", "https://models.example/v1", "/chat/completions"],
    [
      "a chat client of a reasoning model",
      "chat",
      chatAsked,
      "gpt-5.1",
      "https://api.openai.com/v1",
      "/chat/completions",
    ],
  ])("%s", (_, client, request, model, baseUrl, path) => {
    expect(sent(READERS[client](request), model, { baseUrl }).path).toBe(path);
  });
});

/** Which of a client's messages a plugin has changed decides what of its items still stands. */
describe("a Responses client's input behind a plugin", () => {
  const input = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "I am Ada" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA==" },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      phase: "commentary",
      content: [{ type: "output_text", text: "a" }],
    },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
    { type: "custom_tool_call", id: "ctc_1", call_id: "c1", name: "apply", input: "x" },
    { type: "custom_tool_call_output", call_id: "c1", output: "ok" },
  ];
  const call = readResponses({ model: "route/a", instructions: "Be brief.", input });
  const messages = call.body["messages"] as readonly Json[];

  test("that copies everything and changes nothing: goes as it came", () => {
    const copied = structuredClone(call.body);
    expect(sent({ ...call, body: copied }).body["input"]).toEqual(input);
  });

  test("that changes one message: the others go as they came, and nothing of the old one", () => {
    const changed = messages.map((message) =>
      message["role"] === "user" ? { ...message, content: "I am N" } : message,
    );
    const { body, dropped } = sent({ ...call, body: { ...call.body, messages: changed } });
    expect(body["input"]).toEqual([
      { type: "message", role: "system", content: "Be brief." },
      { type: "message", role: "user", content: "I am N" },
      ...input.slice(1, 3),
      ...input.slice(4),
    ]);
    expect(dropped).toEqual(["/input/3"]);
    expect(JSON.stringify(body)).not.toContain("Ada");
  });

  test("that changes what the assistant did: written anew, its reasoning kept", () => {
    const changed = messages.map((message) =>
      message["role"] === "assistant" ? { ...message, content: "b" } : message,
    );
    const { body } = sent({ ...call, body: { ...call.body, messages: changed } });
    expect((body["input"] as readonly Json[]).slice(2)).toEqual([
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA==" },
      { type: "message", role: "assistant", content: "b" },
      { type: "function_call", call_id: "c1", name: "apply", arguments: '{"input":"x"}' },
      input[5],
    ]);
  });

  test("that adds a message at the front", () => {
    const more = [{ role: "system", content: "first" }, ...messages];
    const { body } = sent({ ...call, body: { ...call.body, messages: more } });
    expect((body["input"] as readonly Json[])[0]).toEqual({ type: "message", role: "system", content: "first" });
    expect((body["input"] as readonly Json[]).slice(2)).toEqual([...input.slice(0, 3), ...input.slice(4)]);
  });

  test("that takes the tools away: none go", () => {
    const withTools = readResponses({ model: "route/a", input: "hi", tools: [{ type: "function", name: "f" }] });
    expect(sent(withTools).body["tools"]).toEqual([{ type: "function", name: "f" }]);
    const { tools: _tools, ...body } = withTools.body;
    expect(sent({ ...withTools, body }).body).not.toHaveProperty("tools");
  });
});

/** Items that only this format can say. */
describe.each(["compaction", "computer_call", "shell_call_output", "__proto__"])("an item of type %s", (type) => {
  const input = [
    { role: "user", content: "hi" },
    { type, call_id: "c", encrypted_content: "x" },
  ];
  const call = readResponses({ model: "route/a", input });

  test("goes to an upstream of the same format", () => {
    expect(sent(call).body["input"]).toEqual(input);
  });

  test.each(["openai", "azure", "anthropic", "gemini", "bedrock", "cohere"] as const)("is refused for %s", (name) => {
    const codec = DIALECTS[name]!.codecs.chat!;
    expect(() => codec.request(call, targetOf("m"), "k")).toThrow(
      /^(?:Invalid request: )?\/input\/1(?:\/type(?: \w+)?)? can/,
    );
  });
});

const chat = (more: Json): Call =>
  READERS.chat({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...more });

const pathOf = (model: string, more: Json, location: Partial<Location> = {}): string =>
  sent(chat(more), model, location).path;

describe("api: auto", () => {
  const tools = [{ type: "function", function: { name: "f" } }];

  // https://github.com/openai/openai-openapi/issues/541
  test.each<[string, Json, string]>([
    ["gpt-5.4", {}, "/chat/completions"],
    ["gpt-5.4", { tools }, "/responses"],
    ["gpt-5.4", { tools, reasoning_effort: "high" }, "/responses"],
    ["gpt-5.4", { tools, reasoning_effort: "none" }, "/chat/completions"],
    ["gpt-5.4", { tools, thinking: { type: "disabled" } }, "/chat/completions"],
    ["gpt-5.1", { tools, reasoning_effort: "high" }, "/chat/completions"],
    ["gpt-4.1", { tools }, "/chat/completions"],
    ["gpt-5-pro", {}, "/responses"],
    ["gpt-5.1-codex", {}, "/responses"],
    ["o3-deep-research", {}, "/responses"],
  ])("%s with %j: %s", (model, more, path) => {
    expect(pathOf(model, more)).toBe(path);
    expect(pathOf(model, more, { api: "auto" })).toBe(path);
    expect(pathOf(model, more, { api: "chat" })).toBe("/chat/completions");
    expect(pathOf(model, more, { api: "responses" })).toBe("/responses");
  });

  test.each(["mistral", "deepseek", "groq", "generic"] as const)("%s stays at chat completions", (vendor) => {
    for (const model of ["gpt-5.4", "gpt-5-pro"])
      expect(pathOf(model, { tools }, { vendor })).toBe("/chat/completions");
  });

  test("at the address of one deployment there is no Responses API", () => {
    const baseUrl = "https://r.openai.azure.com/openai/deployments/gpt-5-pro";
    expect(sent(chat({}), "gpt-5-pro", { baseUrl }, azure).path).toMatch(/^\/chat\/completions/);
    expect(() => sent(chat({}), "gpt-5-pro", { baseUrl, api: "responses" }, azure)).toThrow("deployment's address");
  });
});
