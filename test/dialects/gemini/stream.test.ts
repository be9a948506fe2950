import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Usage } from "../../../src/kit/index.ts";
import { cutAt, cuts, type Decoding } from "../decode.ts";
import { bytes, callOf, decode, list, sse } from "./support.ts";

/** `<name>.txt` is a body as it came over the wire, `<name>.json` what is to be read from it. */
interface Expectation {
  readonly about: string;
  readonly texts: readonly string[];
  /** The last count that an event carries. */
  readonly usage: Usage | null;
  readonly finish: readonly unknown[];
  readonly fault: Decoding["fault"];
  readonly complete: boolean;
}

const FOLDER = new URL("transcripts/", import.meta.url).pathname;
const names = globSync("*.txt", { cwd: FOLDER })
  .map((file) => basename(file, ".txt"))
  .toSorted();

test("there are transcripts", () => {
  expect(names.length).toBeGreaterThan(15);
});

describe.each(names)("%s", (name) => {
  const body = readFileSync(join(FOLDER, `${name}.txt`));
  const expected = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as Expectation;
  const whole = decode([body]);

  test(`is read as expected: ${expected.about}`, () => {
    const { events, fault, complete } = whole;
    const choices = events.flatMap(({ data }) => list(data["choices"]));
    expect({
      about: expected.about,
      texts: events.map(({ text }) => text).filter((text) => text !== ""),
      usage: events.findLast(({ usage }) => usage !== undefined)?.usage ?? null,
      finish: choices.map((choice) => choice["finish_reason"]).filter((reason) => reason !== null),
      fault,
      complete,
    }).toEqual(expected);
    expect(events.every((event) => event.raw === undefined)).toBe(true);
  });

  test("is read alike however the reads split it, byte by byte too", () => {
    expect(decode(cutAt(body, [...body.keys()].slice(1)))).toEqual(whole);
    fc.assert(
      fc.property(cuts(body), (places) => {
        expect(isDeepStrictEqual(decode(cutAt(body, places)), whole)).toBe(true);
      }),
    );
  });
});

const text = (one: string, more = {}) => ({ candidates: [{ content: { parts: [{ text: one }] }, ...more }] });

const large = (length: number) => sse([text("a".repeat(length), { finishReason: "STOP" })]);

const counts = (n: number) => ({ promptTokenCount: 2, candidatesTokenCount: n });

describe("bounds", () => {
  test("an event may be 1 MiB and no more, however it arrives", () => {
    const overhead = JSON.stringify(text("", { finishReason: "STOP" })).length;
    const good = large(1024 * 1024 - overhead);
    const bad = large(1024 * 1024 - overhead + 1);
    for (const body of [good, bad]) {
      const halves = cutAt(body, [700_000]);
      expect(decode([body]).fault?.message).toBe(
        body === good ? undefined : "upstream sent an event that is too large",
      );
      expect(decode(halves)).toEqual(decode([body]));
    }
  });

  test("a line without an end does not grow without one", () => {
    const decoder = chat.decoder(callOf());
    const piece = bytes(`data: ${"a".repeat(100_000)}`);
    let fed = 0;
    while (decoder.fault === null && fed < 100) {
      decoder.feed(piece);
      fed += 1;
    }
    expect(fed).toBe(11);
    expect(decoder.fault?.message).toBe("upstream sent an event that is too large");
  });

  test("where images are asked for, an event may hold one", () => {
    const body = sse([
      {
        candidates: [
          {
            content: { parts: [{ inlineData: { mimeType: "image/png", data: "A".repeat(3 << 20) } }] },
            finishReason: "STOP",
          },
        ],
      },
    ]);
    expect(decode([body]).fault?.message).toBe("upstream sent an event that is too large");
    expect(decode([body], callOf({ modalities: ["text", "image"] }))).toMatchObject({ fault: null, complete: true });
  });
});

test("after a fault, and after the end, nothing more is read", () => {
  const broken = sse([text("a"), { error: { message: "no" } }, text("b", { finishReason: "STOP" })]);
  const { events, fault, complete } = decode([broken, broken]);
  expect(events.map((event) => event.text)).toEqual(["a"]);
  expect({ fault, complete }).toEqual({
    fault: { failure: "status", message: "upstream reported an error: no" },
    complete: false,
  });
  const decoder = chat.decoder(callOf());
  decoder.feed(sse([text("a", { finishReason: "STOP" })]));
  expect(decoder.finish().length).toBe(1);
  expect(decoder.feed(sse([text("b")]))).toEqual([]);
  expect(decoder.finish()).toEqual([]);
});

test("a count without the output's is told, but not as all there is", () => {
  const early = {
    ...text("Hello"),
    usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 5, totalTokenCount: 14 },
  };
  const { events } = decode([sse([early, { ...text("!"), usageMetadata: counts(2) }])]);
  expect(events.map(({ usage, partial }) => [usage?.prompt, usage?.completion, partial])).toEqual([
    [9, 5, true],
    [2, 2, undefined],
  ]);
});

test("the end is told once, last but for the usage, though every event repeats it", () => {
  const events = [1, 2, 3].map((n) => ({ ...text(`t${n}`, { finishReason: "STOP" }), usageMetadata: counts(n) }));
  const decoded = decode([sse(events)]);
  expect(
    decoded.events.map(({ data, usage }) => [list(data["choices"])[0]?.["finish_reason"], usage?.completion]),
  ).toEqual([
    [null, 1],
    [null, 2],
    [null, 3],
    ["stop", undefined],
    [undefined, 3],
  ]);
});

test("a stream without a count ends without one", () => {
  const { events } = decode([sse([text("a", { finishReason: "STOP" })])]);
  expect(events.map(({ data }) => data["usage"])).toEqual([undefined, undefined]);
});
