import { readdirSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Diagnostic } from "../../src/config/diagnostics.ts";
import type { LoadOptions } from "../../src/config/load.ts";

const FOLDER = resolve(import.meta.dirname, "cases");
const EXPECTED = "# expected:\n";

/**
 * A bad configuration. `# with:` in its first line says how it is loaded (a mode, `strict`, `env NAME=value`, `now DATE`,
 * `env-file PATH`); the
 * comment at its end says what must be found, one line each.
 */
export interface Case {
  readonly name: string;
  readonly file: string;
  readonly options: Partial<LoadOptions>;
  readonly expected: readonly string[];
}

export function readCases(): Case[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => {
      const file = resolve(FOLDER, name);
      const text = readFileSync(file, "utf8");
      const [, block = ""] = text.split(EXPECTED);
      const expected = block.split("\n").filter((line) => line !== "");
      return { name, file, options: optionsOf(text), expected: expected.map((line) => line.replace(/^# {2}/, "")) };
    });
}

function optionsOf(text: string): Partial<LoadOptions> {
  const words = (/^# with: (.*)$/m.exec(text)?.[1] ?? "").split(" ");
  const env = Object.fromEntries(
    words
      .filter((word) => word.includes("="))
      .map((word) => [word.split("=", 1)[0], word.slice(word.indexOf("=") + 1)]),
  );
  const mode = (["serve", "dev"] as const).find((name) => words.includes(name));
  const date = words[words.indexOf("now") + 1];
  const now = words.includes("now") ? Date.parse(`${date}T12:00:00Z`) : null;
  const envFile = words.includes("env-file") ? resolve(FOLDER, words[words.indexOf("env-file") + 1]!) : null;
  return { env, envFile, mode: mode ?? "check", strict: words.includes("strict"), now };
}

/** One line: everything a diagnostic says. The file is left out when it is the case itself. */
export function render(
  test: Pick<Case, "name">,
  { file, line, column, severity, rule, pointer, message, hint }: Diagnostic,
): string {
  const where = relative(FOLDER, resolve(file));
  const place = where === test.name ? `${line}:${column}` : `${where}:${line}:${column}`;
  return `${place} ${severity} ${rule} ${pointer === "" ? "-" : pointer} ${message}${hint === null ? "" : ` (${hint})`}`;
}
