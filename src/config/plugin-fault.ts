import { fileURLToPath } from "node:url";
import { types } from "node:util";
import { hasPowers } from "../kit/builtin.ts";
import { escapeRegExp, isPluginName, type Plugin, PLUGIN_API_VERSION, STAGES } from "../kit/index.ts";
import type { Finding, Place } from "./diagnostics.ts";
import { isRecord } from "./schema.ts";

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
  // Node shows several lines for an error at the end of a line. The carets stand below the last one.
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
    const found = new RegExp(`["'](?:[^"']*/)?${escapeRegExp(last)}["']`).exec(text);
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

/** A syntax error of JavaScript, whose line Node keeps to itself when a module is imported: at least its file is known. */
function unparsed(error: Error, files: readonly CodeFile[]): Place | null {
  const [file] = files;
  const isIn = error.name === "SyntaxError" && files.length === 1 && file !== undefined && /\.[cm]?js$/.test(file.path);
  return isIn ? { file: file.path, line: 1, column: 1 } : null;
}

/** Why this gateway refuses a plugin that is one, or null. */
export function refusalOf(plugin: Plugin): Finding | null {
  if (hasPowers(plugin)) {
    return {
      rule: "plugin-contract",
      message: "the file uses defineBuiltin, which only the gateway's own plugins may use",
      hint: "use definePlugin, or name a built-in plugin without a path",
    };
  }
  const { apiVersion = PLUGIN_API_VERSION } = plugin;
  if (apiVersion <= PLUGIN_API_VERSION) return null;
  return {
    rule: "plugin-api-version",
    message: `the plugin is for version ${apiVersion} of the plugin API; this gateway has version ${PLUGIN_API_VERSION}`,
    hint: `upgrade the gateway, or use a version of the plugin with apiVersion: ${PLUGIN_API_VERSION}`,
  };
}

/** What keeps a default export from being a plugin, or null. `takeHooks` judges what its setup returns. */
export function contractBreach(plugin: unknown): string | null {
  if (!isRecord(plugin)) return "the file has no plugin as its default export";
  if (types.isProxy(plugin)) return "the plugin must be a plain object, not a proxy";
  const { name, apiVersion, stage, also, schema, setup, needs } = plugin;
  if (!isPluginName(name)) return "the plugin's name must be kebab-case text";
  if (apiVersion !== undefined && !(Number.isSafeInteger(apiVersion) && (apiVersion as number) >= 1))
    return "the plugin's apiVersion must be a whole number, at least 1";
  if (!isStage(stage)) return `the plugin's stage must be one of: ${STAGES.join(", ")}`;
  if (also !== undefined && !(Array.isArray(also) && also.every(isStage)))
    return `the plugin's also must be a list of stages: ${STAGES.join(", ")}`;
  if (!(schema instanceof URL) || schema.protocol !== "file:")
    return "the plugin's schema must be the URL of a file beside it";
  if (typeof setup !== "function") return "the plugin's setup must be a function";
  const isList = Array.isArray(needs) && needs.every((need) => typeof need === "string");
  return needs === undefined || isList ? null : "the plugin's needs must be a list of plugin names";
}

function isStage(value: unknown): boolean {
  return (STAGES as readonly unknown[]).includes(value);
}
