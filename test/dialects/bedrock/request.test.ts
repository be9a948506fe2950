import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { target } from "../../upstream/support/build.ts";
import { type Cases, casesOf, expectedOf, type RequestCase, writtenOf } from "../cases.ts";
import { chatCall, CLAUDE, codec, outcome, write } from "./support.ts";

const CLAUDE_35 = "anthropic.claude-3-5-sonnet-20240620-v1:0";
const CLAUDE_46 = "us.anthropic.claude-sonnet-4-6";
const NOVA = "amazon.nova-2-lite-v1:0";
const LLAMA = "meta.llama3-3-70b-instruct-v1:0";
const MISTRAL = "mistral.mistral-large-2407-v1:0";

const casesIn = (file: string) => casesOf(new URL(`requests/${file}.yaml`, import.meta.url));

describe.each(["messages", "fields"])("%s", (file) => {
  test.each(casesIn(file) as Cases<RequestCase>)("%s", (_, one) => {
    expect(writtenOf(one, write(chatCall(one.body, one.call), one.model))).toEqual(expectedOf(one));
  });
});

const TOOL: Json = { type: "function", function: { name: "find", parameters: { type: "object" } } };
const CALLED: Json = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", type: "function", function: { name: "find", arguments: '{"q":1}' } }],
};
const FOUND: Json = { role: "tool", tool_call_id: "a", content: "found" };
const thinks = (budget_tokens: number): Json => ({ thinking: { type: "enabled", budget_tokens } });

