import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/modules.ts";

/** Words that people had to read twice, with the word to use. */
const INSTEAD: readonly (readonly [word: RegExp, use: string])[] = [
  [/\bby hand\b/i, "override"],
  [/\bin force\b/i, "current configuration"],
  [/\bmail address\b/i, "email"],
  [/\bwhoever\b|\bask who\b/i, "the operator of this gateway"],
  [/\bmend(ed|s)?\b/i, "fix"],
  [/\b(lift it|lift what|lifted by)\b/i, "clear the override"],
  [/\bmake (a|the) key\b|"make key"/i, "Create key"],
  [/\bis like that\b|\bfits? the filters?\b/i, "No matching …"],
  [/\btries again\b/i, "Retrying automatically, and only where the page does"],
  [/\bany ?more\b/i, "no longer"],
  [/\bleft out\b/i, "omitted, or a default"],
  [/\bis none\b|\bwhat of\b|\/\*\* Of\b|\/\/ Of\b/, "subject, verb, object"],
];

test("pages and their comments use common words", () => {
  const found = globSync("src/ui/**/*.{ts,tsx,html,md}", { cwd: ROOT }).flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        INSTEAD.filter(([word]) => word.test(line)).map(([, use]) => `${file}:${index + 1}: ${line.trim()} → ${use}`),
      ),
  );
  expect(found).toEqual([]);
});
