import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parsePlain, plainScalar } from "../../src/config/fast-parse.ts";
import type { MapNode } from "../../src/config/node.ts";
import { parse, parseScalar } from "../../src/config/parse.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);
const ROOT = resolve(import.meta.dirname, "../..");
const SHIPPED = readFileSync(resolve(ROOT, "gateway.yaml"), "utf8");
const FILES = [
  "gateway.yaml",
  ...globSync(["test/config/cases/**/*.yaml", "bench/**/*.yaml", "deploy/**/*.yaml", "../shared/examples/*.yaml"], {
    cwd: ROOT,
  }),
];

function plainTree(text: string): MapNode | null {
  const steps = parsePlain("a.yaml", text);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Read as plain YAML, a text has the tree of the full parser, which finds nothing wrong with it. */
function same(text: string): boolean {
  const plain = plainTree(text);
  if (plain === null) return false;
  const { root, diagnostics } = parse("a.yaml", text);
  expect({ text, diagnostics, root: plain }).toEqual({ text, diagnostics: [], root });
  return true;
}

test("the shipped configuration is plain, and so is what most cases hold", () => {
  expect(same(SHIPPED)).toBe(true);
  const plain = FILES.filter((file) => {
    const bytes = readFileSync(resolve(ROOT, file));
    return same(bytes.toString("utf8"));
  });
  expect(FILES.length).toBeGreaterThan(150);
  expect(plain.length).toBeGreaterThan(FILES.length * 0.7);
});

test.for([
  ["an empty value", "a:\nb: # none\nc: 1\n"],
  ["a list as far left as its key", "a:\n- 1\n- x: 1\n  y: 2\nb: 2\n"],
  ["numbers and words", "a: [1, -2, +3, 1.5, .5, 5., 007, -a, true, False, NULL, nullable, 1_000, 1.2.3, 10s]\n"],
  ["quotes", "a: \"b: c # d\"\n'e f': ['', \"\", 'x']\n"],
  ["comments", "# first\na: b#c # d\n\n   # deep\nb: {} # e\n"],
  ["no line end at the end", "a: { b: [c, { d: e }] }"],
  ["long keys", `${"k".repeat(1024)}: 1\nb: { ${"k".repeat(1100)}: 2 }\n`],
  ["addresses", "a: http://h:80/x?y#z\nb: { c: sim:?status=503, d: route/a:b }\n"],
])("%s: as the full parser", ([, text]) => {
  expect(same(text!)).toBe(true);
});

test.for([
  ["a scalar over two lines", "a: b\n  c\n"],
  ["a key twice", "a: 1\na: 2\n"],
  ["an anchor", "a: &x 1\nb: *x\n"],
  ["a tag", "a: !!str 1\n"],
  ["a block scalar", "a: |\n  b\n"],
  ["brackets over two lines", "a: [b,\n  c]\n"],
  ["an escape", 'a: "\\n"\n'],
  ["a second document", "a: 1\n---\nb: 2\n"],
  ["a merge key", "<<: { a: 1 }\n"],
  ["a key that is no text", "1: a\n"],
  ["a mapping within a line", "a: b: c\n"],
  ["a comment without a space", "a: 'b'#c\n"],
  ["a list at the top", "- a\n"],
  ["nothing", "\n# nothing\n"],
  ["a line too far right", "a:\n  b: 1\n   c: 2\n"],
  ["a line too far left", "a:\n    b: 1\n  c: 2\n"],
  ["a tab", "a:\n\tb: 1\n"],
  ["a key that YAML takes for no key", `${"k".repeat(1025)}: 1\n`],
  ["a quoted one", `a:\n- '${"k".repeat(1025)}': 1\n`],
])("%s: left to the full parser", ([, text]) => {
  expect(plainTree(text!)).toBeNull();
});

/** As long as a file may be: more than the engine's expressions can look back on. */
test.for(["x", "x ", ":x", "é"])("a line of %j without end is read, or left to the full parser", (part) => {
  const text = `a: x${part.repeat((8 * 1024 * 1024) / part.length - 8)}\n`;
  const value = plainTree(text)?.entries.get("a")?.value;
  expect([undefined, text.length - 4]).toContain(value?.kind === "scalar" ? String(value.value).length : undefined);
});

test("texts of marks and words have the same tree, or are left to the full parser", () => {
  const word = fc.constantFrom(
    ..."a b a: b: c:  \n \n  \n    - -- ' \" { } [ ] , : # #c 1 -1 1.5 1e3 0x1 .inf true null ~ ! & * | > % @ ` ? -".split(
      " ",
    ),
    " ",
    " ",
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    ": ",
    ", ",
    "a: ",
    "b: ",
    " #",
    "x: { a: 1 }",
    "[a, b]",
    "'q'",
    '"q"',
  );
  let plain = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 24 }), (words) => {
      plain += Number(same(words.join("")));
      plain += Number(same(`k: ${words.join("")}`));
    }),
    { numRuns: NUM_RUNS * 20 },
  );
  expect(plain).toBeGreaterThan(NUM_RUNS);
});

test("the shipped text, damaged anywhere, has the same tree, or is left to the full parser", () => {
  const lines = SHIPPED.split("\n");
  let plain = 0;
  const piece = fc.constantFrom(
    "",
    " ",
    "  ",
    "\n",
    ":",
    ": ",
    "- ",
    "#",
    " #",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    "x",
    "0",
    "~",
  );
  fc.assert(
    fc.property(fc.nat(lines.length - 1), fc.nat(12), fc.nat(120), fc.nat(4), piece, (from, count, at, cut, put) => {
      const part = lines.slice(from, from + count + 1).join("\n");
      plain += Number(same(part.slice(0, at) + put + part.slice(at + cut)));
    }),
    { numRuns: NUM_RUNS * 5 },
  );
  expect(plain).toBeGreaterThan(0);
});

test.for([["1".repeat(65)], ["x ".repeat(20_000_000)], ["0".repeat(64)]])("a long scalar is text", ([text = ""]) => {
  const read = plainScalar(text);
  expect(read === undefined || read === parseScalar(text)).toBe(true);
});

test("one scalar is read as by the full parser, or left to it", () => {
  const word = fc.constantFrom(
    ..."a 1 0 - + . e x _ : / # ~ n null true False 1.5 sim: http://h \" ' [ { , & ! % @ | >".split(" "),
    " ",
  );
  let plain = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      const text = words.join("");
      const read = plainScalar(text);
      if (read === undefined) return;
      plain += 1;
      expect([text, read]).toEqual([text, parseScalar(text)]);
    }),
    { numRuns: NUM_RUNS * 20 },
  );
  expect(plain).toBeGreaterThan(NUM_RUNS);
});
