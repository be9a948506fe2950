import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatJson, formatText, RULES } from "../../src/config/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { readCases, render } from "./cases.ts";
import { options } from "./support.ts";

const cases = readCases();

/**
 * Rules without a case: they need a file that cannot be committed, a huge one or one with a mode (load.test.ts,
 * plugins.test.ts), or come from a start rather than from a file.
 */
const NO_CASE = [
  "file-size",
  "plugin-writable",
  "plugin-setup",
  "workers-agree",
  "reload-fault",
  "rolled-back",
  "unknown-generation",
];

function ruleOf(line: string): string | undefined {
  return /^\S+ (?:error|warning) (\S+)/.exec(line)?.[1];
}

describe("bad configurations", () => {
  test.for(cases)("$name", async ({ name, file, expected, options: more }) => {
    const result = await loadConfig(options(file, more));
    const found = result.diagnostics.map((diagnostic) => render({ name }, diagnostic));
    expect(found).toEqual(expected);
    const failing = more.strict
      ? result.diagnostics
      : result.diagnostics.filter(({ severity }) => severity === "error");
    expect(result.ok).toBe(failing.length === 0);
    expect(result.ok || (result.snapshot === null && result.steps.length === 0)).toBe(true);
  });

  test("there are enough of them, each with something to find", () => {
    expect(cases.length).toBeGreaterThanOrEqual(75);
    expect(cases.filter(({ expected }) => expected.length === 0).map(({ name }) => name)).toEqual([]);
  });

  test("every rule has a case", () => {
    const covered = new Set([...cases.flatMap(({ expected }) => expected.map(ruleOf)), ...NO_CASE]);
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
