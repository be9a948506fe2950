import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatText } from "../../src/config/diagnostics.ts";
import { dryRun } from "../../src/gateway/configuration.ts";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { formatExcerpts, formatGithub, formatJson, formatSarif } from "../../src/config/report.ts";
import { type RuleId, RULES } from "../../src/config/rules.ts";
import { readCases, render } from "./cases.ts";
import { options } from "./support.ts";

const cases = readCases();

/**
 * Rules without a case: they need a file that cannot be committed, a huge one or one with a mode (load.test.ts,
 * plugins.test.ts), or come from a start rather than from a file.
 */
const NO_CASE = [
  "file-size",
  // Commands run when something serves: test/gateway/commands.test.ts.
  "exec-failed",
  "plugin-writable",
  "workers-agree",
  "reload-fault",
  "rolled-back",
  "unknown-generation",
  "users-without-plan",
];

function sourcesOf({ sources, secrets }: LoadResult) {
  return sources.map(({ path, text }) => ({ path, text, secrets }));
}

function ruleOf(line: string): string | undefined {
  return /^\S+ (?:error|warning|note) (\S+)/.exec(line)?.[1];
}

describe("bad configurations", () => {
  test.for(cases)("$name", async ({ name, file, expected, options: more }) => {
    const result = await loadConfig(options(file, { ...more, dryRun }));
    const found = result.diagnostics.map((diagnostic) => render({ name }, diagnostic));
    expect(found).toEqual(expected);
    const failing = more.strict
      ? result.diagnostics.filter(({ severity }) => severity !== "note")
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

  test("each finding is as bad as the table of rules says, and where that is two ways, both happen", () => {
    const found = new Map<string, Set<string>>();
    for (const line of cases.flatMap(({ expected }) => expected)) {
      const [, severity = "", rule = ""] = /^\S+ (error|warning|note) (\S+)/.exec(line) ?? [];
      found.set(rule, (found.get(rule) ?? new Set()).add(severity));
    }
    for (const [rule, severities] of found) {
      expect([rule, RULES[rule as RuleId].severity]).toEqual([rule, [...severities].toSorted().join(" or ")]);
    }
  });

  test("every rule has a sentence and a paragraph that says more", () => {
    for (const [rule, { title, paragraph }] of Object.entries(RULES)) {
      expect([rule, title]).toEqual([rule, expect.stringMatching(/^[A-Z].*\.$/)]);
      expect([rule, paragraph]).toEqual([rule, expect.stringMatching(/^[A-Z\u0060].{50,}[.?]$/)]);
      expect(paragraph).not.toContain(title);
    }
  });

  test("secrets are in no output", async () => {
    for (const { file, options: more } of cases) {
      const result = await loadConfig(options(file, more));
      const texts = [
        formatText(result.diagnostics),
        formatExcerpts({ ...result, sources: sourcesOf(result) }, (_, text) => text),
        formatJson(result),
        formatGithub(result),
        formatSarif(result),
      ];
      expect(texts.join("")).not.toContain("sk-secret");
    }
    // The check above would pass if no case held a secret.
    const texts = cases.filter(({ file }) => readFileSync(file, "utf8").includes("sk-secret"));
    expect(texts.length).toBeGreaterThan(5);
  });
});
