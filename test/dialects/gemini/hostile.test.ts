import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { cutAt, cuts } from "../decode.ts";
import { attempt } from "../wire-cases.ts";
import { bytes, callOf, decode, sse } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

const junk = fc.jsonValue({ maxDepth: 2 });
/** Mostly of the right shape, with anything anywhere. */
const field = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ weight: 6, arbitrary: good }, junk);
const record = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  field(fc.record(fields, { requiredKeys: [] }));
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => field(fc.array(item, { maxLength: 3 }));
const text = field(fc.string({ maxLength: 5 }));

const partialArg = record({
  jsonPath: field(fc.constantFrom("$.a", "$.a[0]", "$.a.b", "$['x']", "$", "$..", "$.a[7]")),
  stringValue: text,
  numberValue: field(fc.integer()),
});
const functionCall = record({
  name: field(fc.constant("f")),
  id: text,
  args: field(fc.dictionary(fc.string(), junk)),
  partialArgs: listOf(partialArg),
  willContinue: field(fc.boolean()),
});
const part = record({
  text,
  thought: field(fc.boolean()),
  thoughtSignature: text,
  functionCall,
  inlineData: record({ mimeType: field(fc.constant("image/png")), data: text }),
});
const web = record({ web: record({ uri: text, title: text }) });
const support = record({
  segment: record({ startIndex: field(fc.nat(9)), endIndex: field(fc.nat(9)) }),
  groundingChunkIndices: listOf(field(fc.nat(3))),
});
const candidate = record({
  index: field(fc.nat(2)),
  content: record({ parts: listOf(part) }),
  finishReason: field(fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL")),
  groundingMetadata: record({ groundingChunks: listOf(web), groundingSupports: listOf(support) }),
  citationMetadata: record({ citationSources: listOf(record({ uri: text, endIndex: field(fc.nat(9)) })) }),
  logprobsResult: record({
    chosenCandidates: listOf(record({ token: text, logProbability: field(fc.double()) })),
    topCandidates: listOf(junk),
  }),
});
const count = field(fc.integer({ min: -1, max: 20 }));
const answer = record({
  candidates: listOf(candidate),
  promptFeedback: record({ blockReason: text }),
  usageMetadata: record({
    promptTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
    cachedContentTokenCount: count,
  }),
  responseId: text,
  modelVersion: text,
  createTime: text,
  error: fc.constantFrom(undefined, undefined, undefined, { message: "m" }),
});

describe("whatever an upstream writes", () => {
  test("a body is an answer or a failure of the attempt, never another error", () => {
    let read = 0;
    fc.assert(
      fc.property(answer, (body) => {
        const { value, error } = attempt(() => chat.answer(bytes(JSON.stringify(body)), callOf()));
        if (value === undefined) return error?.name === "AttemptError";
        read += 1;
        for (const choice of value.body["choices"] as readonly Json[]) {
          expect(["stop", "length", "tool_calls", "content_filter"]).toContain(choice["finish_reason"]);
        }
        return Object.values(value.usage ?? {}).every((number) => Number.isSafeInteger(number) && number >= 0);
      }),
      { numRuns: RUNS },
    );
    expect(read).toBeGreaterThan(RUNS / 16);
  });

  test("a stream never throws, is read alike however it is split, and ends each choice once if it is whole", () => {
    const stream = fc.array(answer, { maxLength: 4 }).chain((events) => {
      const body = sse(events.map((one) => one ?? {}));
      return fc.record({ body: fc.constant(body), places: cuts(body) });
    });
    let whole = 0;
    fc.assert(
      fc.property(stream, ({ body, places }) => {
        const decoded = decode([body]);
        expect(decode(cutAt(body, places))).toEqual(decoded);
        const choices = decoded.events.flatMap(({ data }) => data["choices"] as readonly Json[]);
        const ends = choices.filter((choice) => choice["finish_reason"] !== null);
        if (decoded.fault !== null || !decoded.complete) return ends.length === 0;
        whole += 1;
        expect(ends.map(({ index }) => index)).toEqual(
          [...new Set(choices.map(({ index }) => index))].toSorted((a, b) => Number(a) - Number(b)),
        );
        for (const { index } of ends) {
          const own = choices.filter((choice) => choice["index"] === index);
          expect(own.at(-1)!["finish_reason"]).not.toBeNull();
          const calls = own.flatMap((choice) => ((choice["delta"] as Json)["tool_calls"] ?? []) as readonly Json[]);
          expect(calls.map((call) => call["index"])).toEqual([...calls.keys()]);
          expect(new Set(calls.map((call) => call["id"])).size).toBe(calls.length);
        }
        return true;
      }),
      { numRuns: RUNS },
    );
    expect(whole).toBeGreaterThan(RUNS / 66);
  });

  test("so it is with arguments nested as deeply as JSON can be read", () => {
    const args = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    const body = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`;
    const { value, error } = attempt(() => chat.answer(bytes(body), callOf()));
    expect(value ?? error).toBeDefined();
    expect(decode([bytes(`data: ${body}\n\n`)]).fault === null).toBe(value !== undefined);
  });
});
