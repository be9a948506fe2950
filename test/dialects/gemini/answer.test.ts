import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { attempt } from "../wire-cases.ts";
import { bytes, callOf, decode, list, reassemble, sse } from "./support.ts";

interface AnswerCase {
  readonly about: string;
  readonly parts?: readonly unknown[];
  readonly candidate?: Json;
  /** Instead of one candidate. */
  readonly answer?: Json;
  readonly message?: Json;
  readonly finish?: readonly [canonical: string, native: string];
  readonly prompt?: number;
  readonly fails?: string;
}

const CASES: readonly AnswerCase[] = [
  { about: "text", parts: [{ text: "a" }, { text: "b" }], message: { content: "ab" } },
  { about: "nothing", parts: [], message: { content: "" } },
  { about: "no content at all", candidate: { finishReason: "STOP" }, message: { content: "" } },
  {
    about: "thoughts, their signature, text",
    parts: [
      { text: "hm ", thought: true },
      { text: "so", thought: true, thoughtSignature: "QQ==" },
      { text: "a" },
      { text: "again", thought: true },
      { text: "b" },
    ],
    message: {
      content: "ab",
      reasoning_content: "hm soagain",
      reasoning_details: [
        { type: "reasoning.text", text: "hm so", signature: "gemini1.h.QQ==" },
        { type: "reasoning.text", text: "again" },
      ],
    },
  },
  {
    about: "thoughts without signatures, apart",
    parts: [{ text: "hm", thought: true }, { text: "a" }, { text: "so", thought: true }],
    message: {
      content: "a",
      reasoning_content: "hmso",
      reasoning_details: [
        { type: "reasoning.text", text: "hm" },
        { type: "reasoning.text", text: "so" },
      ],
    },
  },
  {
    about: "a signature on text, one on an empty text",
    parts: [
      { text: "a", thoughtSignature: "QQ==" },
      { text: "", thoughtSignature: "Qg==" },
    ],
    message: {
      content: "a",
      reasoning_details: [
        { type: "reasoning.encrypted", data: "gemini1.t.QQ==" },
        { type: "reasoning.encrypted", data: "gemini1.e.Qg==" },
      ],
    },
  },
  {
    about: "a signature on an empty thought",
    parts: [{ text: "", thought: true, thoughtSignature: "QQ==" }, { text: "a" }],
    message: { content: "a", reasoning_details: [{ type: "reasoning.text", text: "", signature: "gemini1.h.QQ==" }] },
  },
  {
    about: "function calls end with STOP; no arguments are an empty object",
    parts: [
      { text: "let me" },
      { functionCall: { name: "f", id: "c1" } },
      { functionCall: { name: "g", id: "c2", args: { a: [1] } } },
    ],
    message: {
      content: "let me",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "f", arguments: "{}" } },
        { id: "c2", type: "function", function: { name: "g", arguments: '{"a":[1]}' } },
      ],
    },
    finish: ["tool_calls", "STOP"],
  },
  {
    about: "a function call cut by the limit",
    parts: [{ functionCall: { name: "f", id: "c1" } }],
    candidate: { finishReason: "MAX_TOKENS" },
    message: { content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
    finish: ["length", "MAX_TOKENS"],
  },
  {
    about: "an image",
    parts: [{ text: "see" }, { inlineData: { mimeType: "image/png", data: "iVBO" } }],
    message: { content: "see", images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } }] },
  },
  {
    about: "an image thought of is none of the answer",
    parts: [{ thought: true, inlineData: { mimeType: "image/png", data: "iVBO" } }, { text: "a" }],
    message: { content: "a" },
  },
  { about: "parts of tomorrow", parts: [{ text: "a" }, { later: {} }], message: { content: "a" } },
  ...[
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "LANGUAGE",
    "OTHER",
    "LATER",
  ].map((reason): AnswerCase => ({
    about: `${reason} withholds something`,
    parts: [{ text: "par" }],
    candidate: { finishReason: reason },
    message: { content: "par" },
    finish: ["content_filter", reason],
  })),
  {
    about: "SAFETY without content",
    candidate: { finishReason: "SAFETY" },
    message: { content: null },
    finish: ["content_filter", "SAFETY"],
  },
  {
    about: "MAX_TOKENS",
    parts: [{ text: "a" }],
    candidate: { finishReason: "MAX_TOKENS" },
    message: { content: "a" },
    finish: ["length", "MAX_TOKENS"],
  },
  {
    about: "a prompt that was blocked",
    answer: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 3 } },
    message: { content: null },
    finish: ["content_filter", "PROHIBITED_CONTENT"],
    prompt: 3,
  },
  {
    about: "sources of a search, in characters",
    parts: [{ text: "é is " }, { text: "e" }],
    candidate: {
      groundingMetadata: {
        groundingChunks: [
          { web: { uri: "https://a.example/", title: "A" } },
          { web: { uri: "https://b.example/" } },
          {},
        ],
        groundingSupports: [
          { segment: { startIndex: 3, endIndex: 7 }, groundingChunkIndices: [0, 1, 2, 9] },
          { segment: { endIndex: 2 }, groundingChunkIndices: [0] },
        ],
      },
    },
    message: {
      content: "é is e",
      annotations: [
        ["https://a.example/", "A", 2, 6],
        ["https://b.example/", "https://b.example/", 2, 6],
        ["https://a.example/", "A", 0, 1],
      ].map(([url, title, start_index, end_index]) => ({
        type: "url_citation",
        url_citation: { url, title, start_index, end_index },
      })),
    },
  },
  {
    about: "what it quotes",
    parts: [{ text: "abc" }],
    candidate: {
      citationMetadata: {
        citationSources: [{ startIndex: 1, endIndex: 2, uri: "https://a.example/" }, { license: "x" }],
      },
    },
    message: {
      content: "abc",
      annotations: [
        {
          type: "url_citation",
          url_citation: { url: "https://a.example/", title: "https://a.example/", start_index: 1, end_index: 2 },
        },
      ],
    },
  },
  { about: "no candidates", answer: { candidates: [] }, fails: "protocol: upstream sent an answer without an end" },
  {
    about: "no end",
    answer: { candidates: [{ content: { parts: [{ text: "a" }] } }] },
    fails: "protocol: upstream sent an answer without an end",
  },
  {
    about: "one of two without an end",
    answer: { candidates: [{ finishReason: "STOP" }, { index: 1, content: { parts: [{ text: "a" }] } }] },
    fails: "protocol: upstream sent an answer without an end",
  },
  {
    about: "an unspecified end",
    candidate: { finishReason: "FINISH_REASON_UNSPECIFIED" },
    fails: "protocol: upstream sent an answer without an end",
  },
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"].map((reason): AnswerCase => ({
    about: `${reason} is a failure`,
    candidate: { finishReason: reason, content: {} },
    fails: `protocol: upstream sent an answer that it calls broken (${reason})`,
  })),
  {
    about: "an error in a 200",
    answer: { error: { message: "overloaded" } },
    fails: "status: upstream reported an error: overloaded",
  },
  {
    about: "a call without a name",
    parts: [{ functionCall: { args: {} } }],
    fails: "protocol: upstream sent a function call without a name",
  },
  {
    about: "arguments as text",
    parts: [{ functionCall: { name: "f", args: "{}" } }],
    fails: "protocol: upstream sent a tool input that is no object",
  },
  { about: "a text that is none", parts: [{ text: 1 }], fails: "protocol: upstream sent a text that is none" },
  { about: "a part that is none", parts: ["a"], fails: "protocol: upstream sent a part that is no object" },
  { about: "content that is none", candidate: { content: [] }, fails: "protocol: upstream sent content without parts" },
  {
    about: "candidates that are none",
    answer: { candidates: {} },
    fails: "protocol: upstream sent candidates that are no list",
  },
  {
    about: "a candidate that is none",
    answer: { candidates: [1] },
    fails: "protocol: upstream sent a candidate that is no object",
  },
  {
    about: "a candidate out of range",
    candidate: { index: 1.5 },
    fails: "protocol: upstream sent a candidate out of range",
  },
];

