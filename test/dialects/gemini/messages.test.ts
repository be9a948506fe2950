import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { attempt } from "../wire-cases.ts";
import { callOf, send } from "./support.ts";

interface MessagesCase {
  readonly about: string;
  readonly model?: string;
  readonly messages: readonly unknown[];
  readonly system?: readonly string[];
  readonly contents?: readonly Json[];
  readonly dropped?: readonly string[];
  readonly refused?: string;
}

const user = (...parts: readonly Json[]): Json => ({ role: "user", parts });
const model = (...parts: readonly Json[]): Json => ({ role: "model", parts });
const says = (...content: readonly unknown[]): Json => ({ role: "user", content });
const call = (id: string, name: string, args = "{}", more: Json = {}): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
  ...more,
});
const fc = (id: string, name: string, args: Json = {}): Json => ({ functionCall: { id, name, args } });
const fr = (id: string, name: string, output: string, more: Json = {}): Json => ({
  functionResponse: { id, name, response: { output }, ...more },
});
const asks = (...tool_calls: readonly Json[]): Json => ({ role: "assistant", content: null, tool_calls });
const tool = (tool_call_id: string, content: unknown, more: Json = {}): Json => ({
  role: "tool",
  tool_call_id,
  content,
  ...more,
});
const PNG = "data:image/png;base64,iVBO";
const inline = (mimeType: string, data: string): Json => ({ inlineData: { mimeType, data } });
const G3 = "gemini-3-flash";
const SKIP = { thoughtSignature: "skip_thought_signature_validator" };

