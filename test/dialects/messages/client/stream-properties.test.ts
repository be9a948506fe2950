import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import type { Json } from "../../../../src/kit/index.ts";
import {
  answer,
  answered,
  args,
  assembled,
  begun,
  bill,
  chunk,
  finish,
  frames,
  said,
  streamFormat,
  thought,
  written,
} from "./support.ts";

const words = (value: unknown): string => (typeof value === "string" ? value : "");
/** The text in pieces, at places that a seed picks. */
const pieces = (text: string, size: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));

describe("whatever comes", () => {
  const word = fc.string({ unit: "grapheme", maxLength: 6 });
  const loose = fc.oneof(word, fc.constantFrom(null, undefined, 5, [], {}));
  const detail = fc.record(
    {
      type: fc.constantFrom("reasoning.text", "reasoning.encrypted", "reasoning.summary", "x"),
      index: fc.constantFrom(0, 1, undefined),
      text: loose,
      signature: loose,
      summary: loose,
      data: loose,
    },
    { requiredKeys: ["type"] },
  );
  const toolDelta = fc.record(
    {
      index: fc.constantFrom(0, 1, 2, undefined),
      id: loose,
      function: fc.oneof(
        fc.record({ name: loose, arguments: fc.oneof(loose, fc.constantFrom("{", "}", '"', "{}")) }),
        fc.constant(5),
      ),
    },
    { requiredKeys: [] },
  );
  const delta = fc.record(
    {
      content: loose,
      reasoning_content: loose,
      reasoning_details: fc.oneof(fc.array(detail, { maxLength: 3 }), fc.constant(5)),
      tool_calls: fc.oneof(fc.array(toolDelta, { maxLength: 3 }), fc.constant("x")),
      refusal: loose,
      native: fc.anything({ maxDepth: 3 }),
    },
    { requiredKeys: [] },
  );

  test("the events are in order and no text or argument is lost or made up", () => {
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 12 }), fc.boolean(), (deltas, killed) => {
        const format = streamFormat();
        const events = deltas.map((each) => format.event(chunk(each as Json))).join("");
        const payloads = frames(events + (killed ? format.killed(bill) : format.done(bill)));
        const { content } = assembled(payloads);
        const given = deltas.map((each) => words(each.content) + words(each.refusal)).join("");
        const shown = content.map((block) => (block["type"] === "text" ? words(block["text"]) : "")).join("");
        expect(killed ? given.startsWith(shown) : shown === given).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  const json = fc.dictionary(word, fc.oneof(word, fc.integer(), fc.constant(null), fc.array(word, { maxLength: 2 })), {
    maxKeys: 3,
  });
  const whole = fc.record({
    reasoning: fc.array(fc.record({ text: fc.string({ minLength: 1, maxLength: 8 }), signature: word }), {
      maxLength: 3,
    }),
    content: word,
    calls: fc.array(json, { maxLength: 3 }),
    reason: fc.constantFrom("stop", "length", "tool_calls", "content_filter"),
  });

  test("a stream put together is the complete answer of the same content", () => {
    fc.assert(
      fc.property(
        whole,
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        ({ reasoning, content, calls, reason }, size, mixed) => {
          const details = reasoning.map(({ text, signature }) => ({
            type: "reasoning.text",
            text,
            ...(signature ? { signature } : {}),
          }));
          const tool_calls = calls.map((input, index) => ({
            id: `call_${index}`,
            type: "function",
            function: {
              name: "f",
              arguments: JSON.stringify(input),
            },
          }));
          const runs = calls.map((input, index) => [
            begun(index, "f"),
            ...pieces(JSON.stringify(input), size).map((piece) => args(index, piece)),
          ]);
          const longest = Math.max(0, ...runs.map((run) => run.length));
          const interleaved = Array.from({ length: longest }, (_, n) =>
            runs.flatMap((run) => run.slice(n, n + 1)),
          ).flat();
          const events = [
            ...reasoning.flatMap(({ text, signature }, index) => [
              ...pieces(text, size).map((piece) => thought(index, { text: piece })),
              thought(index, { signature }),
            ]),
            ...pieces(content, size).map(said),
            ...(mixed ? interleaved : runs.flat()),
            finish(reason),
          ];
          const message = { content, tool_calls, reasoning_details: details };
          const complete = answered(answer(message, { finish_reason: reason }));
          expect(assembled(frames(written(events))).message).toEqual(complete);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