const GOOD = CASES.filter(({ fails }) => fails === undefined);
const BAD = CASES.filter(({ fails }) => fails !== undefined);

const answerOf = ({ answer, parts, candidate }: AnswerCase): Json =>
  answer ?? {
    responseId: "r1",
    modelVersion: "gemini-x",
    candidates: [{ finishReason: "STOP", ...(parts && { content: { parts } }), ...candidate }],
  };

describe.each(GOOD.map((one) => [one.about, one] as const))("%s", (_, one) => {
  const answer = answerOf(one);
  const { body, usage } = chat.answer(bytes(answer), callOf());

  test("complete", () => {
    const [finish_reason, native_finish_reason] = one.finish ?? ["stop", "STOP"];
    expect(body["choices"]).toEqual([
      { index: 0, finish_reason, native_finish_reason, message: { role: "assistant", ...one.message } },
    ]);
    expect(body).toMatchObject({
      object: "chat.completion",
      ...(one.answer === undefined && { id: "chatcmpl-r1", model: "gemini-x" }),
    });
    expect(usage?.prompt).toBe(one.prompt);
  });

  test.each([
    ["whole", [answer]],
    ["a part an event", one.parts ? split(answer) : [answer]],
  ])("streamed, %s, comes to the same", (_how, events) => {
    const { events: chunks, ...ending } = decode([sse(events)]);
    expect(ending).toEqual({ fault: null, done: false, complete: true });
    const [choice] = list(reassemble(chunks)["choices"]);
    const [expected] = list(body["choices"]);
    expect(settled(choice)).toEqual(settled(expected));
    expect(list(chunks[0]!.data["choices"])[0]).toMatchObject({ delta: { role: "assistant" } });
  });
});