const CASES: readonly MessagesCase[] = [
  {
    about: "system and developer messages stand apart, wherever they are",
    messages: [
      { role: "system", content: "be kind" },
      { role: "user", content: "a" },
      { role: "system", content: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }] },
      { role: "developer", content: "be exact" },
    ],
    system: ["be kind", "be brief", "be exact"],
    contents: [user({ text: "a" })],
  },
  {
    about: "instructions alone are what is asked",
    messages: [{ role: "system", content: "go" }],
    contents: [user({ text: "go" })],
  },
  {
    about: "an image among instructions",
    messages: [
      says({ type: "text", text: "a" }),
      {
        role: "system",
        content: [
          { type: "text", text: "" },
          { type: "image_url", image_url: { url: PNG } },
        ],
      },
    ],
    contents: [user({ text: "a" })],
    dropped: ["/messages/1/content/1"],
  },
  {
    about: "consecutive messages of one role are one turn",
    messages: [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "c" },
      { role: "assistant", content: "d" },
      { role: "user", content: "e" },
    ],
    contents: [user({ text: "a" }, { text: "b" }), model({ text: "c" }, { text: "d" }), user({ text: "e" })],
  },
  {
    about: "empty texts are left out, an empty message is not",
    messages: [
      says({ type: "text", text: "" }, { type: "text", text: "a" }),
      { role: "assistant", content: "" },
      { role: "user", content: "" },
    ],
    contents: [user({ text: "a" }, { text: "" })],
  },
  {
    about: "images, documents, audio",
    messages: [
      says(
        { type: "image_url", image_url: { url: PNG, detail: "auto" }, cache_control: { type: "ephemeral" } },
        { type: "image_url", image_url: { url: "https://e.example/a.JPG?x=.y" } },
        { type: "image_url", image_url: { url: "https://e.example/a" } },
        { type: "image_url", image_url: PNG },
        { type: "input_audio", input_audio: { data: "UklG", format: "wav" } },
        { type: "input_audio", input_audio: { data: "UklG", format: "mp3" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,JVBE", filename: "a.pdf" } },
        { type: "file", file: { file_data: "data:text/plain;charset=utf-8,h%C3%A9" } },
        { type: "file", file: { file_data: "JVBE", filename: "a.csv" } },
        { type: "file", file: { file_data: "JVBE" } },
        { type: "file", file: { file_url: "https://e.example/a.pdf" } },
      ),
    ],
    contents: [
      user(
        inline("image/png", "iVBO"),
        { fileData: { mimeType: "image/jpeg", fileUri: "https://e.example/a.JPG?x=.y" } },
        { fileData: { fileUri: "https://e.example/a" } },
        inline("image/png", "iVBO"),
        inline("audio/wav", "UklG"),
        inline("audio/mp3", "UklG"),
        inline("application/pdf", "JVBE"),
        inline("text/plain", Buffer.from("hé").toString("base64")),
        inline("text/csv", "JVBE"),
        inline("application/pdf", "JVBE"),
        { fileData: { mimeType: "application/pdf", fileUri: "https://e.example/a.pdf" } },
      ),
    ],
  },
  {
    about: "what of parts and messages has no place",
    messages: [
      { role: "user", name: "Ann", content: [{ type: "text", text: "a" }] },
      says(
        { type: "image_url", image_url: { url: PNG, detail: "low" } },
        { type: "file", file: { file_id: "file-1" } },
        { type: "native", dialect: "anthropic", block: {} },
        { type: "later" },
        { type: "file", file: { file_url: "https://e.example/a.pdf", context: "c", citations: { enabled: true } } },
      ),
      { role: "function", name: "f", content: "x" },
      {
        role: "assistant",
        content: "b",
        audio: { id: "a" },
        refusal: null,
        annotations: [],
        function_call: { name: "f" },
      },
    ],
    contents: [
      user({ text: "a" }, inline("image/png", "iVBO"), {
        fileData: { mimeType: "application/pdf", fileUri: "https://e.example/a.pdf" },
      }),
      model({ text: "b" }),
    ],
    dropped: [
      "/messages/0/name",
      "/messages/1/content/0/image_url/detail",
      "/messages/1/content/1/file/file_id",
      "/messages/1/content/2",
      "/messages/1/content/3",
      "/messages/1/content/4/file/context",
      "/messages/1/content/4/file/citations",
      "/messages/2",
      "/messages/3/audio",
      "/messages/3/function_call",
    ],
  },
  {
    about: "what only the client's format has beside messages, parts and calls",
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: "a", later: 1, native: { citations: [1] } }],
        native: { id: "m" },
      },
      {
        ...asks(call("c", "f", "{}", { native: { caller: { type: "direct" } }, index: 0 })),
        block_order: ["tool_call"],
      },
    ],
    contents: [user({ text: "a" }), model(fc("c", "f"))],
    dropped: [
      "/messages/0/content/0/later",
      "/messages/0/content/0/citations",
      "/messages/0/id",
      "/messages/1/tool_calls/0/caller",
    ],
  },
  {
    about: "calls and their responses, in one turn each, the name looked up",
    messages: [
      { role: "user", content: "q" },
      asks(call("c1", "one", '{"a":1}'), call("c2", "two", "")),
      tool("c1", "first"),
      tool(
        "c2",
        [
          { type: "text", text: "sec" },
          { type: "text", text: "ond" },
        ],
        { is_error: true },
      ),
      { role: "user", content: "and?" },
    ],
    contents: [
      user({ text: "q" }),
      model(fc("c1", "one", { a: 1 }), fc("c2", "two")),
      user(
        fr("c1", "one", "first"),
        { functionResponse: { id: "c2", name: "two", response: { error: "sec\nond" } } },
        { text: "and?" },
      ),
    ],
  },
  {
    about: "an id that is used again means the call before it",
    messages: [asks(call("c", "one")), tool("c", "1"), asks(call("c", "two")), tool("c", "2")],
    contents: [model(fc("c", "one")), user(fr("c", "one", "1")), model(fc("c", "two")), user(fr("c", "two", "2"))],
  },
  {
    about: "arguments that are no object end no conversation",
    messages: [asks(call("c1", "a", "{oops"), call("c2", "a", "[1]"), call("c3", "a", "null"))],
    contents: [
      model(fc("c1", "a", { _raw: "{oops" }), fc("c2", "a", { _raw: "[1]" }), fc("c3", "a", { _raw: "null" })),
    ],
  },
  {
    about: "2.5: an image of a tool follows all responses",
    messages: [
      asks(call("c1", "a"), call("c2", "a")),
      tool("c1", [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: PNG } },
      ]),
      tool("c2", "x"),
    ],
    contents: [
      model(fc("c1", "a"), fc("c2", "a")),
      user(fr("c1", "a", "see"), fr("c2", "a", "x"), inline("image/png", "iVBO")),
    ],
  },
  {
    about: "3: an image of a tool is part of its response, one by URL is not",
    model: G3,
    messages: [
      asks(call("c1", "a")),
      tool("c1", [
        { type: "image_url", image_url: { url: PNG } },
        { type: "image_url", image_url: { url: "https://e.example/a.png" } },
      ]),
    ],
    contents: [
      model({ ...fc("c1", "a"), ...SKIP }),
      user(fr("c1", "a", "", { parts: [inline("image/png", "iVBO")] }), {
        fileData: { mimeType: "image/png", fileUri: "https://e.example/a.png" },
      }),
    ],
  },
  {
    about: "3: a step whose first call has no signature gets the one for foreign calls",
    model: G3,
    messages: [
      asks(call("c1", "a"), call("c2", "a")),
      tool("c1", "x"),
      tool("c2", "x"),
      asks(call("c3", "a", "{}", { extra_content: { google: { thought_signature: "U0lH" } } }), call("c4", "a")),
    ],
    contents: [
      model({ ...fc("c1", "a"), ...SKIP }, fc("c2", "a")),
      user(fr("c1", "a", "x"), fr("c2", "a", "x")),
      model({ ...fc("c3", "a"), thoughtSignature: "U0lH" }, fc("c4", "a")),
    ],
  },
  {
    about: "thoughts go back as thoughts, signatures only where they are Gemini's",
    messages: [
      {
        role: "assistant",
        content: [{ type: "text", text: "a" }],
        reasoning_content: "hm so",
        reasoning_details: [
          { type: "reasoning.text", text: "hm", signature: "gemini1.h.QQ==" },
          { type: "reasoning.text", text: "so", signature: "anthropic's" },
          { type: "reasoning.summary", summary: "in short" },
          { type: "reasoning.encrypted", data: "openai's" },
          { type: "reasoning.encrypted", data: "gemini1.t.Qg==" },
          { type: "reasoning.encrypted", data: "gemini1.e.Qw==" },
        ],
      },
    ],
    contents: [
      model(
        { text: "hm", thought: true, thoughtSignature: "QQ==" },
        { text: "so", thought: true },
        { text: "in short", thought: true },
        { text: "a", thoughtSignature: "Qg==" },
        { text: "", thoughtSignature: "Qw==" },
      ),
    ],
    dropped: ["/messages/0/reasoning_details/1/signature", "/messages/0/reasoning_details/3"],
  },
  {
    about: "reasoning without details; a signature whose text is gone",
    messages: [
      { role: "assistant", content: "a", reasoning_content: "hm" },
      {
        role: "assistant",
        content: null,
        reasoning_details: [{ type: "reasoning.encrypted", data: "gemini1.t.Qg==" }],
      },
    ],
    contents: [model({ text: "hm", thought: true }, { text: "a" }, { text: "", thoughtSignature: "Qg==" })],
  },
  {
    about: "refusals and images of earlier answers",
    messages: [
      { role: "assistant", content: null, refusal: "no" },
      { role: "assistant", content: [{ type: "refusal", refusal: "no!" }] },
      { role: "assistant", content: "see", images: [{ type: "image_url", image_url: { url: PNG } }] },
    ],
    contents: [model({ text: "no" }, { text: "no!" }, { text: "see" }, inline("image/png", "iVBO"))],
  },
  {
    about: "a part without its text",
    messages: [says({ type: "text" })],
    refused: "/messages/0/content/0/text must be a string",
  },
  { about: "a part that is none", messages: [says("a")], refused: "/messages/0/content/0 must be an object" },
  {
    about: "an image without a URL",
    messages: [says({ type: "image_url", image_url: { url: "nowhere" } })],
    refused: "/messages/0/content/0/image_url/url must be a URL, or a data: URL in base64",
  },
  {
    about: "a data URL without data",
    messages: [says({ type: "image_url", image_url: { url: "data:image/png;base64," } })],
    refused: "/messages/0/content/0/image_url/url must be a URL, or a data: URL in base64",
  },
  {
    about: "a file without anything",
    messages: [says({ type: "file", file: {} })],
    refused: "/messages/0/content/0/file/file_data must be a data: URL in base64",
  },
  {
    about: "audio without a format",
    messages: [says({ type: "input_audio", input_audio: { data: "a" } })],
    refused: "/messages/0/content/0/input_audio/format must be a format",
  },
  {
    about: "a call without a name",
    messages: [asks({ id: "c", type: "function" })],
    refused: "/messages/0/tool_calls/0/function/name must be the name of a function",
  },
  {
    about: "a response to nothing",
    messages: [
      { role: "user", content: "a" },
      { role: "tool", content: "x" },
    ],
    refused: "/messages/1/tool_call_id must be the id of a tool call",
  },
  {
    about: "a response to no call of the conversation",
    messages: [tool("c9", "x")],
    refused: "/messages/0/tool_call_id must be the id of a tool call in an earlier message",
  },
  {
    about: "a response that names its function",
    messages: [tool("c9", "x", { name: "f" })],
    contents: [user(fr("c9", "f", "x"))],
  },
];

describe("messages", () => {
  const written = CASES.filter(({ refused }) => refused === undefined);
  test.each(written.map((one) => [one.about, one] as const))("%s", (_, one) => {
    const { body, dropped } = send(callOf({ messages: one.messages }), one.model);
    expect({ body, dropped }).toEqual({
      body: {
        ...(one.system && { systemInstruction: { parts: one.system.map((text) => ({ text })) } }),
        contents: one.contents,
      },
      dropped: one.dropped ?? [],
    });
  });

  const refused = CASES.filter((one) => one.refused !== undefined);
  test.each(refused.map((one) => [one.about, one] as const))("%s is refused", (_, one) => {
    const { error } = attempt(() => send(callOf({ messages: one.messages }), one.model));
    expect(error?.message).toBe(`Invalid request: ${one.refused}`);
  });
});
