import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cue, srt, vtt } from "../../../src/dialects/speech/transcript.ts";
import { RUNS } from "../../properties/runs.ts";

const TIME = String.raw`(\d{2,}):([0-5]\d):([0-5]\d)`;

interface Shown {
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Reads subtitles back; throws for a block that is not one. */
function parse(document: string, point: "," | "."): readonly Shown[] {
  const line = new RegExp(`^${TIME}[${point}](\\d{3}) --> ${TIME}[${point}](\\d{3})$`);
  const header = point === "." ? "WEBVTT\n\n" : "";
  expect(document.startsWith(header)).toBe(true);
  const blocks = document.slice(header.length).split("\n\n");
  expect(blocks.pop()).toBe("");
  return blocks.map((block, index) => {
    const lines = block.split("\n");
    if (point === ",") expect(lines.shift()).toBe(String(index + 1));
    const parts = line
      .exec(lines.shift() ?? "")
      ?.slice(1)
      .map(Number);
    if (parts === undefined) throw new Error(`no times in ${JSON.stringify(block)}`);
    const [start, end] = [parts.slice(0, 4), parts.slice(4)].map(
      ([hours, minutes, seconds, rest]) => ((hours! * 60 + minutes!) * 60 + seconds!) * 1000 + rest!,
    );
    expect(lines.some((text) => text === "" || text.includes("-->"))).toBe(false);
    return { start: start!, end: end!, text: lines.join("\n") };
  });
}

const readers = [
  ["srt", (cues: readonly Cue[]) => parse(srt(cues), ",")],
  [
    "vtt",
    (cues: readonly Cue[]) =>
      parse(vtt(cues), ".").map(({ text, ...times }) => ({
        ...times,
        text: text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
      })),
  ],
] as const;

const seconds = fc.double({ min: 0, max: 400_000, noNaN: true });
const word = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "-->",
    "--->",
    "\n\n",
    "\r\n\r\n",
    "\u2028",
    " ",
    "1",
    "00:00:01,000 --> 00:00:02,000",
    "<i>",
    "&amp;",
    "WEBVTT",
  ),
);
const cue: fc.Arbitrary<Cue> = fc.record({
  start: seconds,
  end: seconds,
  text: fc.array(word, { maxLength: 5 }).map((words) => words.join("")),
});
/** What is left of a text to compare: the layout of its white space and arrows may change. */
const bare = (text: string): string => text.replaceAll(/[\s\x85\v\f]+/g, "").replaceAll(/-{2,}>/g, "->");

describe.each(readers)("%s", (_, read) => {
  test("reads back: times in order, no text lost, none taken for times", () => {
    fc.assert(
      fc.property(fc.array(cue, { maxLength: 12 }), (cues) => {
        const shown = read(cues);
        const expected = cues
          .filter(({ text }) => bare(text) !== "")
          .map(({ start, end, text }) => {
            const from = Math.round(start * 1000);
            return { start: from, end: Math.max(Math.round(end * 1000), from + 1), text: bare(text) };
          })
          .toSorted((a, b) => a.start - b.start);
        expect(shown.map(({ text, ...times }) => ({ ...times, text: bare(text) }))).toEqual(expected);
        for (const [index, { start, end }] of shown.entries()) {
          expect(end).toBeGreaterThan(start);
          expect(start).toBeGreaterThanOrEqual(shown[index - 1]?.start ?? 0);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("times before the beginning are the beginning", () => {
    expect(read([{ start: -2, end: -1, text: "a" }])).toEqual([{ start: 0, end: 1, text: "a" }]);
  });
});

const cues: readonly Cue[] = [
  { start: 0, end: 3.32, text: " The beach was popular." },
  { start: 3.32, end: 3599.9996, text: "\nTom & <Ann>\r\n\r\nsay --> go\n" },
  { start: 3661.001, end: 360_000, text: "end" },
];

test("SubRip, byte for byte", () => {
  expect(srt(cues)).toBe(
    [
      "1\n00:00:00,000 --> 00:00:03,320\nThe beach was popular.\n\n",
      "2\n00:00:03,320 --> 01:00:00,000\nTom & <Ann>\nsay -> go\n\n",
      "3\n01:01:01,001 --> 100:00:00,000\nend\n\n",
    ].join(""),
  );
});

test("WebVTT, byte for byte", () => {
  expect(vtt(cues)).toBe(
    [
      "WEBVTT\n\n",
      "00:00:00.000 --> 00:00:03.320\nThe beach was popular.\n\n",
      "00:00:03.320 --> 01:00:00.000\nTom &amp; &lt;Ann&gt;\nsay --&gt; go\n\n",
      "01:01:01.001 --> 100:00:00.000\nend\n\n",
    ].join(""),
  );
});

test("nothing said", () => {
  expect(srt([])).toBe("");
  expect(vtt([{ start: 0, end: 1, text: " \n " }])).toBe("WEBVTT\n\n");
});
