import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { type Cases, casesOf } from "../cases.ts";
import { attempt } from "../wire-cases.ts";
import { bytes, callOf, decode, list, reassemble, sse } from "./support.ts";

interface AnswerCase {
  readonly parts?: readonly unknown[];
  readonly candidate?: Json;
  /** Instead of one candidate. */
  readonly answer?: Json;
  readonly message?: Json;
  readonly finish?: readonly [canonical: string, native: string];
  readonly prompt?: number;
  readonly fails?: string;
}

const casesIn = (file: string) => casesOf(new URL(`answers/${file}.yaml`, import.meta.url)) as Cases<AnswerCase>;

const answerOf = ({ answer, parts, candidate }: AnswerCase): Json =>
  answer ?? {
    responseId: "r1",
    modelVersion: "gemini-x",
    candidates: [{ finishReason: "STOP", ...(parts && { content: { parts } }), ...candidate }],
  };

describe.each(casesIn("good"))("%s", (_, one) => {
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

describe.each(casesIn("broken"))("%s", (_, one) => {
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
