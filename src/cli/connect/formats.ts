import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse as parseJsonc, type ParseError, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml, TomlError } from "smol-toml";
import { LineCounter, parseDocument, stringify as stringifyYaml } from "yaml";
import { isJson, type Json } from "../../kit/index.ts";

/** The format of a settings file. A `program` is a whole text: nothing is merged into it. */
export type Format = "json" | "jsonc" | "yaml" | "toml" | "env" | "program";

/** Stands for the key in settings that can name no variable. It counts as not being there: a later call replaces it. */
export const PLACEHOLDER = "rk_YOUR_KEY";

/** Where a value stands. A number that is the length of its list appends to the list. */
export type Path = readonly (string | number)[];

export interface Addition {
  readonly path: Path;
  readonly value: unknown;
}

/** A text that is no settings file of its format. */
export class BrokenSettings extends Error {
  override readonly name = "BrokenSettings";
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A file that is sound, but written in a way that cannot be edited without touching what is there. */
export class UneditableSettings extends Error {
  override readonly name = "UneditableSettings";
}

interface Editor {
  /** @throws BrokenSettings */
  readonly read: (text: string) => unknown;
  /** A new file. */
  readonly write: (settings: Json) => string;
  /** The text with these added; comments, order and everything else stay. */
  readonly add: (text: string, additions: readonly Addition[]) => string;
}

const json = (text: string, comments: boolean): unknown => {
  const errors: ParseError[] = [];
  const found: unknown = parseJsonc(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
  const [first] = errors;
  if (first) throw new BrokenSettings(lineAt(text, first.offset), printParseErrorCode(first.error));
  return found;
};

const addJson: Editor["add"] = (text, additions) => {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const formattingOptions = { insertSpaces: !indent.startsWith("\t"), tabSize: indent.length, eol: eolOf(text) };
  return additions.reduce(
    (before, { path, value }) =>
      applyEdits(
        before,
        modify(before, [...path], value, { formattingOptions, isArrayInsertion: typeof path.at(-1) === "number" }),
      ),
    text,
  );
};

const writeJson: Editor["write"] = (settings) => `${JSON.stringify(settings, null, 2)}\n`;

const EDITORS: Readonly<Record<Exclude<Format, "program">, Editor>> = {
  json: { read: (text) => json(text, false), write: writeJson, add: addJson },
  jsonc: { read: (text) => json(text, true), write: writeJson, add: addJson },
  yaml: { read: readYaml, write: (settings) => stringifyYaml(settings, { lineWidth: 0 }), add: addYaml },
  toml: { read: readToml, write: (settings) => stringifyToml(settings), add: addToml },
  env: { read: readVariables, write: (settings) => linesOf(settings), add: addVariables },
};

/** The text of a new file with these settings. */
export function writeSettings(format: Format, settings: Json | string): string {
  if (typeof settings === "string") return settings;
  return format === "program" ? "" : EDITORS[format].write(settings);
}

/** @throws BrokenSettings */
export function readSettings(format: Exclude<Format, "program">, text: string): Json {
  const found = EDITORS[format].read(text);
  // An empty YAML or JSONC file.
  if (found === null || found === undefined) return {};
  if (!isJson(found)) throw new BrokenSettings(1, "holds no settings: it must be a map of names to values");
  return found;
}

/**
 * The text with these settings added.
 * @throws UneditableSettings if the format's writer would change or lose anything that is there.
 */
export function addSettings(format: Exclude<Format, "program">, text: string, additions: readonly Addition[]): string {
  const before = readSettings(format, text);
  let edited: string;
  try {
    edited = EDITORS[format].add(text, additions);
    const after = readSettings(format, edited);
    if (!holds(after, before) || !additions.every(({ path, value }) => holds(at(after, path), value)))
      throw new Error("the result is not what was asked for");
  } catch (error) {
    throw new UneditableSettings(error instanceof Error ? error.message : String(error));
  }
  return edited;
}

/** True if everything of `part` is in `whole`, at the same place. */
function holds(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && part.every((item, index) => holds(whole[index], item));
  if (isJson(part)) return isJson(whole) && Object.entries(part).every(([name, value]) => holds(whole[name], value));
  // Null may have become the map that was asked for.
  return part === null || part === PLACEHOLDER || isDeepStrictEqual(whole, part);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (found, step) =>
      Array.isArray(found) ? (found as readonly unknown[])[Number(step)] : isJson(found) ? found[step] : undefined,
    value,
  );
}

function readYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [first] = document.errors;
  if (first) throw new BrokenSettings(lineCounter.linePos(first.pos[0]).line, first.message);
  return document.toJS({ maxAliasCount: 1_000 }) as unknown;
}

