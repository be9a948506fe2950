import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import type { Json, StreamEvent, Usage } from "../../../src/kit/index.ts";
import { cutAt, cuts, type Decoding } from "../decode.ts";
import { CHAT, cases, decode, framed, list, MESSAGES } from "./support.ts";

interface Case {
  readonly dialect?: "messages";
  readonly events: readonly Json[];
  readonly deltas: readonly Json[];
  /** What the events count for an estimate. */
  readonly texts?: readonly string[];
  readonly finish: Json | null;
  /** As clients are shown it, last. */
  readonly usage: Usage | null;
  /** The counts of the events before, which no client is shown. */
  readonly told?: readonly Pick<StreamEvent, "usage" | "partial">[];
  readonly ending?: Omit<Decoding, "events">;
}

const all = cases("streams") as readonly (readonly [string, Case])[];
const WHOLE = { fault: null, done: true, complete: true };

/** An event with neither a choice nor a usage to show only counts. */
const isShown = ({ data }: StreamEvent): boolean => list(data["choices"]).length > 0 || data["usage"] !== undefined;

describe.each(all)("%s", (_, { dialect, events, deltas, texts, finish, usage, told, ending = WHOLE }) => {
  const call = dialect ? MESSAGES : CHAT;
  const bytes = framed(events);
  const { events: read, ...ended } = decode([bytes], call);

  test("becomes chunks", () => {
    expect(ended).toEqual(ending);
    const choices = read.flatMap(({ data }) => list(data["choices"]));
    const chunks = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }));
    const last = deltas.at(-1);
    expect(choices).toEqual(finish ? [...chunks.slice(0, -1), { index: 0, delta: last, ...finish }] : chunks);
    const produced = read.filter(isShown).map(({ text }) => text);
    expect(produced).toEqual(texts ?? produced);
  });

  test("has one usage chunk last, or none", () => {
    const counted = read.filter(({ data }) => data["usage"] !== undefined);
    expect(counted).toMatchObject(usage ? [{ usage, data: { choices: [] } }] : []);
    expect(counted.every((event) => event === read.at(-1))).toBe(true);
  });

  test("tells what was counted as soon as it is", () => {
    const before = read.filter((event) => event.usage !== undefined && event.data["usage"] === undefined);
    const counts = before.map(({ usage, partial }) => ({ usage, ...(partial && { partial }) }));
    expect(counts).toEqual(told ?? counts);
    const last = read.findLast((event) => event.usage !== undefined && event.partial === undefined)?.usage;
    expect(last ?? null).toEqual(usage);
  });

  test("has the same head in every chunk", () => {
    for (const { data, raw } of read) {
      expect(data).toMatchObject({ id: "msg_1", model: "m", object: "chat.completion.chunk" });
      expect(raw).toBeUndefined();
    }
  });

  test("is read alike however the reads split it", () => {
    const whole = decode([bytes], call);
    fc.assert(
      fc.property(cuts(bytes), (places) => isDeepStrictEqual(decode(cutAt(bytes, places), call), whole)),
      { numRuns: FEW_RUNS },
    );
    expect(decode(cutAt(bytes, [...bytes.keys()].slice(1)), call)).toEqual(whole);
  });
});

const START = { type: "message_start", message: { id: "msg_1", model: "m" } };
const block = (content_block: unknown): Json => ({ type: "content_block_start", index: 0, content_block });
const delta = (value: unknown, index = 0): Json => ({ type: "content_block_delta", index, delta: value });
const TEXT = block({ type: "text", text: "" });

