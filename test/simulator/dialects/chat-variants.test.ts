import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFECTS } from "../../../src/simulator/script.ts";
import { scriptedUrl, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, chat, dataOf } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

type Object_ = Record<string, unknown>;
interface Chunk extends Object_ {
  readonly choices: readonly (Object_ & { readonly delta: Object_ & { readonly tool_calls?: readonly Object_[] } })[];
  readonly usage?: Object_ | null;
}

const tools = ["one", "two"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
}));
/** Reasoning, then two calls. */
const ASKED = chat("one two", { model: "reason", tools });

const ask = async (defect: string, body: object = ASKED) => {
  const asked = { ...body, stream: true, stream_options: { include_usage: true } };
  const seen = await call(`${scriptedUrl(simulator.origin, `defect=${defect}`)}/chat/completions`, { body: asked });
  const data = dataOf(seen.text);
  const done = data.at(-1) === "[DONE]";
  return { done, chunks: (done ? data.slice(0, -1) : data).map((one) => JSON.parse(one) as Chunk) };
};
const whole = async (defect: string, body: object = ASKED) =>
  JSON.parse(
    (await call(`${scriptedUrl(simulator.origin, `defect=${defect}`)}/chat/completions`, { body })).text,
  ) as Object_;
const choicesOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ choices }) => choices);
const callsOf = (chunks: readonly Chunk[]) => choicesOf(chunks).flatMap(({ delta }) => delta.tool_calls ?? []);
const said = (chunks: readonly Chunk[]) =>
  callsOf(chunks)
    .map((one) => (one["function"] as Object_)["arguments"])
    .join("");
const nameOf = ({ function: made }: Object_) => (made as Object_)["name"];
const USAGE = { prompt_tokens: 2, completion_tokens: 11, completion_tokens_details: { reasoning_tokens: 7 } };

/** What each of them changes. */
const CHANGES: Record<(typeof DEFECTS)[number], () => Promise<void>> = {
  "no-role": async () => {
    expect(choicesOf((await ask("no-role")).chunks).some(({ delta }) => "role" in delta)).toBe(false);
  },
  "no-finish": async () => {
    const { chunks, done } = await ask("no-finish");
    expect(choicesOf(chunks).every((choice) => choice["finish_reason"] === null)).toBe(true);
    expect(done).toBe(true);
  },
  "no-done": async () => {
    expect((await ask("no-done")).done).toBe(false);
  },
  "no-object": async () => {
    expect((await ask("no-object")).chunks.some((chunk) => "object" in chunk)).toBe(false);
    expect(await whole("no-object")).not.toHaveProperty("object");
  },
  "tool-index-1": async () => {
    const calls = callsOf((await ask("tool-index-1")).chunks);
    expect([...new Set(calls.map((one) => one["index"]))]).toEqual([1, 2]);
  },
  "tool-no-index": async () => {
    expect(callsOf((await ask("tool-no-index")).chunks).some((one) => "index" in one)).toBe(false);
  },
  "tool-no-type": async () => {
    expect(callsOf((await ask("tool-no-type")).chunks).some((one) => "type" in one)).toBe(false);
  },
  "empty-ids": async () => {
    const ids = callsOf((await ask("empty-ids")).chunks).map((one) => String(one["id"]));
    expect(ids.filter((id) => id !== "")).toHaveLength(2);
    expect(ids.filter((id) => id === "").length).toBeGreaterThan(2);
  },
  "repeated-ids": async () => {
    const calls = callsOf((await ask("repeated-ids")).chunks);
    expect(
      calls.every((one) => String(one["id"]).startsWith("call_") && ["one", "two"].includes(String(nameOf(one)))),
    ).toBe(true);
  },
  "null-deltas": async () => {
    const [, second] = choicesOf((await ask("null-deltas")).chunks);
    expect(second?.delta).toMatchObject({
      role: null,
      content: null,
      tool_calls: null,
      reasoning_content: "Simulated",
    });
  },
  "azure-first-chunk": async () => {
    const { chunks } = await ask("azure-first-chunk");
    expect(chunks[0]).toMatchObject({ choices: [], id: "", model: "", prompt_filter_results: [{}] });
    expect(chunks[1]?.choices[0]?.delta["role"]).toBe("assistant");
  },
  "usage-every-chunk": async () => {
    const { chunks } = await ask("usage-every-chunk");
    const counts = chunks.map(({ usage }) => Number(usage?.["completion_tokens"]));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect([counts[0], counts.at(-1)]).toEqual([0, 11]);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], usage: USAGE });
  },
  "usage-with-choices": async () => {
    const { chunks } = await ask("usage-with-choices");
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], usage: USAGE });
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  },
  "xai-reasoning": async () => {
    const usage = { ...USAGE, completion_tokens: 4, total_tokens: 13 };
    const { chunks } = await ask("xai-reasoning");
    expect(chunks.at(-1)?.usage).toMatchObject(usage);
    expect(choicesOf(chunks).filter((choice) => "finish_reason" in choice)).toHaveLength(1);
    expect(await whole("xai-reasoning")).toMatchObject({ usage });
  },
  "groq-usage": async () => {
    const last = (await ask("groq-usage")).chunks.at(-1);
    expect(last).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], x_groq: { usage: USAGE } });
    expect(last).not.toHaveProperty("usage");
  },
  "mistral-tools": async () => {
    const { chunks } = await ask("mistral-tools");
    const calls = callsOf(chunks);
    expect(calls.some((one) => "index" in one || "type" in one)).toBe(false);
    expect(calls.map(nameOf).filter((name) => name !== "")).toEqual(["one", "two"]);
    expect(choicesOf(chunks)[1]?.delta).toMatchObject({
      content: [{ type: "thinking", thinking: [{ type: "text", text: "Simulated" }] }],
    });
    expect(JSON.stringify(await whole("mistral-tools", chat("hi", { model: "reason" })))).toMatch(
      /"content":\[\{"type":"thinking".*\},\{"type":"text"/,
    );
  },
};

describe("each breaks its own rule", () => {
  test.each(DEFECTS.map((defect) => [defect]))("%s", async (defect) => {
    await expect(CHANGES[defect]()).resolves.toBeUndefined();
  });
});

test("none of them changes what is said or counted", async () => {
  const healthy = await ask("");
  const before = simulator.ledger().at(-1);
  for (const defect of DEFECTS) {
    expect(said((await ask(defect)).chunks)).toBe(said(healthy.chunks));
    expect(simulator.ledger().at(-1)).toMatchObject({ tokens: before?.tokens, claimed: before?.claimed });
  }
});

test("several at once", async () => {
  const { chunks, done } = await ask("no-role,no-done,tool-no-type,usage-with-choices,azure-first-chunk");
  expect(done).toBe(false);
  expect(chunks[0]?.choices).toEqual([]);
  expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], usage: USAGE });
  expect(JSON.stringify(chunks)).not.toMatch(/"role"|"type":"function"/);
});
