import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { formatText as formatDiagnostics } from "../../src/config/diagnostics.ts";
import { KINDS, type Side } from "../../src/effects/change.ts";
import { compare } from "../../src/effects/compare.ts";
import { formatJson, formatMarkdown, formatText } from "../../src/effects/report.ts";
import { codeOf, compileOffline } from "../../src/gateway/compile.ts";
import { isLoaded } from "../../src/gateway/configuration.ts";

const FOLDER = resolve(import.meta.dirname, "cases");
const CASES = readdirSync(FOLDER);
const SECRET = "sk-secret";

async function sideOf(file: string): Promise<Side> {
  const result = await compileOffline({ file, env: {} });
  if (!isLoaded(result)) throw new Error(formatDiagnostics(result.diagnostics));
  return { snapshot: result.snapshot, code: codeOf(result) };
}

/** What is expected, and with WRITE_CASES=1 what is found: to be read before it is committed. */
function expected(name: string, file: string, found: string): string {
  const path = join(FOLDER, name, file);
  if (process.env["WRITE_CASES"] === "1") writeFileSync(path, found);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

describe("pull requests", () => {
  test.each(CASES)("%s", async (name) => {
    const [before, after] = [join(FOLDER, name, "old.yaml"), join(FOLDER, name, "new.yaml")];
    const changes = compare(await sideOf(before), await sideOf(after));
    const compared = { old: "old.yaml", new: "new.yaml", changes, impact: null };
    const [json, markdown, text] = [formatJson(compared), formatMarkdown(compared), formatText(compared)];
    expect(json).toBe(expected(name, "expected.json", json));
    expect(markdown).toBe(expected(name, "expected.md", markdown));
    // One line a change, and no word of a secret.
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(changes.length + 1);
    expect(json + markdown + text).not.toContain(SECRET);
  });

  test("there are enough of them, some without an effect and some with secrets", () => {
    expect(CASES.length).toBeGreaterThanOrEqual(20);
    const without = CASES.filter((name) =>
      readFileSync(join(FOLDER, name, "expected.md"), "utf8").includes("no change"),
    );
    expect(without.length).toBeGreaterThanOrEqual(3);
    const texts = CASES.map((name) => readFileSync(join(FOLDER, name, "new.yaml"), "utf8"));
    expect(texts.some((text) => text.includes(SECRET))).toBe(true);
  });

  test("every kind of change has a case, but that of the code of plugins and of operation", () => {
    const all = CASES.map((name) => readFileSync(join(FOLDER, name, "expected.json"), "utf8")).join("");
    const missing = Object.keys(KINDS).filter((kind) => !all.includes(`"kind": "${kind}"`));
    expect(missing).toEqual(["plugin-code-changed", "operation-changed"]);
  });
});
