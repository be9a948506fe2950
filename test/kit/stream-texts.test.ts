import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import {
  isJson,
  type Json,
  type StreamEvent,
  streamTexts,
  type TextChange,
  withAnswerTexts,
} from "../../src/kit/index.ts";
import { assemble } from "../dialects/assemble.ts";
import { expectCanonical } from "../dialects/chat/rules.ts";
import { cutAt, cuts, decodeWith } from "../dialects/decode.ts";
import { codecFor, of, PAYLOADS, recorded, type Recording, WIRES } from "../dialects/recordings.ts";
import { RUNS } from "../properties/runs.ts";
import { chunk } from "../support/source.ts";

const CALL = readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], stream: true });
/** Of every recording as many. */
const CUT_RUNS = Math.ceil(RUNS / 30);

const upper = (text: string): string => text.toUpperCase();

/** Holds back the last characters, up to so many. */
function holding(count: number, write = (text: string): string => text): TextChange {
  let held = "";
  return {
    add(piece) {
      const text = held + piece;
      const end = Math.max(0, text.length - count);
      held = text.slice(end);
      return write(text.slice(0, end));
    },
    end() {
      const rest = held;
      held = "";
      return write(rest);
    },
  };
}

function changed(events: readonly StreamEvent[], begin: () => TextChange): readonly StreamEvent[] {
  const change = streamTexts(begin);
  return [...events.flatMap((event) => change.event(event)), ...change.end!()];
}

const dataOf = (events: readonly StreamEvent[]): Json[] => events.map(({ data }) => data);

function eventsOf(recording: Recording, places: readonly number[] = []): readonly StreamEvent[] {
  return decodeWith(codecFor(recording).decoder!(CALL), cutAt(recording.bytes(), places)).events;
}