/** `[model, canonical fields, additionalModelRequestFields, dropped]` */
const MODEL_FIELDS: readonly (readonly [
  model: string,
  body: Json,
  fields: Json | null,
  dropped?: readonly string[],
])[] = [
  [CLAUDE, { top_k: 5 }, { top_k: 5 }],
  [MISTRAL, { top_k: 5 }, { top_k: 5 }],
  ["cohere.command-r-v1:0", { top_k: 5 }, { k: 5 }],
  [NOVA, { top_k: 5 }, { inferenceConfig: { topK: 5 } }],
  [LLAMA, { top_k: 5 }, null, ["/top_k"]],
  [
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
    { thinking: { type: "adaptive" }, top_k: 1, reasoning_effort: "low" },
    { thinking: { type: "adaptive" } },
    ["/reasoning_effort", "/top_k"],
  ],
  [LLAMA, { thinking: { type: "enabled", budget_tokens: 2048 } }, null, ["/thinking"]],
  [LLAMA, { thinking: { type: "disabled" }, reasoning_effort: "none" }, null],
  // Before 3.7 Claude does not think, and refuses to be told anything of it.
  [CLAUDE_35, { reasoning_effort: "high" }, null, ["/reasoning_effort"]],
  [CLAUDE_35, { reasoning_effort: "none", thinking: { type: "disabled" } }, null],
  [CLAUDE_35, { thinking: { type: "enabled", budget_tokens: 2048 } }, null, ["/thinking"]],
  // Before 4.6 it knows budgets and no effort.
  [CLAUDE, { thinking: { type: "enabled", budget_tokens: 2048 } }, thinks(2048)],
  [CLAUDE, { thinking: true }, null, ["/thinking"]],
  [CLAUDE, { reasoning_effort: "high" }, thinks(32_000)],
  [CLAUDE, { reasoning_effort: "low", max_tokens: 10_000 }, thinks(2_000)],
  [CLAUDE, { reasoning_effort: "high", max_tokens: 1_000 }, null, ["/reasoning_effort"]],
  [CLAUDE, { reasoning_effort: "none" }, null],
  [CLAUDE, { reasoning_effort: "toString" }, null, ["/reasoning_effort"]],
  // A forced call leaves no room for thought.
  [CLAUDE, { reasoning_effort: "high", tools: [TOOL], tool_choice: "required" }, null, ["/reasoning_effort"]],
  [
    CLAUDE,
    { reasoning_effort: "high", messages: [{ role: "user", content: "hi" }, CALLED, FOUND] },
    null,
    ["/reasoning_effort"],
  ],
  [CLAUDE, { reasoning_effort: "low", temperature: 0.5, top_k: 5 }, thinks(12_800), ["/temperature", "/top_k"]],
  [CLAUDE_46, { reasoning_effort: "high" }, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
  [CLAUDE_46, { reasoning_effort: "max" }, { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
  [CLAUDE_46, { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  [CLAUDE_46, { thinking: { type: "adaptive" } }, { thinking: { type: "adaptive" } }],
  [NOVA, { reasoning_effort: "medium" }, { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } }],
  [NOVA, { reasoning_effort: "none" }, { reasoningConfig: { type: "disabled" } }],
  ["amazon.nova-lite-v1:0", { reasoning_effort: "low" }, null, ["/reasoning_effort"]],
  ["openai.gpt-oss-120b-1:0", { reasoning_effort: "xhigh" }, { reasoning_effort: "high" }, ["/reasoning_effort"]],
  ["us.openai.gpt-5.2", { reasoning_effort: "xhigh" }, { reasoning: { effort: "xhigh" } }],
  [LLAMA, { reasoning_effort: "low" }, null, ["/reasoning_effort"]],
];

describe("fields of the model's family", () => {
  test.each(MODEL_FIELDS.map((row) => [row[0], row[1], row] as const))("%s: %j", (_, _body, row) => {
    const [model, body, fields, dropped = []] = row;
    const written = write(chatCall(body), model);
    expect(written.body["additionalModelRequestFields"] ?? null).toEqual(fields);
    expect(written.dropped).toEqual(dropped);
  });
});

describe("refused, with the place", () => {
  test.each(casesIn("refused") as Cases<readonly [Json, message: string]>)("%s", (_, [body, message]) => {
    expect(() => write(chatCall(body))).toThrow(refusalOf(message));
  });

  // How deep JSON can be written is the engine's affair.
  test.each([
    ["an answer's schema", (schema: Json) => ({ response_format: { type: "json_schema", json_schema: { schema } } })],
    [
      "a tool's schema",
      (schema: Json) => ({ tools: [{ type: "function", function: { name: "a", parameters: schema } }] }),
    ],
  ])("%s that is nested very deeply is written or refused", (_, body) => {
    let schema: Json = {};
    for (let depth = 0; depth < 200_000; depth++) schema = { a: schema };
    const call = chatCall(body(schema));
    const ended = outcome(() => codec.request(call, target({ model: CLAUDE }), "key"));
    expect(ended).toMatch(/^(done|GatewayError: Invalid request: .* is nested too deeply)$/);
  });
});

test("an image on the web as the whole question is for another step of the chain", () => {
  const content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
  const call = chatCall({ messages: [{ role: "user", content }] });
  const attempt = (): unknown => write(call);
  expect(attempt).toThrow(AttemptError);
  expect(attempt).toThrow(
    expect.objectContaining({
      failure: "unsupported",
      message: "/messages/0/content cannot be expressed for this model",
    }),
  );
});

describe("addresses", () => {
  test.each([
    ["anthropic.claude-v2:1", "/model/anthropic.claude-v2%3A1/converse"],
    [
      "arn:aws:bedrock:us-east-1:1:inference-profile/us.a",
      "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a/converse",
    ],
  ])("%s: %s", (model, path) => {
    expect(write(chatCall({}), model).request).toMatchObject({
      method: "POST",
      path,
      headers: { authorization: "Bearer key", "content-type": "application/json", accept: "application/json" },
    });
  });

  test("a stream is asked for as an event stream", () => {
    const { request, body } = write(chatCall({}, { stream: true }));
    expect(request.path).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
    expect(request.headers["accept"]).toBe("application/vnd.amazon.eventstream");
    expect(codec.streamType).toBe("application/vnd.amazon.eventstream");
    expect(Object.keys(body)).toEqual(["messages"]);
  });

  test("a key that signs is no bearer token", () => {
    expect(write(chatCall({}), CLAUDE, "AKID:secret").request.headers).not.toHaveProperty("authorization");
  });
});
