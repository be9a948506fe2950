import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cue, segmentsOf } from "../../../src/dialects/speech/transcript.ts";
import { letters } from "./heard.ts";
import { speechOf, textOf } from "./transcriptions.ts";
import { RUNS } from "../../properties/runs.ts";

/** Words of half a second, one after another, from `at` on. */
const said = (text: string, at = 0): Cue[] =>
  text.split(" ").map((word, index) => ({ text: word, start: at + index / 2, end: at + index / 2 + 0.5 }));
const texts = (text: string, words: readonly Cue[]): readonly string[] =>
  segmentsOf(text, words).map((part) => part.text);

describe("a segment ends", () => {
  test.each([
    ["Hello there. I am here.", ["Hello there.", "I am here."]],
    ["Is it? Yes! Well…", ["Is it?", "Yes!", "Well…"]],
    ["He said “stop.” Then (he left.) Gone", ["He said “stop.”", "Then (he left.)", "Gone"]],
    ["it costs 3.5 euros", ["it costs 3.5 euros"]],
    ["one, two; three: four", ["one, two; three: four"]],
  ])("with a sentence: %s", (text, expected) => {
    expect(texts(text, said(text))).toEqual(expected);
  });

  test("in scripts without spaces", () => {
    const words: Cue[] = ["你好。", "我在", "这里！", "好"].map((text, at) => ({ text, start: at, end: at + 1 }));
    expect(texts("你好。我在这里！好", words)).toEqual(["你好。", "我在这里！", "好"]);
  });

  test("before a pause of more than a second", () => {
    expect(texts("a b c", [...said("a b"), ...said("c", 2)])).toEqual(["a b c"]);
    expect(texts("a b c", [...said("a b"), ...said("c", 2.001)])).toEqual(["a b", "c"]);
  });

  test("before it is longer than ten seconds", () => {
    const text = Array.from({ length: 45 }, (_, index) => `w${index}`).join(" ");
    expect(segmentsOf(text, said(text)).map(({ start, end }) => [start, end])).toEqual([
      [0, 10],
      [10, 20],
      [20, 22.5],
    ]);
  });

  test("with a word that is longer than ten seconds by itself", () => {
    const words = [...said("a"), { text: "ooooh", start: 0.5, end: 14 }, ...said("b", 14)];
    expect(segmentsOf("a ooooh b", words)).toEqual([
      { start: 0, end: 0.5, text: "a" },
      { start: 0.5, end: 14, text: "ooooh" },
      { start: 14, end: 14.5, text: "b" },
    ]);
  });
});

describe("a segment's text", () => {
  test("is the text's own, white space inside included", () => {
    expect(texts(" a  b\nc. d ", said("a b c. d"))).toEqual(["a  b\nc.", "d"]);
  });

  test.each([
    ["other", "a b. c"],
    ["a b.", "a b. c"],
    ["a b. c and more", "a b. c"],
    ["", "a b. c"],
  ])("is the words where the text, %j, is not them", (text, words) => {
    expect(texts(text, said(words))).toEqual(["a b.", "c"]);
  });

  test("of nothing is none", () => {
    expect(segmentsOf("", [])).toEqual([]);
    expect(segmentsOf("a text without times", [])).toEqual([]);
  });
});

/** How many words, from the first on, a segment's text holds. */
function countIn(text: string, words: readonly Cue[]): number {
  for (let count = 1; count <= words.length; count += 1) {
    if (letters(words.slice(0, count).map((word) => word.text)) === letters([text])) return count;
  }
  return 0;
}

test("1,000 random transcriptions: segments cover the words in order, each within ten seconds", () => {
  fc.assert(
    fc.property(speechOf, fc.boolean(), (words, known) => {
      const text = known ? textOf(words) : "something else";
      let rest: readonly Cue[] = words;
      for (const segment of segmentsOf(text, words)) {
        const count = countIn(segment.text, rest);
        expect(count).toBeGreaterThan(0);
        expect(segment.start).toBe(rest[0]?.start);
        expect(segment.end).toBe(rest[count - 1]?.end);
        expect(segment.end - segment.start <= 10 || count === 1).toBe(true);
        rest = rest.slice(count);
      }
      expect(rest).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test("words out of order, overlapping or all at once break nothing", () => {
  const time = fc.integer({ min: 0, max: 60_000 }).map((at) => at / 1000);
  const odd = fc.record({ text: fc.string({ minLength: 1 }), start: time, end: time });
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 40 }), (words) => {
      const cues = words.map(({ text, start, end }) => ({ text, start, end: Math.max(start, end) }));
      const segments = segmentsOf("x", cues);
      expect(letters(segments.map((segment) => segment.text))).toBe(letters(words.map((word) => word.text)));
      expect(segments.every(({ start, end }) => start <= end)).toBe(true);
    }),
  );
});

test("a segment lasts from its earliest beginning to its latest end", () => {
  const words = [
    { text: "a", start: 1, end: 4 },
    { text: "b", start: 0.5, end: 2 },
  ];
  expect(segmentsOf("a b", words)).toEqual([{ start: 0.5, end: 4, text: "a b" }]);
});

test("100,000 words of one moment", () => {
  const words = Array.from({ length: 100_000 }, () => ({ text: "a", start: 0, end: 0 }));
  const text = words.map((word) => word.text).join(" ");
  expect(segmentsOf(text, words)).toEqual([{ start: 0, end: 0, text }]);
});