function addYaml(text: string, additions: readonly Addition[]): string {
  const document = parseDocument(text);
  for (const { path, value } of additions) {
    if (typeof path.at(-1) === "number") document.addIn(path.slice(0, -1), document.createNode(value));
    else document.setIn(path, document.createNode(value));
  }
  const edited = document.toString({ lineWidth: 0, indentSeq: !/^[^\s#-][^\n]*:[ \t]*\r?\n- /m.test(text) });
  return eolOf(text) === "\n" ? edited : edited.replaceAll(/\r?\n/g, "\r\n");
}

function readToml(text: string): unknown {
  try {
    return parseToml(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (error instanceof TomlError) throw new BrokenSettings(error.line, error.message.split("\n")[0]!);
    throw error;
  }
}

/**
 * TOML has no writer that keeps comments. Its grammar allows three places that are always right: plain values before the
 * first table, the line behind a table's header, and new tables at the end.
 */
function addToml(text: string, additions: readonly Addition[]): string {
  const eol = eolOf(text);
  let edited = text;
  for (const { path, value } of additions) {
    const nested = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    const lines = stringifyToml(nested).trim().split("\n");
    if (isJson(value)) edited = `${edited.trimEnd()}${eol}${eol}${lines.join(eol)}${eol}`;
    else if (path.length === 1) edited = behindComments(edited, lines.join(eol), eol);
    else edited = behindHeader(edited, path.slice(0, -1), lines.at(-1)!, eol);
  }
  return edited;
}

/** Blank lines and comments at the head can be part of nothing else. */
function behindComments(text: string, line: string, eol: string): string {
  const [head = ""] = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*/.exec(text) ?? [];
  return `${head}${line}${eol}${text.slice(head.length)}`;
}

function behindHeader(text: string, table: Path, line: string, eol: string): string {
  const names = table.map((name) => `(?:${name}|"${name}"|'${name}')`).join(String.raw`[ \t]*\.[ \t]*`);
  const header = new RegExp(String.raw`^[ \t]*\[[ \t]*${names}[ \t]*\][ \t]*(?:#[^\r\n]*)?(?=\r?$)`, "m").exec(text);
  if (header === null) throw new Error(`the table ${table.join(".")} has no header of its own`);
  const end = header.index + header[0].length;
  return `${text.slice(0, end)}${eol}${line}${text.slice(end)}`;
}

const VARIABLE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/;

function readVariables(text: string): Json {
  const found: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    const [, name, value = ""] = VARIABLE.exec(line) ?? [];
    if (name !== undefined) found[name] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return found;
}

function linesOf(settings: Json): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}\n`)
    .join("");
}

function addVariables(text: string, additions: readonly Addition[]): string {
  const eol = eolOf(text);
  return additions.reduce((before, { path: [name], value }) => {
    const line = `${String(name)}=${String(value)}`;
    const lines = before.split(/\r?\n/);
    const index = lines.findIndex((one) => VARIABLE.exec(one)?.[1] === name);
    if (index !== -1) return lines.with(index, line).join(eol);
    return `${before}${before === "" || before.endsWith("\n") ? "" : eol}${line}${eol}`;
  }, text);
}

function eolOf(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
