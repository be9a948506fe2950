import { parseEnv } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseEnvFile } from "../../src/config/env-file.ts";
import { RUNS } from "./runs.ts";

/** What lines of a `.env` are made of, and what breaks them. */
const token = fc.constantFrom(
  ...'A B_1 export = == . # \' " ` \\n \\\\ \\" $HOME ${A} - 1 : [ é 😀 \u00a0 value'.split(" "),
  " ",
  "  ",
  "\t",
  "",
);
const ending = fc.constantFrom("\n", "\n", "\r\n", "\n\n");
const line = fc.oneof(
  fc.array(token, { maxLength: 8 }).map((parts) => parts.join("")),
  fc
    .tuple(fc.constantFrom("", "export ", " "), fc.constantFrom("A", "B_1", "_c"), fc.array(token, { maxLength: 8 }))
    .map(([start, name, parts]) => `${start}${name}=${parts.join("")}`),
);
const text = fc.array(fc.tuple(line, ending)).map((lines) => lines.flat().join(""));

/** Anything: half of a pair, control characters. */
const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));

const WHY = new Set(["is not NAME=value", "has a quote that does not end, or text behind it"]);

test("any text is read without an error, and a line that says nothing is told once, by its number", () => {
  fc.assert(
    fc.property(fc.oneof(text, units), (written) => {
      const { values, bad } = parseEnvFile(written);
      const count = written.split(/\r\n|\r|\n/).length;
      const isNumbered = bad.every(({ line: at }, index) => at > (bad[index - 1]?.line ?? 0) && at <= count);
      const isSilent = bad.every(({ why }) => WHY.has(why));
      const isNamed = Object.keys(values).every((name) => /^[A-Za-z0-9_.-]+$/.test(name));
      expect({ isNumbered, isSilent, isNamed }).toEqual({ isNumbered: true, isSilent: true, isNamed: true });
    }),
    { numRuns: RUNS },
  );
});

/** An empty value: Node goes on to the next line for it behind blanks, and keeps `export` in the name. A tab behind `export`. */
const OF_NODE = /=[ \t]+(?:#|[\r\n]|$)|export[^\n]*=[ \t]*(?:#|[\r\n]|$)|export[ ]*\t/;

test("what is read without a bad line is what Node reads", () => {
  fc.assert(
    fc.property(text, (written) => {
      const { values, bad } = parseEnvFile(written);
      fc.pre(bad.length === 0 && !OF_NODE.test(written));
      expect({ ...values }).toEqual({ ...parseEnv(written) });
    }),
    { numRuns: RUNS },
  );
});
