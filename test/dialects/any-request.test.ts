import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import type { ClientDialect, DialectName, Json } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { testTarget } from "../support/snapshot.ts";
import { attempt, codecOf } from "./wire-cases.ts";

/* Whatever a client writes of a chat, an upstream's half writes it down or refuses it with its place. */

const junk = fc.jsonValue({ maxDepth: 2 });
/** Mostly of the right shape, with anything anywhere. */
const field = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ weight: 12, arbitrary: good }, junk);
const record = (
  fields: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: readonly string[] = [],
): fc.Arbitrary<unknown> => field(fc.record(fields, { requiredKeys: [...requiredKeys] }));
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => field(fc.array(item, { maxLength: 3 }));
const oneOf = (...words: readonly string[]): fc.Arbitrary<unknown> => field(fc.constantFrom(...words));
const text = field(fc.string({ maxLength: 5 }));

const url = oneOf("data:image/png;base64,AA==", "data:;base64,QQ==", "data:,%", "https://a", "s3://a/b.png");
const part = record(
  {
    type: oneOf("text", "refusal", "image_url", "file", "input_audio", "native"),
    text,
    refusal: text,
    image_url: fc.oneof(url, record({ url, detail: text })),
    file: record({
      file_data: oneOf("data:text/plain;base64,QQ==", "AA=="),
      file_id: text,
      file_url: text,
      filename: text,
      citations: junk,
    }),
    input_audio: record({ data: text, format: text }),
    block: junk,
    native: junk,
    cache_control: junk,
  },
  ["type", "text", "refusal"],
);
const toolCall = record(
  {
    id: oneOf("a", "b"),
    type: oneOf("function"),
    function: record({ name: oneOf("f"), arguments: oneOf("{}", "{", "[1]") }, ["name"]),
    extra_content: record({ google: record({ thought_signature: text }) }),
  },
  ["id", "function"],
);
const detail = record({ type: oneOf("reasoning.text", "reasoning.encrypted"), text, signature: text, data: text });
const message = record(
  {
    role: oneOf("system", "developer", "user", "assistant", "tool", "constructor"),
    content: field(fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }))),
    tool_calls: listOf(toolCall),
    tool_call_id: oneOf("a", "b"),
    reasoning_content: text,
    reasoning_details: listOf(detail),
    images: listOf(junk),
    name: text,
    refusal: junk,
    native: junk,
    block_order: junk,
  },
  ["role", "content", "tool_call_id"],
);
/** Mostly left out: a body of which every field is nonsense is refused for the first. */
const few = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, { weight: 5, arbitrary: good }, junk);
const named = (names: string, good: fc.Arbitrary<unknown>): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, few(good)]));
const body = fc.record(
  {
    ...named("max_tokens n seed temperature top_logprobs", fc.nat(9)),
    ...named("documents logprobs metadata modalities parallel_tool_calls service_tier stop user x/~", junk),
    ...named("web_search_options", record({ search_context_size: text })),
    messages: listOf(message),
    tools: listOf(record({ type: oneOf("function"), function: record({ name: oneOf("f"), parameters: junk }) })),
    tool_choice: oneOf("auto", "none", "required"),
    thinking: record({ type: oneOf("enabled", "adaptive", "disabled"), budget_tokens: field(fc.double()) }),
    reasoning_effort: oneOf("none", "low", "max", "constructor"),
    response_format: record({ type: oneOf("json_schema", "json_object"), json_schema: junk }),
    extra_body: record({ google: junk }),
  },
  { requiredKeys: ["messages"] },
) as fc.Arbitrary<Json>;

const MODELS: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  anthropic: ["claude-x", "claude-3-haiku", "claude-sonnet-4-5", "claude-fable-5", "m"],
  bedrock: ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "meta.llama3", "amazon.nova-2-lite-v1:0"],
  cohere: ["command-a-reasoning-08-2025", "command-a"],
  gemini: ["gemini-2.5-flash", "gemini-3-pro", "up"],
  openai: ["m"],
};

test.each(Object.entries(MODELS) as [DialectName, readonly string[]][])("%s", (dialect, models) => {
  const codec = codecOf(dialect, "chat");
  let written = 0;
  fc.assert(
    fc.property(
      body,
      fc.constantFrom(...models),
      fc.constantFrom<ClientDialect>("chat", "messages"),
      (given, model, client) => {
        const call = { ...readChat({ ...given, model: "route/a" }), dialect: client };
        const { value, error } = attempt(() => codec.request(call, testTarget("alpha", { model }), "k"));
        const unsupported = error !== undefined && "failure" in error && error.failure === "unsupported";
        if (value === undefined) return unsupported || /^Invalid request: \/./.test(error!.message);
        written += 1;
        JSON.parse(value.body as string);
        const dropped = value.dropped ?? [];
        expect(dropped.filter((pointer) => !/^\/./.test(pointer))).toEqual([]);
        return new Set(dropped).size === dropped.length;
      },
    ),
    { numRuns: RUNS },
  );
  // One in seven is written, by the strictest.
  expect(written).toBeGreaterThanOrEqual(Math.floor(RUNS / 50));
});
