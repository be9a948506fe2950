import { expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { messagesOf } from "./support.ts";
import { answered, call, output, reasoning, toolCall, user } from "./wire.ts";

/** Name, items, messages. */
const ITEMS: readonly (readonly [string, readonly Json[], readonly Json[]])[] = [
  ["a message without a type", [user("a")], [user("a")]],
  [
    "roles",
    ["system", "developer", "user"].map((role) => ({ type: "message", role, content: "x" })),
    ["system", "developer", "user"].map((role) => ({ role, content: "x" })),
  ],
  ["a single text as a string", [user([{ type: "input_text", text: "a" }])], [user("a")]],
  [
    "texts",
    [
      user([
        { type: "input_text", text: "a" },
        { type: "input_text", text: "b" },
      ]),
    ],
    [
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]),
    ],
  ],
  ["no parts", [user([])], [user("")]],
  [
    "a breakpoint of the cache",
    [user([{ type: "input_text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } }])],
    [user([{ type: "text", text: "a", cache_control: { type: "ephemeral" } }])],
  ],
  [
    "images",
    [
      user([
        { type: "input_image", image_url: "data:image/png;base64,AA", detail: "high" },
        { type: "input_image", image_url: "https://a.example/b", file_id: null },
      ]),
    ],
    [
      user([
        { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "high" } },
        { type: "image_url", image_url: { url: "https://a.example/b" } },
      ]),
    ],
  ],
  [
    "files",
    [
      user([
        { type: "input_file", filename: "a.PDF", file_data: "AAAA" },
        { type: "input_file", file_data: "data:text/plain;base64,AA" },
        { type: "input_file", filename: "constructor", file_data: "AA" },
        { type: "input_file", file_url: "https://a.example/b.pdf" },
        { type: "input_file", file_id: "file-1" },
      ]),
    ],
    [
      user([
        { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.PDF" } },
        { type: "file", file: { file_data: "data:text/plain;base64,AA" } },
        { type: "file", file: { file_data: "data:application/octet-stream;base64,AA", filename: "constructor" } },
        { type: "file", file: { file_url: "https://a.example/b.pdf" } },
        { type: "file", file: { file_id: "file-1" } },
      ]),
    ],
  ],
  [
    "audio",
    [user([{ type: "input_audio", input_audio: { data: "AA", format: "wav" } }])],
    [user([{ type: "input_audio", input_audio: { data: "AA", format: "wav" } }])],
  ],
  [
    "an answer, with its refusal",
    [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: null,
        content: [
          { type: "output_text", text: "a", annotations: [] },
          { type: "refusal", refusal: "no" },
        ],
      },
    ],
    [{ role: "assistant", content: "a", refusal: "no" }],
  ],
  ["an answer as text", [{ role: "assistant", content: "a" }], [{ role: "assistant", content: "a" }]],
  [
    "what the assistant thinks, says and calls is one message",
    [
      reasoning({ content: [{ type: "reasoning_text", text: "hm" }] }),
      { role: "assistant", content: "a" },
      call("1"),
      call("2"),
      output("1"),
      output("2"),
    ],
    [
      {
        role: "assistant",
        content: "a",
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm" }],
        tool_calls: [toolCall("1"), toolCall("2")],
      },
      answered("1"),
      answered("2"),
    ],
  ],
  [
    "calls one after the other",
    [call("1"), output("1"), call("2"), output("2")],
    [
      { role: "assistant", content: null, tool_calls: [toolCall("1")] },
      answered("1"),
      { role: "assistant", content: null, tool_calls: [toolCall("2")] },
      answered("2"),
    ],
  ],
  [
    "an output that comes late stands behind its call all the same",
    [call("1"), call("2"), output("2"), user("wait"), output("1", [{ type: "input_text", text: "x" }])],
    [
      { role: "assistant", content: null, tool_calls: [toolCall("1"), toolCall("2")] },
      answered("2"),
      answered("1", "x"),
      user("wait"),
    ],
  ],
  [
    "an output in parts",
    [
      call("1"),
      output("1", [
        { type: "input_text", text: "x" },
        { type: "input_image", image_url: "data:image/png;base64,AA" },
      ]),
    ],
    [
      { role: "assistant", content: null, tool_calls: [toolCall("1")] },
      answered("1", [
        { type: "text", text: "x" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      ]),
    ],
  ],
  [
    "a call of free text",
    [
      { type: "custom_tool_call", call_id: "1", name: "patch", input: 'a"\n' },
      { type: "custom_tool_call_output", call_id: "1", output: "ok" },
    ],
    [{ role: "assistant", content: null, tool_calls: [toolCall("1", "patch", '{"input":"a\\"\\n"}')] }, answered("1")],
  ],
  [
    "a call of a tool in a namespace",
    [{ ...call("1"), namespace: "mcp" }, output("1")],
    [{ role: "assistant", content: null, tool_calls: [toolCall("1", "mcp__f")] }, answered("1")],
  ],
  [
    "thoughts after words begin the next message: providers check the order of what they signed",
    [
      { role: "assistant", content: "a" },
      reasoning({ summary: [{ type: "summary_text", text: "hm" }] }),
      call("1"),
      output("1"),
    ],
    [
      { role: "assistant", content: "a" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.summary", summary: "hm", id: "rs_1" }],
        tool_calls: [toolCall("1")],
      },
      answered("1"),
    ],
  ],
  [
    "reasoning that another provider encrypted",
    [reasoning({ encrypted_content: "gAAA", content: null }), { role: "assistant", content: "a" }],
    [
      {
        role: "assistant",
        content: "a",
        reasoning_details: [{ type: "reasoning.encrypted", data: "gAAA", id: "rs_1" }],
      },
    ],
  ],
  [
    "the same without an id: not to be taken for a provider's that gives none",
    [
      { type: "reasoning", summary: [], encrypted_content: "gAAA" },
      { role: "assistant", content: "a" },
    ],
    [{ role: "assistant", content: "a", reasoning_details: [{ type: "reasoning.encrypted", data: "gAAA", id: "" }] }],
  ],
];

test.each(ITEMS)("items: %s", (_, input, messages) => {
  expect(messagesOf({ input })).toEqual(messages);
});
