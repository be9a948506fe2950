import { expect, test } from "vitest";
import { ExchangeState } from "../../src/pipeline/exchange.ts";
import { PackedText } from "../../src/pipeline/texts.ts";
import { chatFormat, readChat } from "../../src/dialects/chat/client.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../src/dialects/responses/client/format.ts";
import type { AnswerFormat, Call, Host } from "../../src/kit/index.ts";
import { TestClient } from "../support/client.ts";
import { plugin } from "../support/spy.ts";
import { streams } from "../support/upstream.ts";
import { benchWith } from "./faults.ts";
import { testModel, testSnapshot } from "../support/snapshot.ts";

const snapshot = testSnapshot({ models: [testModel("route/free")] });
const BODY = { model: "route/free", stream: true, max_tokens: 7, messages: [{ role: "user", content: "hi" }] };

const broken = (): Promise<number> => Promise.reject(new Error("worker died"));

function stateOf(call: Call = Object.freeze(readChat(BODY)), format: AnswerFormat = chatFormat(call)) {
  const kept: number[] = [];
  const head = { requestId: "r1", credentials: { kind: "none" }, ip: "", endpoint: "chat" } as const;
  const state = new ExchangeState(
    {
      id: "exchange-1",
      receivedAt: 0,
      head,
      client: new TestClient(),
      body: { call, format },
      keep: (bytes) => kept.push(bytes),
    },
    { userId: "ann", tier: "Free", keyId: "key_ann" },
    { snapshot, now: () => 0, countTokens: broken } as Partial<Host> as Host,
  );
  return { state, exchange: state.exchange, kept };
}

test("an exchange has its whole call, then the facts of it; what is gone says so", async () => {
  const call = Object.freeze({ ...readChat(BODY), units: { images: 1 }, headers: { "anthropic-beta": "x" } });
  const { state, exchange } = stateOf(call);
  expect(exchange.call).toBe(call);
  const begun = state.begin();
  const { body: _body, ...facts } = call;
  expect({ ...exchange.call }).toEqual(facts);
  expect(() => exchange.call.body).toThrow("call.body is gone once an answer streams");
  expect(() => exchange.call.native).toThrow("call.native is gone once an answer streams");
  expect(() => state.format).toThrow(TypeError);
  expect(Object.isFrozen(exchange) && Object.isFrozen(exchange.call)).toBe(true);
  await begun;
});

test("what is held shrinks to the prompt, and with it packed to less; media are in none", async () => {
  const url = `data:image/png;base64,${"A".repeat(200_000)}`;
  const text = "the same words again ".repeat(10_000);
  const content = [
    { type: "text", text },
    { type: "image_url", image_url: { url } },
  ];
  const { state, kept } = stateOf(Object.freeze(readChat({ ...BODY, messages: [{ role: "user", content }] })));
  await state.begin();
  expect(kept).toHaveLength(2);
  expect(kept[0]).toBeGreaterThanOrEqual(text.length);
  expect(kept[0]).toBeLessThan(text.length + 100);
  expect(kept[1]).toBeLessThan(text.length / 10);
});

test("a Responses stream holds what its events repeat of the request", async () => {
  const instructions = "Be brief. ".repeat(1_000);
  const call = Object.freeze(readResponses({ model: "route/free", stream: true, instructions, input: "hi" }));
  const { state, kept } = stateOf(call, responsesFormat(call));
  await state.begin();
  // Once as the prompt, once for the events.
  expect(kept[0]).toBeGreaterThan(2 * instructions.length);
  expect(
    state.streamFormat.done({
      usage: { prompt: 1, completion: 1, cached: 0, reasoning: 0 },
      estimated: false,
      charge: 0n,
    }),
  ).toContain(instructions);
});

test.each(["", "short", "a longer text, ü and 😀 ".repeat(5_000)])("a kept text is counted as it was", async (text) => {
  const kept = new PackedText(text);
  const counted: string[] = [];
  const count = async (given: string): Promise<number> => counted.push(given);
  await kept.tokens(count);
  await kept.pack();
  await kept.tokens(count);
  expect(counted).toEqual([text, text]);
});

test("a text that cannot be counted is guessed by its length, packed or not", async () => {
  const kept = new PackedText("abcd".repeat(10_000));
  expect(await kept.tokens(broken)).toBe(10_000);
  await kept.pack();
  expect(await kept.tokens(broken)).toBe(10_000);
});

test("hooks have the facts of a streaming request to its end; one that reads its body fails, by name", async () => {
  const seen: unknown[] = [];
  const reads = plugin("reads", "transform", {
    transform: (call, exchange) => {
      seen.push(exchange.call.body["model"]);
      return call;
    },
    event: (event, { call }) => {
      seen.push(call.kind);
      return { ...event, data: { ...event.data, asked: (call as Call).body["model"] } };
    },
  });
  const bench = await benchWith(reads, "closed");
  bench.upstream.play(streams());
  await bench.stream().done;
  await bench.audit();
  expect(seen).toEqual(["route/free", "chat"]);
  expect(bench.observer.pluginFailures).toMatchObject([
    { name: "reads", error: { message: expect.stringContaining("call.body is gone once an answer streams") } },
  ]);
  expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "gateway_error", bill: { charge: 0n } });
});
