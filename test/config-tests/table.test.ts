import * as fc from "fast-check";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTestFile, type TestFile, testFileSchema } from "../../src/config-tests/cases.ts";
import { mismatches } from "../../src/config-tests/expectations.ts";
import { disk } from "../../src/config/files.ts";
import { decimal, nanoToString, toNano } from "../../src/kit/index.ts";
import { loadOffline } from "../../src/offline/load.ts";
import type { OfflineResult } from "../../src/offline/room.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 200);
const CONFIG = "test/config-tests/cases/gateway.yaml";
const schema = testFileSchema();
const folder = mkdtempSync(join(tmpdir(), "config-tests-"));
const file = join(folder, "any.test.yaml");
let loaded: Awaited<ReturnType<typeof loadOffline>>;

beforeAll(async () => {
  loaded = await loadOffline({ file: CONFIG, env: {} });
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: string | object): Promise<TestFile> {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return readTestFile(file, { schema, load: () => Promise.resolve(loaded) });
}

const MODELS = ["route/one", "route/two", "route/pictures"];
const entry = fc.constantFrom(...MODELS, "*", "route/*", "*o*", "$some");
const selection = fc.array(
  fc.tuple(fc.boolean(), entry).map(([not, one]) => (not ? `!${one}` : one)),
  {
    minLength: 1,
    maxLength: 5,
  },
);
const SOME = ["route/pictures", "route/one"];

function namesOf(one: string): readonly string[] {
  if (one === "$some") return SOME;
  if (!one.includes("*")) return [one];
  return one === "*o*" ? MODELS.filter((name) => name.includes("o")) : MODELS;
}

/** What a selection comes to, said otherwise than it is done. */
function selected(entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const one of entries) {
    if (one.startsWith("!")) for (const name of namesOf(one.slice(1))) found.delete(name);
    else for (const name of namesOf(one)) found.add(name);
  }
  return found;
}

describe("tables", () => {
  test("have a case for every combination of what is selected, and no other", () =>
    fc.assert(
      fc.asyncProperty(
        selection,
        fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 4 }),
        async (models, counts) => {
          const each = {
            model: models,
            times: counts,
            "a, b": [
              [1, 2],
              ["$one", "x"],
            ],
          };
          const test = { name: "$model $times $a $b", each, steps: [{ times: 7, expect: { events: "$times" } }] };
          // A dollar that is doubled is one.
          test.each["a, b"][1]![0] = "one";
          const { cases, diagnostics } = await read({ sets: { some: SOME }, tests: [test] });
          const names = [...selected(models)].flatMap((model) =>
            counts.flatMap((count) => [`${model} ${count} 1 2`, `${model} ${count} one x`]),
          );
          expect(cases.map(({ name }) => name)).toEqual(names);
          expect(diagnostics.length > 0).toBe(names.length === 0);
          for (const { test: made, name } of cases) {
            const [model, count] = name.split(" ");
            expect(made).toMatchObject({ given: { model }, steps: [{ expect: { events: Number(count) } }] });
          }
        },
      ),
      { numRuns: NUM_RUNS },
    ));

  test("values stand where they are named, whole ones as they are, and $$ is a dollar", async () => {
    const each = { n: [3], word: ["two words"], flag: [true] };
    const given = { model: "route/one", stream: "$flag", prompt: "$word: $n, $$n $5", body: { $word: "$n" } };
    const { cases } = await read({ tests: [{ name: "a", each, given, expect: { status: 200 } }] });
    expect(cases[0]!.test.given).toEqual({
      model: "route/one",
      stream: true,
      prompt: "two words: 3, $n $5",
      body: { "two words": 3 },
    });
    expect(cases[0]!.name).toBe("a (n 3, word two words, flag true)");
  });
});

describe("a file of any content never throws, and is refused with a place in it", () => {
  const TEXTS = ["every-expectation-holds", "wrong-shape", "wrong-names", "wrong-tables", "steps-share-counters"].map(
    (name) => readFileSync(`test/config-tests/cases/${name}.test.yaml`, "utf8"),
  );
  const piece = fc.constantFrom(
    "",
    "x",
    "0",
    ":",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    "- ",
    '"',
    "&a ",
    "*a",
    "!t ",
    "$",
    "$a",
    "$$",
    "!",
    "~",
    "\0",
    "<<: ",
    "1e999",
    "(",
    "__proto__: ",
  );
  const change = fc.record({ at: fc.nat(2_000), cut: fc.nat(30), put: piece });

  test("changed anywhere", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TEXTS),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (text, changes) => {
          const changed = changes.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), text);
          const { diagnostics, cases } = await read(changed);
          const lines = (await disk.read(file)).split(/\r\n|\n|\r/).length;
          for (const { line, column } of diagnostics) {
            expect(line >= 1 && line <= lines && column >= 1).toBe(true);
          }
          expect(diagnostics.length === 0 || cases.length === 0).toBe(true);
        },
      ),
      { numRuns: NUM_RUNS },
    ));
});

test("amounts are compared exactly, to a nano-unit", () => {
  const nano = fc.bigInt({ min: 0n, max: 10n ** 15n });
  const comparison = fc.constantFrom("", "<", "<=", ">", ">= ");
  fc.assert(
    fc.property(nano, fc.bigInt({ min: -2n, max: 2n }), comparison, (actual, difference, sign) => {
      const expected = actual + difference;
      fc.pre(expected >= 0n);
      const holds = {
        "": difference === 0n,
        "<": difference > 0n,
        "<=": difference >= 0n,
        ">": difference < 0n,
        ">=": difference <= 0n,
      }[sign.trim()];
      const text = nanoToString(expected);
      expect(toNano(decimal(text))).toBe(expected);
      const found = mismatches({ charge: sign + text || text }, { charge: actual } as OfflineResult, true);
      expect(found.length === 0).toBe(holds);
    }),
    { numRuns: NUM_RUNS },
  );
});
