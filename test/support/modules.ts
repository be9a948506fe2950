import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export const ROOT = new URL("../..", import.meta.url).pathname;

/** One file of `src` or `plugins`. */
export interface Module {
  readonly path: string;
  readonly text: string;
  readonly lineCount: number;
  /** Statements and calls that load another module, in the order of the text. */
  readonly imports: readonly Import[];
}

interface Import {
  /** As written. */
  readonly specifier: string;
  /** The project file it means, or null for a package. */
  readonly target: string | null;
  readonly statement: string;
  /** `import()`, which loads when it is called. */
  readonly lazy: boolean;
  /** Vanishes when types are taken out. */
  readonly typeOnly: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\}|\w+(?:\s*,\s*\{[^}]*\})?)\s+from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

export const MODULES: readonly Module[] = globSync(["src/**/*.{ts,tsx}", "plugins/**/*.ts"], { cwd: ROOT })
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return { path, text, lineCount: text.split("\n").length - 1, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([statement, from, bare, lazy]) => {
    const specifier = (from ?? bare ?? lazy)!;
    const typeOnly = /^(?:import|export) type /.test(statement);
    return { specifier, target: targetOf(path, specifier), statement, lazy: lazy !== undefined, typeOnly };
  });
}

function targetOf(from: string, specifier: string): string | null {
  if (specifier === "#kit") return "src/kit/index.ts";
  if (specifier === "#schema") return "schemas/types.gen.ts";
  return specifier.startsWith(".") ? normalize(join(dirname(from), specifier)) : null;
}

/** The name of a package, or `node:` with a module of Node's; null for a project file. */
export function packageOf({ specifier, target }: Import): string | null {
  if (target !== null) return null;
  const parts = specifier.split("/");
  if (specifier.startsWith("node:")) return specifier;
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!;
}

/** Without comments. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
