import { resolve } from "node:path";
import { inTurns } from "../kit/index.ts";
import { diagnose, type Diagnostic, type Finding, join } from "./diagnostics.ts";
import { type FileAccess, FileError } from "./files.ts";
import { plainScalar } from "./fast-parse.ts";
import { type Entry, type MapNode, type Node, type ScalarNode, scalarsInSteps } from "./node.ts";

export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file named by a reference, relative to `folder`. */
  readonly read: FileAccess["read"];
  /** Folder of the main configuration file. */
  readonly folder: string;
  /** Runs the command of a value that stands at a pointer. Null: commands are not run here, and their values unknown. */
  readonly run: ((words: readonly string[], command: string, pointer: string) => Promise<Ran>) | null;
}

/** A command's output, or why it failed. Null if commands do not run. */
export type Ran = { readonly text: string } | Finding | null;

export interface Resolved {
  readonly root: MapNode;
  readonly diagnostics: readonly Diagnostic[];
}

const REFERENCE = /\$(?:\$|\{(env|file|exec):([^{}]*)\})/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** Resolves the references in every scalar of the tree; all that cannot be resolved are reported at once. */
export async function resolveReferences(root: MapNode, sources: ReferenceSources): Promise<Resolved> {
  const diagnostics: Diagnostic[] = [];
  const written: { readonly node: ScalarNode; readonly pointer: string }[] = [];
  const note = (node: ScalarNode, path: readonly string[]): void => {
    if (typeof node.value === "string" && node.value.includes("$")) written.push({ node, pointer: join("", ...path) });
  };
  await inTurns(scalarsInSteps(root, note));
  const resolved = new Map<Node, ScalarNode>();
  for (const { node, pointer } of written) {
    const result = await resolveScalar(node, pointer, sources);
    diagnostics.push(...result.diagnostics);
    resolved.set(node, result.node);
  }
  return { root: resolved.size === 0 ? root : (replaced(root, resolved) as MapNode), diagnostics };
}

/** The node with other scalars in place of some; a part that holds none of them is the same as before. */
function replaced(node: Node, by: ReadonlyMap<Node, ScalarNode>): Node {
  if (node.kind === "scalar") return by.get(node) ?? node;
  if (node.kind === "list") {
    const items = node.items.map((item) => replaced(item, by));
    return items.every((item, index) => item === node.items[index]) ? node : { ...node, items };
  }
  let entries: Map<string, Entry> | null = null;
  for (const [name, { key, value }] of node.entries) {
    const now = replaced(value, by);
    if (now !== value) (entries ??= new Map(node.entries)).set(name, { key, value: now });
  }
  return entries === null ? node : { ...node, entries };
}

/**
 * Resolves one scalar. Plain scalars are typed by YAML's rules afterwards, quoted ones are text; the other reading is
 * kept for where the schema asks for it.
 */