/** No content and empty content are one thing: a stream says which only at its end. */
function settled(choice: Json | undefined): Json {
  const message = choice!["message"] as Json;
  return { ...choice, message: { ...message, content: message["content"] ?? "" } };
}

describe.each(BAD.map((one) => [one.about, one] as const))("%s", (_, one) => {
  const answer = answerOf(one);

  test("complete, it fails", () => {
    const { error } = attempt(() => chat.answer(bytes(answer), callOf()));
    expect(`${String(error && "failure" in error && error.failure)}: ${error?.message}`).toBe(one.fails);
  });

  test("streamed, it fails too, or is not whole", () => {
    const { fault, complete } = decode([sse([answer])]);
    expect(complete).toBe(false);
    expect([one.fails, "null: undefined"]).toContain(`${fault && fault.failure}: ${fault?.message}`);
    expect(fault === null).toBe(one.fails!.endsWith("without an end"));
  });
});

/** One part an event, the end in one of its own. */
function split(answer: Json): readonly Json[] {
  const [{ content, ...rest } = {}] = list(answer["candidates"]);
  const parts = list((content as Json)["parts"]);
  const { candidates: _, ...head } = answer;
  return [
    ...parts.map((part) => ({ ...head, candidates: [{ content: { parts: [part] } }] })),
    { ...head, candidates: [rest] },
  ];
}

const usageOf = (usageMetadata: unknown) =>
  chat.answer(bytes({ candidates: [{ finishReason: "STOP" }], usageMetadata }), callOf()).usage;

const token = (name: string, logProbability: number): Json => ({ token: name, tokenId: 1, logProbability });

describe("usage", () => {
  test.each([
    [
      "all of it",
      {
        promptTokenCount: 10,
        toolUsePromptTokenCount: 5,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 4,
        totalTokenCount: 25,
      },
      [15, 10, 4, 3],
    ],
    ["zeros are left out", { promptTokenCount: 10 }, [10, 0, 0, 0]],
    ["more cached than there was", { promptTokenCount: 10, cachedContentTokenCount: 99 }, [10, 0, 10, 0]],
    ["a missing prompt", { candidatesTokenCount: 7 }, null],
    ["text", { promptTokenCount: "10" }, null],
    ["negative", { promptTokenCount: 10, candidatesTokenCount: -1 }, null],
    ["absurd", { promptTokenCount: 1e12 }, null],
    ["nothing", undefined, null],
  ])("%s", (_, counts, wanted) => {
    const usage = usageOf(counts);
    expect(usage && [usage.prompt, usage.completion, usage.cached, usage.reasoning]).toEqual(wanted);
  });
});

test("several candidates, in any order", () => {
  const candidates = [1, 0].map((index) => ({
    index,
    finishReason: "STOP",
    content: { parts: [{ text: `t${index}` }] },
  }));
  const call = callOf({ n: 2 });
  const { body } = chat.answer(bytes({ candidates }), call);
  expect(list(body["choices"]).map(({ index, message }) => [index, (message as Json)["content"]])).toEqual([
    [0, "t0"],
    [1, "t1"],
  ]);
  const { choices } = reassemble(decode([sse([{ candidates }])], call).events);
  expect(
    list(choices)
      .map(({ index, message }) => [index, (message as Json)["content"]])
      .toSorted(([a], [b]) => Number(a) - Number(b)),
  ).toEqual([
    [0, "t0"],
    [1, "t1"],
  ]);
});

test("logprobs", () => {
  const candidate = {
    finishReason: "STOP",
    content: { parts: [{ text: "é" }] },
    logprobsResult: {
      chosenCandidates: [token("é", -0.5), { token: 1 }],
      topCandidates: [{ candidates: [token("é", -0.5), token("e", -2)] }],
    },
  };
  const expected = [
    {
      token: "é",
      logprob: -0.5,
      bytes: [195, 169],
      top_logprobs: [
        { token: "é", logprob: -0.5, bytes: [195, 169] },
        { token: "e", logprob: -2, bytes: [101] },
      ],
    },
  ];
  const { body } = chat.answer(bytes({ candidates: [candidate] }), callOf({ logprobs: true }));
  expect(list(body["choices"])[0]!["logprobs"]).toEqual({ content: expected });
  const streamed = decode([sse([{ candidates: [candidate] }])]).events.flatMap(({ data }) => list(data["choices"]));
  expect(streamed.map((choice) => choice["logprobs"])).toEqual([{ content: expected }, undefined]);
});

test("a time that the upstream tells is the answer's", () => {
  const answer = { createTime: "2026-11-21T20:00:00.5Z", candidates: [{ finishReason: "STOP" }] };
  expect(chat.answer(bytes(answer), callOf()).body["created"]).toBe(Date.UTC(2026, 10, 21, 20) / 1000);
});
