import * as fc from "fast-check";

/** A word as it was said, in seconds. */
export interface Said {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** What stands between the word before and this one. */
  readonly space: string;
}

const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zäß'’-]{1,9}[.!?,;]?$/) },
  { weight: 1, arbitrary: fc.constantFrom("Mr.", "3.5", "“Done.”", "你好。", "…", "(laughter)", "a", "aa", "👍🏽", "É") },
);
const space = fc.oneof(
  { weight: 9, arbitrary: fc.constant(" ") },
  { weight: 1, arbitrary: fc.constantFrom("", "\n", "  ") },
);
/** Milliseconds of silence before a word, and of the word. */
const gap = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 300 }) }, fc.integer({ min: 0, max: 4_000 }));
const length = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: 0, max: 900 }) },
  fc.integer({ min: 0, max: 15_000 }),
);

/** What somebody said, in order and without overlaps. */
export const speechOf = fc.array(fc.record({ text: word, space, gap, length }), { maxLength: 60 }).map((items) => {
  let at = 0;
  return items.map(({ text, space, gap, length }): Said => {
    const start = at + gap;
    at = start + length;
    return { text, space, start: start / 1000, end: at / 1000 };
  });
});

export function textOf(said: readonly Said[]): string {
  return said.map(({ text, space }, index) => (index === 0 ? text : space + text)).join("");
}
