import { expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import type { AnswerCodec, UnwrittenBody, UpstreamRequest } from "../../src/dialects/dialect.ts";
import type { DialectName, Json } from "../../src/kit/index.ts";
import { cpuOf } from "../support/cpu.ts";
import { testTarget } from "../support/snapshot.ts";
import { codecOf } from "./wire-cases.ts";

/** What is written of a request: a long one is still to be. */
const textOf = ({ body }: UpstreamRequest): string =>
  typeof body === "string" ? body : JSON.stringify((body as UnwrittenBody).json);

const MANY = 20_000;
/** Milliseconds: what copies all that came before takes four seconds and more. */
const LONGEST = 1_500;
const USER = { role: "user", content: "x" };
const times = (make: (index: number) => Json): Json[] => Array.from({ length: MANY }, (_, index) => make(index));

const CALL = (index: number): Json => ({
  id: `c${index}`,
  type: "function",
  function: { name: "f", arguments: "{}" },
});

const IMAGE: Json = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const FILE: Json = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } };

function strangeId(index: number): string {
  const made = index < MANY / 2;
  return made ? `call${String(MANY / 2 + index).padStart(5, "0")}` : `a b ${index}`;
}

function dotted(index: number): string {
  return index.toString(2).padStart(16, "0").replaceAll("0", ".").replaceAll("1", " ");
}

const SHAPES: Readonly<Record<string, () => Json[]>> = {
  "system messages": () => [...times(() => ({ role: "system", content: "x" })), USER],
  "results of tools": () => [
    USER,
    { role: "assistant", tool_calls: times((index) => CALL(index)) },
    ...times((index) => ({ role: "tool", tool_call_id: `c${index}`, content: "y" })),
  ],
  "answers in a row": () => [USER, ...times(() => ({ role: "assistant", content: "x" })), USER],
  "ids that look like made ones, then ids that no upstream takes": () => [
    USER,
    { role: "assistant", tool_calls: times((index) => ({ ...CALL(index), id: strangeId(index) })) },
    ...times((index) => ({ role: "tool", tool_call_id: strangeId(index), content: "y" })),
  ],
  "ids that become one where letters are demanded": () => [
    USER,
    { role: "assistant", tool_calls: times((index) => ({ ...CALL(index), id: dotted(index) })) },
    ...times((index) => ({ role: "tool", tool_call_id: dotted(index), content: "y" })),
  ],
  "results with images": () => [
    USER,
    { role: "assistant", tool_calls: times((index) => CALL(index)) },
    ...times((index) => ({ role: "tool", tool_call_id: `c${index}`, content: [IMAGE] })),
  ],
  "files of one name": () => [USER, ...times(() => ({ role: "user", content: [FILE] }))],
  "fields that nobody knows": () => times(() => ({ role: "user", content: "x", odd: 1 })),
};
const CASES = Object.keys(SHAPES).flatMap((shape) =>
  (["openai", "anthropic", "gemini", "bedrock", "cohere"] as const)
    .filter((dialect) => dialect !== "cohere" || shape !== "files of one name")
    .map((dialect) => [shape, dialect] as const),
);

test.each<readonly [string, DialectName]>(CASES)("%s by the ten thousand do not block: %s", (shape, dialect) => {
  const call = readChat({ model: "route/one", messages: SHAPES[shape]!() });
  const { value, ms } = cpuOf(() => codecOf(dialect, "chat").request(call, testTarget("alpha"), "key"));
  expect(ms).toBeLessThan(LONGEST);
  expect(textOf(value).length).toBeGreaterThan(MANY);
});

const RESPONSES = DIALECTS.openai!.at!({ baseUrl: "http://127.0.0.1/v1", headers: {}, api: "responses" }).codecs[
  "chat"
]!;

/** Parts by the hundred thousand: more than a call takes as arguments. */
const PARTS = 3 * MANY;
const PART_SHAPES: Readonly<Record<string, () => Json[]>> = {
  "a user's parts": () => [{ role: "user", content: parts() }],
  "an assistant's parts": () => [USER, { role: "assistant", content: parts() }, USER],
  "a system message's parts": () => [{ role: "system", content: parts() }, USER],
  "parts of a result": () => [
    USER,
    { role: "assistant", tool_calls: [CALL(0)] },
    { role: "tool", tool_call_id: "c0", content: parts() },
  ],
  "parts that nobody knows": () => [{ role: "user", content: [...parts({ odd: 1 })] }],
};

function parts(more: Json = {}): Json[] {
  return Array.from({ length: PARTS }, () => ({ type: "text", text: "x", ...more }));
}

const PART_CASES = Object.keys(PART_SHAPES).flatMap((shape) =>
  (["openai", "anthropic", "gemini", "bedrock", "cohere", "responses"] as const).map((name) => [shape, name] as const),
);

test.each(PART_CASES)("%s by the hundred thousand are written: %s", (shape, name) => {
  const call = readChat({ model: "route/one", messages: PART_SHAPES[shape]!() });
  const codec = name === "responses" ? (RESPONSES as AnswerCodec) : codecOf(name, "chat");
  const { value, ms } = cpuOf(() => codec.request(call, testTarget("alpha"), "key"));
  expect(ms).toBeLessThan(LONGEST);
  expect(textOf(value).length).toBeGreaterThan(PARTS);
});

test("allowed tools by the ten thousand do not block a Responses client", () => {
  const tools = times((index) => ({ type: "function", name: `t${index}`, parameters: {} }));
  const named = times((index) => ({ type: "function", name: `t${MANY - 1 - index}` }));
  const tool_choice = { type: "allowed_tools", mode: "auto", tools: named };
  const { value, ms } = cpuOf(() => readResponses({ model: "route/one", input: "x", tools, tool_choice }));
  expect(ms).toBeLessThan(LONGEST);
  expect(value.body["tools"]).toHaveLength(MANY);
});

test("reasoning items by the ten thousand do not block the Responses API", () => {
  const input = [
    ...times((index) => ({ type: "reasoning", id: `rs_${index}`, summary: [], encrypted_content: "AAAA" })),
    { role: "user", content: "x" },
  ];
  const call = readResponses({ model: "route/one", input });
  const { ms } = cpuOf(() => (RESPONSES as AnswerCodec).request(call, testTarget("alpha"), "key"));
  expect(ms).toBeLessThan(LONGEST);
});
