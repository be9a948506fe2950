import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { call, output, reasoning, refusal, user } from "./wire.ts";

const FUNCTION = { type: "function", name: "f", parameters: { type: "object" } };
const STORED = "needs stored responses, which this gateway does not keep; send the whole input";

/** A seal that a client made itself. */
const sealed = (details: unknown): Json =>
  reasoning({ encrypted_content: `rgr1.${Buffer.from(JSON.stringify(details)).toString("base64url")}` });

test.each([
  {},
  [5],
  [{ type: "text", text: "x" }],
  [{ type: "reasoning.text" }],
  [{ type: "reasoning.text", text: "x", signature: 5 }],
  [{ type: "reasoning.encrypted", data: {} }],
  [{ type: "reasoning.summary", summary: "x", id: 5 }],
])("a seal of what are no details: %j", (details) => {
  expect(refusal({ input: [sealed(details)] })).toBe(
    "Invalid request: /input/0/encrypted_content must come back as it was sent",
  );
});

test.each<[Json, string]>([
  [{ previous_response_id: "resp_1" }, `/previous_response_id ${STORED}`],
  [{ conversation: { id: "c" } }, `/conversation ${STORED}`],
  [{ conversation: "c" }, `/conversation ${STORED}`],
  [{ background: true }, `/background ${STORED}`],
  [
    { prompt: { id: "p" } },
    "/prompt needs stored prompts, which this gateway does not keep; send instructions and input",
  ],
  [
    { input: [user("a"), { type: "item_reference", id: "msg_1" }] },
    "/input/1/type needs stored responses, which this gateway does not keep; send store: false and the items themselves",
  ],
  [{ input: [{ type: "web_search_call" }] }, "/input must hold a message"],
  [{ input: [] }, "/input must hold a message"],
  [{ input: 5 }, "/input must be a string or an array"],
  [{ input: [5] }, "/input/0 must be an object"],
  [
    { input: [{ role: "tool", content: "x" }] },
    '/input/0/role must be one of "user", "assistant", "system", "developer"',
  ],
  [{ input: [{ role: "user" }] }, "/input/0/content must be a string or an array"],
  [{ input: [user([{ type: "input_text" }])] }, "/input/0/content/0/text must be a string"],
  [{ input: [user(["a"])] }, "/input/0/content/0 must be an object"],
  [
    { input: [user([{ type: "constructor" }])] },
    "/input/0/content/0/type must be input_text, input_image, input_file, output_text or refusal",
  ],
  [{ input: [user([{ type: "input_image" }])] }, "/input/0/content/0/image_url must be a string"],
  [
    { input: [user([{ type: "input_file" }])] },
    "/input/0/content/0/file_data must be a string, unless there is a file_url or file_id",
  ],
  [{ input: [output("1")] }, "/input/0/call_id must be that of a call before it"],
  [
    { input: [call("1"), { type: "function_call_output", call_id: "1" }] },
    "/input/1/output must be a string or an array",
  ],
  [{ input: [{ ...call("1"), arguments: {} }] }, "/input/0/arguments must be a string"],
  [{ input: [{ ...call("1"), call_id: undefined }] }, "/input/0/call_id must be a string"],
  [{ input: [reasoning({ summary: [{}] })] }, "/input/0/summary/0/text must be a string"],
  [
    { input: [reasoning({ encrypted_content: "rgr1.!!" })] },
    "/input/0/encrypted_content must come back as it was sent",
  ],
  [{ tools: [{ name: "f" }] }, "/tools/0/type must be a string"],
  [{ tools: [{ type: "function" }] }, "/tools/0/name must be a string, not empty"],
  [{ tools: [{ type: "function", name: "f", parameters: [] }] }, "/tools/0/parameters must be an object"],
  [
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "custom" }] }] },
    "/tools/0/tools/0/name must be a string, not empty",
  ],
  [
    { tools: [FUNCTION], tool_choice: { type: "function", name: "x" } },
    "/tool_choice/name must be the name of one of the tools",
  ],
  [{ tools: [FUNCTION], tool_choice: { type: "function" } }, "/tool_choice/name must be a string"],
  [{ tools: [FUNCTION], tool_choice: "any" }, "/tool_choice must be auto, none, required or an object"],
  [
    {
      tools: [FUNCTION],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "x" }] },
    },
    "/tool_choice/tools/0 must be one of the tools",
  ],
  [
    { tools: [FUNCTION], tool_choice: { type: "allowed_tools", tools: [] } },
    '/tool_choice/mode must be one of "auto", "required"',
  ],
  [{ text: { format: { type: "grammar" } } }, '/text/format/type must be one of "text", "json_schema", "json_object"'],
  [{ text: { format: { type: "json_schema", name: "n" } } }, "/text/format/schema must be an object"],
])("refused: %j", (more, message) => {
  expect(refusal(more)).toBe(`Invalid request: ${message}`);
});

test("any items, tools and choices: read, or refused with a pointer, never another exception", () => {
  const value = fc.oneof(
    fc.constantFrom("1", "f", "user", "assistant", null, 5, "input_text", "function"),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const type = fc.constantFrom(
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "web_search_call",
    "input_text",
    "input_image",
    "input_file",
    "function",
    "custom",
    "namespace",
    "allowed_tools",
    "refusal",
  );
  const loose = (inner: fc.Arbitrary<unknown>): fc.Arbitrary<Json> =>
    fc
      .tuple(
        type,
        fc.dictionary(
          fc.constantFrom(
            "role",
            "content",
            "call_id",
            "name",
            "arguments",
            "output",
            "text",
            "summary",
            "tools",
            "mode",
            "image_url",
            "file_data",
            "encrypted_content",
          ),
          inner,
        ),
      )
      .map(([type, fields]) => ({ type, ...fields }));
  const part = loose(value);
  const item = loose(fc.oneof(value, fc.array(part, { maxLength: 2 })));
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 4 }),
      fc.array(item, { maxLength: 2 }),
      fc.oneof(item, value),
      (input, tools, tool_choice) => {
        const message = refusal({ input, tools, tool_choice });
        expect(message).toMatch(/^$|^Invalid request: \/(?:input|tools|tool_choice)/);
      },
    ),
    { numRuns: RUNS },
  );
});