describe("what is not the dialect is a fault, never a throw", () => {
  test.each<readonly [string, readonly Json[]]>([
    ["no message_start", [TEXT]],
    ["no message_start but an end", [{ type: "message_stop" }]],
    ["a message_start without a message", [{ type: "message_start" }]],
    ["a start without a block", [START, block(null)]],
    ["text that is none", [START, block({ type: "text" })]],
    ["thinking that is none", [START, block({ type: "thinking", thinking: 1 })]],
    ["a call without an id", [START, block({ type: "tool_use", name: "f" })]],
    ["a call with an empty id", [START, block({ type: "tool_use", id: "", name: "f" })]],
    ["a call without a name", [START, block({ type: "tool_use", id: "a" })]],
    ["a call with a list as input", [START, block({ type: "tool_use", id: "a", name: "f", input: [] })]],
    ["redacted thinking without data", [START, block({ type: "redacted_thinking" })]],
    ["a delta that is none", [START, TEXT, delta("x")]],
    ["a delta before its block", [START, delta({ type: "text_delta", text: "x" })]],
    ["a text delta without text", [START, TEXT, delta({ type: "text_delta" })]],
    ["tool input in a text", [START, TEXT, delta({ type: "input_json_delta", partial_json: "{}" })]],
    [
      "a signature that is none",
      [START, block({ type: "thinking", thinking: "" }), delta({ type: "signature_delta" })],
    ],
    ["a message_delta without a delta", [START, { type: "message_delta" }]],
  ])("%s", (_, events) => {
    const { fault, done, complete } = decode([framed(events)], CHAT);
    expect({ failure: fault?.failure, done, complete }).toEqual({ failure: "protocol", done: false, complete: false });
  });
});

const text = (body: string): Decoding => decode([new TextEncoder().encode(body)], CHAT);

describe("server-sent events", () => {
  const good = new TextDecoder().decode(
    framed([
      START,
      TEXT,
      delta({ type: "text_delta", text: "Hé 🌍" }),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ]),
  );
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

  test.each([
    ["CRLF", `${good}${stop}`.replaceAll("\n", "\r\n")],
    ["comments", `: ping\n\n${good}: ping\n\n${stop}`],
    ["no event lines", `${good}${stop}`.replaceAll(/^event: .*\n/gm, "")],
    ["the ending of another dialect", `${good}${stop}data: [DONE]\n\n`],
    ["no empty line at the end", `${good}${stop}`.trimEnd()],
  ])("%s", (_, body) => {
    const { events, ...ending } = text(body);
    expect(ending).toEqual(WHOLE);
    expect(events.map((event) => event.text).join("")).toBe("Hé 🌍");
  });

  test("[DONE] alone ends nothing", () => {
    expect(text(`${new TextDecoder().decode(framed([START, TEXT]))}data: [DONE]\n\n`)).toMatchObject({
      fault: null,
      done: false,
      complete: false,
    });
  });

  test("an error event without a type in its data", () => {
    const { fault } = text('event: error\ndata: {"error":{"type":"api_error","message":"no"}}\n\n');
    expect(fault).toEqual({ failure: "status", message: "upstream reported an error: no" });
  });

  test.each([
    ["JSON where events were asked for", '{"type":"message"}', 0, "protocol"],
    ["an event that is no JSON", "data: {\n\n", 0, "protocol"],
    ["an event that is no object", "data: []\n\n", 0, "protocol"],
    [
      "an event that is too large",
      `${good}data: ${JSON.stringify(delta({ type: "text_delta", text: "x".repeat(1024 * 1024) }))}\n\n`,
      2,
      "protocol",
    ],
  ])("%s", (_, body, begun, failure) => {
    const { events, fault, done } = text(body);
    expect(events.length).toBe(begun);
    expect(done).toBe(false);
    expect(fault?.failure).toBe(failure);
  });

  test("after the ending nothing more is read", () => {
    const once = text(good + stop);
    expect(text(good + stop + good + stop)).toEqual(once);
  });
});

test("what message_start counts is told with the first chunk, as the least that it can be", () => {
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: 100_000,
    cache_creation_input_tokens: 20,
    output_tokens: 3,
  };
  const [first, ...more] = decode([framed([{ type: "message_start", message: { id: "msg_1", usage } }])], CHAT).events;
  expect(first).toMatchObject({
    partial: true,
    usage: { prompt: 100_025, completion: 3, cached: 100_000, cacheWrite: 20 },
    data: { choices: [{ delta: { role: "assistant" } }] },
  });
  expect(more).toEqual([]);
});
