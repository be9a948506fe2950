import { createParser, type EventSourceMessage } from "eventsource-parser";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import { malformed } from "../../../src/dialects/canonical/errors.ts";
import { SseStreamReader } from "../../../src/dialects/canonical/requests.ts";
import type { Json, StreamEvent } from "../../../src/kit/index.ts";
import { cutAt, cuts } from "../decode.ts";

/** A dialect of its own: `{"say"}` is an event, `{"end": true}` the ending, `{"whole": true}` a reason for one. */
class Echo extends SseStreamReader {
  override done = false;
  override complete = false;
  readonly closed: boolean[] = [];

  protected override read(data: Json, { event }: EventSourceMessage, events: StreamEvent[]): void {
    const { say, break: broken, bug } = data;
    if (typeof say === "string") events.push({ data: { event, ...data }, text: say });
    if (typeof broken === "string") throw malformed(broken);
    if (bug !== undefined) throw new TypeError("a bug");
    this.complete ||= data["whole"] === true || data["end"] === true;
    this.done ||= data["end"] === true;
  }

  protected override close(events: StreamEvent[], broken: boolean): void {
    this.closed.push(broken);
    events.push({ data: {}, text: "closed" });
  }
}

const MAXIMUM = 64;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(pieces: readonly Uint8Array[]) {
  const decoder = new Echo(MAXIMUM);
  const events = pieces.flatMap((piece) => decoder.feed(piece));
  events.push(...decoder.finish(), ...decoder.finish(), ...decoder.feed(bytes('data: {"say":"late"}\n\n')));
  const { fault, done, complete, closed } = decoder;
  return { texts: events.map(({ text }) => text), fault: fault?.message ?? null, done, complete, closed };
}

const say = (text: string): string => `data: {"say":"${text}"}\n\n`;
const END = 'data: {"end":true}\n\n';
const WHOLE = 'data: {"whole":true}\n\n';
const cut = { fault: null, done: false, complete: false, closed: [false] };
const stopped = { done: false, complete: false, closed: [true] };

/** A body, and what comes of it however the reads split it. */
const BODIES: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ["nothing", "", { ...cut, texts: ["closed"] }],
  ["events, and no ending", say("a") + say("ü😀"), { ...cut, texts: ["a", "ü😀", "closed"] }],
  ["an event without its empty line", `${say("a")}data: {"say":"b"}`, { ...cut, texts: ["a", "b", "closed"] }],
  [
    "a byte order mark and carriage returns",
    '\uFEFFdata: {\r\ndata: "say":"a"}\r\n\r\n',
    { ...cut, texts: ["a", "closed"] },
  ],
  ["another dialect's ending", `${say("a")}data: [DONE]\n\n${say("b")}`, { ...cut, texts: ["a", "b", "closed"] }],
  [
    "the ending, and more than can be held behind it",
    `${say("a")}${END}${say("b")}data: {\n\ndata: ${"x".repeat(5000)}`,
    { fault: null, done: true, complete: true, closed: [], texts: ["a"] },
  ],
  [
    "a fault, and others behind it",
    `${say("a")}data: {"say":"b","break":"c"}\n\n${say("d")}data: {\n\ndata: ${"x".repeat(5000)}`,
    { ...stopped, fault: "upstream sent c", texts: ["a", "b", "closed"] },
  ],
  [
    "no JSON",
    `${say("a")}data: {\n\n${say("b")}`,
    { ...stopped, fault: "upstream sent an event that is not JSON", texts: ["a", "closed"] },
  ],
  [
    "no object",
    `${say("a")}data: 1\n\n`,
    { ...stopped, fault: "upstream sent an event that is not JSON", texts: ["a", "closed"] },
  ],
  [
    "an event that is a character too large",
    say("a") + say("x".repeat(MAXIMUM - '{"say":""}'.length + 1)),
    { ...stopped, fault: "upstream sent an event that is too large", texts: ["a", "closed"] },
  ],
  [
    "the largest event",
    say("x".repeat(MAXIMUM - '{"say":""}'.length)),
    { ...cut, texts: ["x".repeat(MAXIMUM - '{"say":""}'.length), "closed"] },
  ],
  [
    "a line that never ends",
    `${say("a")}data: ${"x".repeat(5000)}`,
    { ...stopped, fault: "upstream sent an event that is too large", texts: ["a", "closed"] },
  ],
  [
    "JSON where events were asked for",
    ` \n{"say":"a"}\n\n${say("b")}`,
    { ...stopped, fault: "upstream sent JSON where events were asked for", texts: ["closed"] },
  ],
  [
    "a whole answer, then half an event",
    `${say("a")}${WHOLE}data: {"say":`,
    { ...cut, complete: true, texts: ["a", "closed"] },
  ],
  [
    "a whole answer, then no JSON that was sent to its end",
    `${say("a")}${WHOLE}data: {"say":\n\n`,
    { ...stopped, complete: true, fault: "upstream sent an event that is not JSON", texts: ["a", "closed"] },
  ],
];

describe.each(BODIES)("%s", (_, body, expected) => {
  test("at once", () => {
    expect(decode([bytes(body)])).toMatchObject(expected);
  });

  test("however the reads split it", () => {
    const whole = decode([bytes(body)]);
    fc.assert(
      fc.property(cuts(bytes(body)), (places) => {
        expect(decode(cutAt(bytes(body), places))).toEqual(whole);
      }),
      { numRuns: FEW_RUNS },
    );
  });
});

test("events are there as soon as their last line is", () => {
  const decoder = new Echo();
  const reads = [say("a"), `${say("b")}data: {"say"`, ':"c"}\n', "\n"].map((text) => decoder.feed(bytes(text)));
  expect(reads.map((events) => events.map(({ text }) => text))).toEqual([["a"], ["b"], [], ["c"]]);
});

test("the name of an event is passed on", () => {
  const [event] = new Echo().feed(bytes(`event: error\n${say("a")}`));
  expect(event?.data).toEqual({ event: "error", say: "a" });
});

test("a bug is no fault of the upstream", () => {
  expect(() => new Echo().feed(bytes('data: {"bug":1}\n\n'))).toThrow(TypeError);
});

/** Of lines of which most are whole events, some of nothing, and some of what few upstreams send. */
const LINES = [
  say("a"),
  'event: x\ndata: {"say":"ü😀"}\n\n',
  'data:{"say":"b"}\n\n',
  'data: \ndata: {"say":"c"}\n\n',
  'data: {"say":"d"}\r\n\r\n',
  'event:\ndata: {"say":"e"}\n\n',
  "event: y\n\n",
  "event: y\n",
  ": comment\n\n",
  "id: 1\n",
  "\n",
  "\uFEFF",
];

test("what is whole events is read as the parser of events reads it", () => {
  const bodies = fc.array(fc.constantFrom(...LINES), { maxLength: 8 }).map((lines) => lines.join(""));
  const split = bodies.chain((body) => fc.tuple(fc.constant(body), cuts(bytes(body))));
  const read = fc.property(split, ([body, places]) => {
    const expected: unknown[] = [];
    const parser = createParser({
      onEvent: ({ event, data }) => void expected.push({ event, ...(JSON.parse(data) as Json) }),
    });
    parser.feed(`${body}\n\n`);
    const reader = new Echo();
    const events = cutAt(bytes(body), places).flatMap((piece) => reader.feed(piece));
    expect([...events, ...reader.finish()].slice(0, -1).map(({ data }) => data)).toEqual(expected);
  });
  fc.assert(read, { numRuns: FEW_RUNS });
});
