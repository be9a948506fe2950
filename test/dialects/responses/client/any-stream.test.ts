import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { contract } from "./contract.ts";
import { call, more, TOOLS } from "./deltas.ts";
import { answer, assemble, chunks, completion, essence, faults, frames, stream } from "./support.ts";

const check = contract();

/** Deltas as upstreams send them, in any order. */
const text = fc.string({ unit: "grapheme", maxLength: 6 });
const delta: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ content: text }),
  fc.record({ reasoning_content: text }),
  fc.record({ refusal: text }),
  fc.record({
    reasoning_details: fc.array(
      fc.record({ type: fc.constant("reasoning.text"), index: fc.nat(2), signature: text }, { requiredKeys: ["type"] }),
      { maxLength: 2 },
    ),
  }),
  fc
    .record({
      index: fc.nat(2),
      id: fc.constantFrom("c1", "c2", ""),
      name: fc.constantFrom("add", "patch", ""),
      args: text,
    })
    .map(({ index, id, name, args }) => call(index, id, name, args)),
);

test("any deltas: events are described ones, and come to the items of the last event", () => {
  fc.assert(
    fc.property(
      fc.array(delta, { maxLength: 12 }),
      fc.constantFrom("stop", "length", "tool_calls"),
      fc.constantFrom("done", "killed"),
      (deltas, finish, ending) => {
        const all = frames(stream(chunks(deltas, finish), TOOLS, ending));
        expect(faults(check, all)).toEqual([]);
        expect(essence(assemble(all))).toEqual(essence((all.at(-1)!["response"] as Json)["output"]));
      },
    ),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

/** Deltas that are not even of their type. */
test("any JSON for a chunk: never an exception, never an event that is not described", () => {
  const json = fc.jsonValue({ maxDepth: 2 });
  const odd = fc.dictionary(
    fc.constantFrom(
      "content",
      "reasoning_content",
      "reasoning_details",
      "tool_calls",
      "refusal",
      "annotations",
      "images",
    ),
    fc.oneof(
      json,
      fc.array(fc.dictionary(fc.constantFrom("index", "id", "function", "type", "text", "url_citation"), json)),
    ),
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 5 }), json, (deltas, finish) => {
      const events = chunks(deltas, null);
      const last = {
        data: { id: finish, created: finish, choices: [{ finish_reason: finish }, finish] } as Json,
        text: "",
      };
      expect(faults(check, frames(stream([...events, last], TOOLS)))).toEqual([]);
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

/** A text in any pieces. */
const pieces = (whole: string) =>
  fc.array(fc.nat(whole.length), { maxLength: 5 }).map((places) => {
    const ends = [...places.toSorted((a, b) => a - b), whole.length];
    return ends.map((end, index) => whole.slice(index === 0 ? 0 : ends[index - 1], end));
  });

test("a stream cut into any pieces is the answer of the whole message", () => {
  const shape = fc.record({
    reasoning: text,
    content: text,
    args: fc.jsonValue().map((value) => JSON.stringify(value)),
  });
  fc.assert(
    fc.property(
      shape.chain((parts) =>
        fc.record({
          parts: fc.constant(parts),
          reasoning: pieces(parts.reasoning),
          content: pieces(parts.content),
          args: pieces(parts.args),
        }),
      ),
      ({ parts, reasoning, content, args }) => {
        const deltas = [
          ...reasoning.map((reasoning_content) => ({ reasoning_content })),
          ...content.map((content) => ({ content })),
          call(0, "c", "add", ""),
          ...args.map((piece) => more(0, piece)),
        ];
        const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
        const message = {
          content: parts.content,
          reasoning_content: parts.reasoning,
          tool_calls: [{ id: "c", type: "function", function: { name: "add", arguments: parts.args } }],
        };
        const whole = answer(completion(message, "tool_calls", { usage }), TOOLS);
        const streamed = frames(stream(chunks(deltas, "tool_calls"), TOOLS)).at(-1)!["response"];
        expect(streamed).toEqual(whole);
      },
    ),
  );
});
