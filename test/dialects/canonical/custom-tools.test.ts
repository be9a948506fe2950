import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { FreeformReader } from "../../../src/dialects/canonical/custom-tools.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { isJson, type Json, type Vendor, VENDORS } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/* Tools of free text are asked by functions of one text wherever the target does not know them. */

const PATCH = {
  type: "custom",
  custom: {
    name: "apply_patch",
    description: "Patches",
    format: { type: "grammar", grammar: { syntax: "lark", definition: "start: /.+/" } },
  },
};
const WEATHER = { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: {} } } };
const BODY = {
  messages: [
    { role: "user", content: "alpha" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "custom", custom: { name: "apply_patch", input: 'be"ta' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "gamma" },
  ],
  tools: [PATCH, WEATHER],
};
const CHOICE = { type: "custom", custom: { name: "apply_patch" } };
const ALLOWED = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [CHOICE] } };

const KNOWING: ReadonlySet<Vendor> = new Set(["openai", "generic"]);
const VENDOR_TARGETS = VENDORS.map((vendor) => ({ dialect: "openai", vendor, model: "some-model" }) as const);
const OTHERS = [
  { dialect: "anthropic", vendor: undefined, model: "claude-sonnet-4-5" },
  { dialect: "bedrock", vendor: undefined, model: "amazon.nova-pro-v1:0" },
  { dialect: "gemini", vendor: undefined, model: "gemini-2.5-flash" },
  { dialect: "cohere", vendor: undefined, model: "command-a-03-2025" },
] as const;

interface Asked {
  readonly dialect: "openai" | (typeof OTHERS)[number]["dialect"];
  readonly vendor: Vendor | undefined;
  readonly model: string;
}

function codecOf({ dialect: name, vendor }: Asked): AnswerCodec {
  const dialect = DIALECTS[name]!;
  const location = { baseUrl: "", headers: {}, ...(vendor !== undefined && { vendor }) };
  return (dialect.at?.(location) ?? dialect).codecs.chat as AnswerCodec;
}

function ask(target: Asked, body: Json): UpstreamRequest {
  return codecOf(target).request(readChat({ model: "route/a", ...body }), testTarget("alpha", target), "k");
}

const unknowing: readonly Asked[] = [...VENDOR_TARGETS.filter(({ vendor }) => !KNOWING.has(vendor)), ...OTHERS];
// Perplexity has no tools at all.
const withTools = unknowing.filter(({ vendor }) => vendor !== "perplexity");
const called = (tool: Json): Json => ({ ...BODY, tool_choice: tool });

describe.each(withTools)("$dialect $vendor", (target) => {
  test("is asked by functions", () => {
    const { body, dropped } = ask(target, BODY);
    const text = textOf(body);
    for (const word of ["alpha", "be", "ta", "gamma", "apply_patch", "get_weather", "start: /.+/"])
      expect(text).toContain(word);
    expect(text).not.toContain('"custom"');
    // Nothing holds the model to it.
    expect(dropped).toEqual(["/tools/0/custom/format"]);
  });

  test.each([CHOICE, ALLOWED])("is asked for a call of one: $type", (choice) => {
    const { body } = ask(target, called(choice));
    expect(textOf(body)).toContain("apply_patch");
    expect(textOf(body)).not.toContain('"custom"');
  });
});

test("calls of a history stay readable where there are no tools", () => {
  const { body } = ask({ dialect: "openai", vendor: "perplexity", model: "sonar" }, BODY);
  expect(textOf(body)).not.toContain('"custom"');
  for (const word of ["alpha", "ta", "gamma"]) expect(textOf(body)).toContain(word);
});

test.each(["openai", "generic"] as const)("%s gets them as they are", (vendor) => {
  const { body, dropped = [] } = ask({ dialect: "openai", vendor, model: "some-model" }, called(CHOICE));
  expect(JSON.parse(textOf(body))).toMatchObject(called(CHOICE));
  expect(dropped).toEqual([]);
});

/** The body as JSON text, of chat completions too, which may be the client's own bytes. */
function textOf(body: UpstreamRequest["body"]): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const ARGUMENTS = JSON.stringify({ input: 'line\n"two" é😀' });
const INPUT = 'line\n"two" é😀';

const made = (name: string, args: string, index: number): Json => ({
  id: `call_${index}`,
  type: "function",
  function: { name, arguments: args },
});

const delta = (tool: Json, finish: string | null = null): Uint8Array => {
  const chunk = { id: "a", choices: [{ index: 0, delta: { tool_calls: [tool] }, finish_reason: finish }] };
  return new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
};

describe("an answer", () => {
  const call = readChat({ model: "route/a", ...BODY });
  const form = ask({ dialect: "openai", vendor: "mistral", model: "mistral-large-latest" }, BODY).form!;
  test("that is whole calls them with free text", () => {
    const tool_calls = [made("apply_patch", ARGUMENTS, 0), made("get_weather", "{}", 1)];
    const choice = { index: 0, message: { role: "assistant", content: null, tool_calls }, finish_reason: "tool_calls" };
    const { body } = form.answer(bytes({ id: "a", choices: [choice] }), call);
    const [{ message }] = body["choices"] as [{ message: Json }];
    expect(message["tool_calls"]).toEqual([
      { id: "call_0", type: "custom", custom: { name: "apply_patch", input: INPUT } },
      tool_calls[1],
    ]);
  });

  test.each([
    { about: "that is wrapped", args: ARGUMENTS, input: INPUT },
    { about: "in another shape", args: '{"patch":"x"}', input: '{"patch":"x"}' },
  ])("that is streamed calls them with free text $about", ({ args, input }) => {
    const reader = form.decoder!(call);
    const events = [
      ...reader.feed(
        delta({ index: 0, id: "call_0", type: "function", function: { name: "apply_patch", arguments: "" } }),
      ),
      ...Array.from(args).flatMap((one) => reader.feed(delta({ index: 0, function: { arguments: one } }))),
      ...reader.feed(delta({ index: 1, ...made("get_weather", "{}", 1) }, "tool_calls")),
      ...reader.feed(new TextEncoder().encode("data: [DONE]\n\n")),
      ...reader.finish(),
    ];
    const calls = events.flatMap(({ data }) => callsOf(data));
    expect(calls.flatMap(({ custom }) => (isJson(custom) ? [custom["input"]] : [])).join("")).toBe(input);
    expect(calls[0]).toMatchObject({ index: 0, id: "call_0", type: "custom", custom: { name: "apply_patch" } });
    expect(calls.filter(({ index }) => index === 1)).toEqual([{ index: 1, ...made("get_weather", "{}", 1) }]);
    expect(calls.some(({ index, function: of }) => index === 0 && of !== undefined)).toBe(false);
  });
});

function callsOf(data: Json): readonly Json[] {
  const choices = Array.isArray(data["choices"]) ? (data["choices"] as readonly Json[]) : [];
  return choices.flatMap(({ delta }) =>
    isJson(delta) && Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as readonly Json[]) : [],
  );
}

test("however the arguments are cut, the pieces are the text", () => {
  for (let size = 1; size <= ARGUMENTS.length; size++) {
    const reader = new FreeformReader();
    let told = "";
    for (let at = 0; at < ARGUMENTS.length; at += size) told += reader.add(ARGUMENTS.slice(at, at + size));
    const { input, rest } = reader.end();
    expect(told + rest).toBe(INPUT);
    expect(input).toBe(INPUT);
  }
});
