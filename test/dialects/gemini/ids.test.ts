import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallIds } from "../../../src/dialects/gemini/candidates.ts";
import { readCallId, withSignature } from "../../../src/dialects/canonical/tools.ts";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { bytes, callOf, decode, list, reassemble, send, sse } from "./support.ts";

const idsOf = (body: Json, messages: number): readonly unknown[] => {
  const call = callOf({ messages: Array.from({ length: messages }, () => ({ role: "user", content: "a" })) });
  return list(list(chat.answer(bytes(body), call).body["choices"])[0]!["message"]!["tool_calls" as never]).map(
    ({ id }) => id,
  );
};

/** A client that keeps only what OpenAI's API names. */
const bare = (message: Json): Json => ({
  role: "assistant",
  content: message["content"],
  tool_calls: list(message["tool_calls"]).map(({ id, type, function: called }) => ({ id, type, function: called })),
});

const plainId = fc.stringMatching(/^[\w-]{1,40}$/).filter((id) => !id.includes("__ts1_"));
const signature = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((one) => Buffer.from(one).toString("base64"));

describe("a signature in an id", () => {
  test("comes back as it was, in characters that every provider's ids may have", () => {
    fc.assert(
      fc.property(plainId, signature, (id, signed) => {
        const carried = withSignature(id, signed);
        expect(carried).toMatch(/^[\w-]+$/);
        expect(readCallId(carried)).toEqual({ id, signature: signed });
      }),
    );
  });

  test("its form is fixed: version 1", () => {
    expect(withSignature("call_1", "AP+/8A==")).toBe("call_1__ts1_1b7963f6_AP-_8A");
    expect(readCallId("call_1__ts1_1b7963f6_AP-_8A")).toEqual({ id: "call_1", signature: "AP+/8A==" });
  });

  test("is not made of what is no base64, or of nothing", () => {
    for (const signed of [null, "", "not base64!", "QQ", "QR=="]) expect(withSignature("a", signed)).toBe("a");
  });

  test("is forgotten, never falsified, when an id was cut short or changed", () => {
    fc.assert(
      fc.property(signature, fc.nat(), (signed, place) => {
        const carried = withSignature("call_1", signed);
        const cut = carried.slice(0, "call_1__ts1_".length + (place % (carried.length - "call_1__ts1_".length)));
        expect(readCallId(cut)).toEqual({ id: "call_1", signature: null });
      }),
    );
    expect(readCallId("call_1__ts1_00000000_AP-_8A")).toEqual({ id: "call_1", signature: null });
  });
});

describe("ids of calls", () => {
  test("the upstream's own stay", () => {
    expect(new CallIds("seed").next("own-1")).toBe("own-1");
  });

  test("are the upstream's own where they can be, else made; always new", () => {
    const own = fc.oneof(fc.constantFrom("a", "b", "", "a b", "x__ts1_y", "é", "a".repeat(65)), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(own, { maxLength: 20 }), (all) => {
        const ids = new CallIds("seed");
        const made = all.map((one) => ids.next(one));
        expect(new Set(made).size).toBe(all.length);
        for (const id of made) expect(id).toMatch(/^[\w-]{1,64}$/);
        const again = new CallIds("seed");
        expect(all.map((one) => again.next(one))).toEqual(made);
      }),
    );
  });

  const parts = [{ functionCall: { name: "f" } }, { functionCall: { name: "f", id: "own-1", args: { a: 1 } } }];
  const answer = (responseId?: string): Json => ({
    ...(responseId !== undefined && { responseId }),
    candidates: [{ content: { parts }, finishReason: "STOP" }],
  });

  test("differ between answers, with a response id or without", () => {
    const made = [idsOf(answer("r1"), 1), idsOf(answer("r2"), 1), idsOf(answer(), 1), idsOf(answer(), 3)];
    expect(new Set(made.map(([first]) => first)).size).toBe(4);
    expect(made.every(([, second]) => second === "own-1")).toBe(true);
    expect(idsOf(answer("r1"), 1)).toEqual(made[0]);
  });
});

describe("parallel calls, of which only the first is signed", () => {
  const parts = [
    { functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "U0lH" },
    { functionCall: { name: "g", args: {} } },
  ];
  const body = { responseId: "r", candidates: [{ content: { parts }, finishReason: "STOP" }] };
  const complete = list(chat.answer(bytes(body), callOf()).body["choices"])[0]!["message"] as Json;

  const results = list(complete["tool_calls"]).map(({ id }) => ({ role: "tool", tool_call_id: id, content: "ok" }));

  test.each([
    ["a client that keeps every field", complete],
    ["a client that keeps ids alone", bare(complete)],
    ["a streaming client", list(reassemble(decode([sse([body])]).events)["choices"])[0]!["message"] as Json],
  ])("%s brings it back, and the ids without it", (_, message) => {
    const sent = send(callOf({ messages: [{ role: "user", content: "q" }, message, ...results] }), "gemini-3-pro");
    const [, modelTurn, userTurn] = list(sent.body["contents"]);
    const calls = list(modelTurn!["parts"]);
    expect(calls.map((part) => part["thoughtSignature"])).toEqual(["U0lH", undefined]);
    const ids = calls.map((part) => (part["functionCall"] as Json)["id"]);
    expect(list(userTurn!["parts"]).map((part) => part["functionResponse"])).toEqual([
      { id: ids[0], name: "f", response: { output: "ok" } },
      { id: ids[1], name: "g", response: { output: "ok" } },
    ]);
    expect(ids.every((id) => /^call_[0-9a-f]{24}$/.test(String(id)))).toBe(true);
    expect(sent.dropped).toEqual([]);
  });
});