export async function resolveScalar(
  node: ScalarNode,
  pointer: string,
  sources: ReferenceSources,
): Promise<{ readonly node: ScalarNode; readonly diagnostics: readonly Diagnostic[] }> {
  const written = node.value;
  if (typeof written !== "string" || !written.includes("$")) return { node, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  // What looks like the start of a reference, and is none.
  if (written.replaceAll(REFERENCE, "").includes("${")) diagnostics.push(diagnose(node.place, pointer, MALFORMED));
  let text = "";
  let unset: string | null = null;
  let isUnknown = false;
  let referenced = false;
  let end = 0;
  for (const match of written.matchAll(REFERENCE)) {
    const [whole, scheme, body = ""] = match;
    text += written.slice(end, match.index);
    end = match.index + whole.length;
    if (scheme === undefined) {
      text += "$";
      continue;
    }
    referenced = true;
    const found = await valueOf(scheme, body, pointer, sources);
    if (found === null) {
      // Told from other values by what is written: a comparison of two files sees another command as another value.
      text += whole;
      isUnknown = true;
    } else if ("text" in found) text += found.text;
    else if ("unset" in found) unset ??= found.unset;
    else diagnostics.push(diagnose(node.place, pointer, found));
  }
  text += written.slice(end);
  if (!referenced) return { node: { ...node, value: text }, diagnostics };

  const plain = plainScalar(text);
  const typed = plain === undefined ? (await import("./parse.ts")).parseScalar(text) : plain;
  // An unset variable is empty text, not null: most values are text.
  unset ??= isUnknown ? "" : null;
  const asText = node.quoted || unset !== null;
  // What cannot be read is said already.
  const reference = { written, alternative: asText ? typed : text, unset: diagnostics.length > 0 ? null : unset };
  return { node: { ...node, value: asText ? text : typed, reference }, diagnostics };
}

const MALFORMED: Finding = {
  rule: "reference-syntax",
  message: "holds a reference that cannot be read",
  hint: "write ${env:NAME}, ${env:NAME:-default}, ${file:path} or ${exec:command}; $${ is a literal ${",
};
const MALFORMED_COMMAND: Finding = {
  rule: "reference-syntax",
  message: "holds a command that cannot be read",
  hint: "write ${exec:command word 'two words'}, close each quote, and put what needs braces into a script",
};

function valueOf(
  scheme: string,
  body: string,
  pointer: string,
  sources: ReferenceSources,
): Found | Promise<Found | null> {
  if (scheme === "env") return variable(body, sources.env);
  return scheme === "file" ? content(body, sources) : output(body, pointer, sources);
}

async function output(command: string, pointer: string, { run }: ReferenceSources): Promise<Found | null> {
  const words = splitWords(command);
  if (words === null || (words[0] ?? "") === "" || command.includes("\0")) return MALFORMED_COMMAND;
  return run === null ? null : run(words, command, pointer);
}

type Found = { readonly text: string } | { readonly unset: string } | Finding;

function variable(body: string, env: ReferenceSources["env"]): Found {
  const [, name, fallback] = VARIABLE.exec(body) ?? [];
  if (name === undefined) return MALFORMED;
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  // As in a shell, `:-` also stands in for an empty variable.
  if (fallback !== undefined) return { text: value === undefined || value === "" ? fallback : value };
  return value === undefined ? { unset: name } : { text: value };
}

async function content(path: string, { read, folder }: ReferenceSources): Promise<Found> {
  if (path === "") return MALFORMED;
  try {
    return { text: (await read(resolve(folder, path))).replace(/\r?\n$/, "") };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { rule: error.rule, message: `\${file:${path}} ${error.message}` };
  }
}

/**
 * The words of a command as a POSIX shell splits them, without anything else that a shell does: `'…'` holds its text as it
 * is, in `"…"` a backslash stands before `"` and `\`, outside of quotes before any character. Null where a quote is not
 * closed, or nothing follows a backslash.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02
 */
export function splitWords(command: string): readonly string[] | null {
  const words: string[] = [];
  /** Null between words; an empty pair of quotes is a word. */
  let word: string | null = null;
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!;
    if (/[ \t\r\n]/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= "";
    if (character === "'" || character === '"') {
      const quoted = quotedAt(command, at);
      if (quoted === null) return null;
      word += quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      const next = command[at + 1];
      if (next === undefined) return null;
      word += next;
      at += 1;
    } else word += character;
  }
  if (word !== null) words.push(word);
  return words;
}

/** The text in the quotes that open at a place, and where they close. */
function quotedAt(command: string, start: number): { readonly text: string; readonly end: number } | null {
  const quote = command[start]!;
  let text = "";
  for (let at = start + 1; at < command.length; at += 1) {
    const character = command[at]!;
    if (character === quote) return { text, end: at };
    const next = command[at + 1];
    if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
      text += next;
      at += 1;
    } else text += character;
  }
  return null;
}