function read(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Of no stream that was cut off in the middle of arguments: what is no JSON is one text, and nobody knows that before. */
const WHOLE = [...PAYLOADS, ...WIRES].filter(({ name }) => !name.includes("incomplete"));

/** Arguments by what they say: how JSON is written may differ. */
function meant(choice: Json): Json {
  const { message, ...rest } = choice;
  const { tool_calls: calls, ...said } = message as Json;
  const listed = (Array.isArray(calls) ? calls : []).filter(isJson).map(({ function: called, ...call }) => ({
    ...call,
    function: isJson(called) ? { ...called, arguments: read(String(called["arguments"])) } : called,
  }));
  const { logprobs: _logprobs, ...ending } = rest;
  return { message: { ...said, ...(listed.length > 0 && { tool_calls: listed }) }, ...ending };
}

describe.skipIf(!recorded)("every recorded stream", () => {
  test.each(of([...PAYLOADS, ...WIRES]))(
    "%s: says the same, whatever is held back and wherever it breaks",
    (_, one) => {
      const whole = eventsOf(one);
      expect(changed(whole, () => holding(0))).toEqual(whole);
      fc.assert(
        fc.property(cuts(one.bytes()), fc.constantFrom(1, 3, 20, 1_000_000), (places, count) => {
          const events = changed(eventsOf(one, places), () => holding(count));
          expectCanonical(events);
          expect(meant(assemble(dataOf(events)))).toEqual(meant(assemble(dataOf(whole))));
        }),
        { numRuns: CUT_RUNS },
      );
    },
  );

  test.each(of(WHOLE))("%s: is changed as a complete answer is", (_, one) => {
    const whole = eventsOf(one);
    const { choices } = withAnswerTexts({ choices: [assemble(dataOf(whole))] }, upper);
    fc.assert(
      fc.property(fc.nat(5), (count) => {
        const events = changed(whole, () => holding(count, upper));
        expect(meant(assemble(dataOf(events)))).toEqual(meant((choices as readonly Json[])[0]!));
      }),
      { numRuns: CUT_RUNS },
    );
  });
});

const texts = (events: readonly StreamEvent[]): readonly string[] =>
  dataOf(events).map(({ choices }) => JSON.stringify((choices as readonly Json[])[0]?.["delta"]));

function said(index: number, content: string): StreamEvent {
  return { data: { choices: [{ index, delta: { content } }] }, text: content };
}

function native(event: Json): StreamEvent {
  return chunk({ native: { dialect: "responses", event } });
}

describe("what is held back", () => {
  test("comes before the finish, in its event where that has text itself, and at a break", () => {
    const last = chunk({ content: "def" }, { finish: "stop" });
    expect(texts(changed([chunk({ content: "abc" }), last], () => holding(9)))).toEqual(['{"content":"abcdef"}']);
    expect(texts(changed([chunk({ content: "abc" }), chunk({}, { finish: "stop" })], () => holding(1)))).toEqual([
      '{"content":"ab"}',
      '{"content":"c"}',
      "{}",
    ]);
    expect(texts(changed([chunk({ content: "abc" })], () => holding(1)))).toEqual([
      '{"content":"ab"}',
      '{"content":"c"}',
    ]);
  });

  test("waits through what is no text: roles, annotations, counts", () => {
    const annotated = chunk({ annotations: [] });
    const usage = { data: { choices: [] }, text: "", usage: { prompt: 1, completion: 1, cached: 0, reasoning: 0 } };
    const events = changed([chunk({ content: "a" }), annotated, usage, chunk({ content: "b" })], () => holding(1));
    expect(events).toEqual([annotated, usage, expect.anything(), expect.anything()]);
    expect(texts(events.slice(2))).toEqual(['{"content":"a"}', '{"content":"b"}']);
  });

  test("goes across borders also in the text of speech and in the arguments of the older form of calls", () => {
    const heard = [chunk({ audio: { id: "a", transcript: "ab" } }), chunk({ audio: { transcript: "c" } })];
    expect(texts(changed([...heard, chunk({}, { finish: "stop" })], () => holding(2)))).toEqual([
      '{"audio":{"id":"a","transcript":""}}',
      '{"audio":{"transcript":"a"}}',
      '{"audio":{"transcript":"bc"}}',
      "{}",
    ]);
    const called = ['{"a":"b', 'c"}'].map((piece) => chunk({ function_call: { name: "f", arguments: piece } }));
    expect(texts(changed([...called, chunk({}, { finish: "function_call" })], () => holding(1)))).toEqual([
      String.raw`{"function_call":{"name":"f","arguments":"{\"a\":\""}}`,
      String.raw`{"function_call":{"name":"f","arguments":"bc\"}"}}`,
      "{}",
    ]);
  });

  test("is apart by choice; an event without change is the very same", () => {
    const events = changed([said(0, "ab"), said(1, "xy"), said(0, "cd"), said(1, "z")], () => holding(1));
    const read = (index: number): string =>
      dataOf(events)
        .flatMap(
          ({ choices }) =>
            choices as readonly { readonly index: number; readonly delta: { readonly content: string } }[],
        )
        .filter((choice) => choice.index === index)
        .map(({ delta }) => delta.content)
        .join("");
    expect([read(0), read(1)]).toEqual(["abcd", "xyz"]);
    const event = chunk({ content: "ab" });
    expect(changed([event], () => holding(0))[0]).toBe(event);
  });

  test("events of the upstream's own format are changed, their deltas across borders", () => {
    const code = (delta: string): StreamEvent =>
      native({ type: "response.code_interpreter_call_code.delta", output_index: 1, item_id: "ci_1", delta });
    const events = changed(
      [code("ab"), code("cd"), native({ type: "response.output_item.done", item: { id: "ci_1", code: "abcd" } })],
      () => holding(3, upper),
    );
    const own = dataOf(events).map(
      ({ choices }) => (choices as readonly { delta: { native: { event: Json } } }[])[0]!.delta.native.event,
    );
    expect(own.map(({ delta, item }) => delta ?? item)).toEqual(["", "A", "BCD", { id: "ci_1", code: "ABCD" }]);
  });

  test("JSON stays JSON, whatever escapes break", () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.integer({ min: 1, max: 5 })), (json, sizes) => {
        let at = 0;
        const events = [...sizes, json.length].map((size) => {
          const args = json.slice(at, at + size);
          at += size;
          return chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] });
        });
        const written = dataOf(changed(events, () => holding(2)))
          .flatMap(({ choices }) => choices as readonly { delta: { tool_calls: readonly { function: Json }[] } }[])
          .map(({ delta }) => delta.tool_calls[0]!.function["arguments"])
          .join("");
        expect(JSON.parse(written)).toEqual(JSON.parse(json));
      }),
      { numRuns: RUNS },
    );
  });
});
