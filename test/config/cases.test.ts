import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatJson, formatText } from "../../src/config/format.ts";
import { loadConfig } from "../../src/config/load.ts";
import { RULES } from "../../src/config/rules.ts";
import { readCases, render } from "./cases.ts";
import { options } from "./support.ts";

const cases = readCases();

/** Rules that need a file which cannot be committed: a huge one, one with a mode. Tested by name elsewhere. */
const TESTED_ELSEWHERE = ["file-size", "plugin-writable"];

describe("bad configurations", () => {
  test.for(cases)("$name", async ({ name, file, expected, options: more }) => {
    const result = await loadConfig(options(file, more));
    const found = result.diagnostics.map((diagnostic) => render({ name }, diagnostic));
    expect(found).toEqual(expected);
    const failing = more.strict ? result.diagnostics : result.diagnostics.filter(({ severity }) => severity === "error");
    expect(result.ok).toBe(failing.length === 0);
    if (!result.ok) expect([result.snapshot, result.steps]).toEqual([null, []]);
  });

  test("there are enough of them, each with something to find", () => {
    expect(cases.length).toBeGreaterThanOrEqual(75);
    expect(cases.filter(({ expected }) => expected.length === 0).map(({ name }) => name)).toEqual([]);
  });

  test("every rule has a case", () => {
    const ruleOf = (line: string): string | undefined => /^\S+ (?:error|warning) (\S+)/.exec(line)?.[1];
    const covered = new Set([...cases.flatMap(({ expected }) => expected.map(ruleOf)), ...TESTED_ELSEWHERE]);
    expect(Object.keys(RULES).filter((rule) => !covered.has(rule))).toEqual([]);
  });

  test("secrets are in no output", async () => {
    for (const { file, options: more } of cases) {
      const { ok, diagnostics } = await loadConfig(options(file, more));
      expect(formatText(diagnostics) + formatJson(ok, diagnostics)).not.toContain("sk-secret");
    }
    // The check above would pass if no case held a secret.
    const texts = cases.filter(({ file }) => readFileSync(file, "utf8").includes("sk-secret"));
    expect(texts.length).toBeGreaterThan(5);
  });
});
