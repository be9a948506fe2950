import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import type { Place } from "./diagnostics.ts";

/** A file of code: its path, the path that Node loads it from, and its text. */
export interface CodeFile {
  readonly path: string;
  readonly loadedFrom: string;
  readonly text: string;
}

/** `FILE:LINE`, then the line, then carets: how Node shows syntax errors. */
const HEAD = /^(?<file>\S.*?)(?:\?\S*)?:(?<line>\d+)\n(?<rest>[\s\S]*?\n(?<blank> *)(?<carets>\^+)\n)/;
const FRAME = /\bat (?:.*\()?(?<file>(?:file:\/\/)?\/[^?\s)]+?)(?:\?[^\s:)]*)?:(?<line>\d+):(?<column>\d+)\)?$/gm;
const NOT_FOUND = /^Cannot find (?:module|package) '(?<what>[^']+)' imported from (?<file>.+)$/m;

/** Where in a plugin's own files an error of loading it comes from; null where Node does not say. */
export function placeOfFault(error: unknown, files: readonly CodeFile[]): Place | null {
  if (!(error instanceof Error)) return null;
  const { stack = "", message } = error;
  return headed(stack, files) ?? missingImport(message, files) ?? thrown(stack, files) ?? unparsed(error, files);
}

function fileAt(name: string, files: readonly CodeFile[]): CodeFile | undefined {
  const path = name.startsWith("file:") ? fileURLToPath(name) : name;
  return files.find(({ loadedFrom }) => loadedFrom === path);
}

function headed(stack: string, files: readonly CodeFile[]): Place | null {
  const { file: name = "", line = "", blank = "", carets = "" } = HEAD.exec(stack)?.groups ?? {};
  const file = name === "" ? undefined : fileAt(name, files);
  if (file === undefined) return null;
  const shown = file.text.split("\n");
  // Of an error at the end of a line Node shows some lines from its own one on: the carets stand below the last of them.
  const under = HEAD.exec(stack)!.groups!["rest"]!.split("\n").at(-3) ?? "";
  const from = Number(line) - 1;
  const at = Math.max(from, shown.indexOf(under, from));
  const column = blank.length + 1;
  return { file: file.path, line: at + 1, column, endColumn: column + carets.length };
}

function missingImport(message: string, files: readonly CodeFile[]): Place | null {
  const { what = "", file: name = "" } = NOT_FOUND.exec(message)?.groups ?? {};
  const file = name === "" ? undefined : fileAt(name, files);
  if (file === undefined) return null;
  const last = what.slice(what.lastIndexOf("/") + 1);
  for (const [index, text] of file.text.split("\n").entries()) {
    const found = new RegExp(`["'](?:[^"']*/)?${RegExp.escape(last)}["']`).exec(text);
    if (!found || !/\b(?:import|from)\b/.test(text)) continue;
    const column = found.index + 1;
    return { file: file.path, line: index + 1, column, endColumn: column + found[0].length };
  }
  return { file: file.path, line: 1, column: 1 };
}

function thrown(stack: string, files: readonly CodeFile[]): Place | null {
  for (const { groups } of stack.matchAll(FRAME)) {
    const file = fileAt(groups!["file"]!, files);
    if (file) return { file: file.path, line: Number(groups!["line"]), column: Number(groups!["column"]) };
  }
  return null;
}

/** @throws SyntaxError */
function parse(script: string, filename: string): Script {
  return new Script(script, { filename, lineOffset: -1 });
}

/**
 * A syntax error of JavaScript, whose place Node keeps to itself when a module is imported. As a script, with its imports
 * and exports blanked out, the same text fails with its place.
 */
function unparsed(error: Error, files: readonly CodeFile[]): Place | null {
  if (error.name !== "SyntaxError") return null;
  for (const { path, text } of files.filter((file) => /\.[cm]?js$/.test(file.path))) {
    const script = text
      .replaceAll(/^\s*import\s[^;'"]*["'][^"']*["']/gm, (one) => one.replaceAll(/[^\n]/g, " "))
      .replaceAll(/^export default\b/gm, "globalThis.x =")
      .replaceAll(/^export\b/gm, "      ");
    try {
      parse(`(async () => {\n${script}\n})`, path);
    } catch (found) {
      const place = headed(found instanceof Error ? (found.stack ?? "") : "", [
        { path, loadedFrom: path, text: script },
      ]);
      if (place !== null) return place;
    }
  }
  return null;
}
