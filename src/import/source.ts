import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node as YamlNode,
  type Scalar as YamlScalar,
  type YAMLMap,
} from "yaml";
import { FileError, disk } from "../config/files.ts";
import { looksLikeKey } from "../config/secrets.ts";
import { parseBounded, TooDeep } from "../config/parse.ts";

/** One value of the configuration that is imported, with its place. A leaf is a scalar, or a map or list without entries. */
export interface Field {
  /** For people: `model_list[0].litellm_params.model`; with `FILE#` before it for a file that was included. */
  readonly path: string;
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  readonly kind: "scalar" | "list" | "map";
  /** The scalar as it is written, without quotes; null for `null`, nothing, maps and lists. */
  readonly text: string | null;
  /** True for text in quotes, and for text that no number, flag or null. */
  readonly isText: boolean;
  readonly entries: ReadonlyMap<string, Field>;
  readonly items: readonly Field[];
  /** The same for every field that stems from one place of the file, by aliases. */
  readonly origin: object | null;
}

/** A configuration that cannot be imported. The message is for the operator: place, reason, remedy. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}

/** Fields that aliases and merge keys may add up to: enough for any configuration, too few for a bomb. */
const MAX_FIELDS = 200_000;
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq|merge|timestamp|binary)$/;
const NULL = /^(?:~|null|Null|NULL)?$/;
const PLAIN_VALUE = /^(?:[-+.\d][\d_.eE+-]*|true|True|TRUE|false|False|FALSE|yes|no|on|off)$/;

/**
 * Reads a YAML or JSON file as the tools that are imported from do: YAML 1.1 with merge keys. @param prefix stands before
 * every path. @throws ImportError
 */
export async function readSource(path: string, shown: string, prefix = ""): Promise<Field> {
  let text: string;
  try {
    text = await disk.read(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new ImportError(`${shown} ${error.message}`, { cause: error });
  }
  return parseSource(text, shown, prefix);
}

/** @throws ImportError */
export function parseSource(text: string, shown: string, prefix = ""): Field {
  if (text.trim() === "") throw new ImportError(`${shown} is empty: name the file that holds the configuration`);
  if (text.includes("\0")) throw new ImportError(`${shown} is not text: it holds NUL characters`);
  const lines = new LineCounter();
  const document = parsed(text, shown, lines);
  const [first] = document.errors;
  if (first !== undefined) {
    const at = `${shown}:${Math.max(1, lines.linePos(first.pos[0]).line)}`;
    if (first.code === "MULTIPLE_DOCS")
      throw new ImportError(
        `${at}: the file holds more than one document: import the first one from a file of its own`,
      );
    // Later lines of the message quote the file, which may hold secrets.
    const reason = first.message.split(/:? at line |:?\n/)[0]!.replace(/ (?:in YAML stream|characters): .*$/s, "");
    throw new ImportError(`${at}: not YAML or JSON: ${reason}`);
  }
  return new SourceReader(shown, lines, document).read(prefix);
}

function parsed(text: string, shown: string, lines: LineCounter): Document.Parsed {
  try {
    return parseBounded(text, {
      lineCounter: lines,
      prettyErrors: false,
      version: "1.1",
      merge: true,
      // The reader below finds duplicates itself, with both lines.
      uniqueKeys: false,
      logLevel: "silent",
    });
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    throw new ImportError(`${shown}:${lines.linePos(error.offset).line}: is nested too deeply`, { cause: error });
  }
}

class SourceReader {
  readonly #shown: string;
  readonly #lines: LineCounter;
  readonly #document: Document.Parsed;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #open = new Set<YamlNode>();
  #count = 0;
  #hidden = 0;

  constructor(shown: string, lines: LineCounter, document: Document.Parsed) {
    this.#shown = shown;
    this.#lines = lines;
    this.#document = document;
  }

  read(prefix: string): Field {
    return this.#field(this.#document.contents, prefix, 1);
  }

  #field(written: YamlNode | null | undefined, path: string, keyLine: number): Field {
    const node = this.#resolved(written, keyLine);
    const line = written?.range ? this.#lines.linePos(written.range[0]).line : keyLine;
    const nothing = {
      path,
      file: this.#shown,
      line,
      text: null,
      isText: false,
      entries: NO_ENTRIES,
      items: [],
      origin: node ?? null,
    };
    if (++this.#count > MAX_FIELDS) {
      throw new ImportError(
        `${this.#shown}:${line}: holds more than ${MAX_FIELDS} values, or aliases repeat too much of it: split the file`,
      );
    }
    if (isScalar(node)) return { ...nothing, kind: "scalar", ...textOf(node) };
    if (node === null || node === undefined) return { ...nothing, kind: "scalar" };
    if (this.#open.has(node)) this.#fail(line, "an alias stands inside its own anchor: write the value out");
    this.#open.add(node);
    try {
      if (isSeq(node)) {
        const items = node.items.map((item, index) => this.#field(item as YamlNode | null, `${path}[${index}]`, line));
        return { ...nothing, kind: "list", items };
      }
      if (isMap(node)) return { ...nothing, kind: "map", entries: this.#entries(node, path, line) };
    } finally {
      this.#open.delete(node);
    }
    return this.#fail(line, "is not a value");
  }

  #resolved(node: YamlNode | null | undefined, keyLine: number): YamlNode | null | undefined {
    if (!node) return node;
    const line = node.range ? this.#lines.linePos(node.range[0]).line : keyLine;
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      return target ?? this.#fail(line, `there is no anchor '${node.source}' before this alias`);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !CORE_TAG.test(node.tag))
      this.#fail(line, `the tag ${node.tag} is not supported: write the value that it stands for`);
    return node;
  }

  /** A key that stands in the map itself wins over one that `<<` merges in. */
  #entries(map: YAMLMap, path: string, mapLine: number): ReadonlyMap<string, Field> {
    const own = new Map<string, Field>();
    const merged = new Map<string, Field>();
    for (const { key, value } of map.items) {
      const line = keyLineOf(key, this.#lines) ?? mapLine;
      const name = isScalar(key) ? (key.source ?? String(key.value)) : null;
      if (name === null) this.#fail(line, "a key must be plain text: put it in quotes");
      if (name === "<<" && (key as YamlScalar).type === "PLAIN") {
        for (const [inner, field] of this.#merged(value as YamlNode | null, path, line))
          if (!merged.has(inner)) merged.set(inner, field);
        continue;
      }
      const former = own.get(name);
      if (former !== undefined) {
        const twice = `the key '${this.#shownKey(name)}' stands twice in this map, first in line ${former.line}`;
        this.#fail(line, `${twice}: remove one of the two`);
      }
      own.set(name, this.#field(value as YamlNode | null, joined(path, this.#shownKey(name)), line));
    }
    for (const [name, field] of merged) if (!own.has(name)) own.set(name, field);
    return own;
  }

  /** What `<<` brings: the entries of a map, or of several. */
  #merged(written: YamlNode | null, path: string, line: number): ReadonlyMap<string, Field> {
    const node = this.#resolved(written, line);
    if (node && this.#open.has(node)) this.#fail(line, "an alias stands inside its own anchor: write the value out");
    if (isMap(node)) return this.#entries(node, path, line);
    if (!isSeq(node)) this.#fail(line, "`<<` merges a map, or a list of maps");
    const all = new Map<string, Field>();
    for (const item of node.items as YamlNode[])
      for (const [name, field] of this.#merged(item, path, line)) if (!all.has(name)) all.set(name, field);
    return all;
  }

  /** Keys stand in findings: one that is itself a secret does not. */
  #shownKey(name: string): string {
    return looksLikeKey(name) || name.length > 200 ? `(hidden ${++this.#hidden})` : name;
  }

  #fail(line: number, reason: string): never {
    throw new ImportError(`${this.#shown}:${line}: ${reason}`);
  }
}

const NO_ENTRIES: ReadonlyMap<string, Field> = new Map();

function keyLineOf(key: unknown, lines: LineCounter): number | null {
  return isScalar(key) && key.range ? lines.linePos(key.range[0]).line : null;
}

function textOf(node: YamlScalar): Pick<Field, "text" | "isText"> {
  if (node.type === "PLAIN") {
    const source = node.source ?? "";
    if (NULL.test(source)) return { text: null, isText: false };
    return { text: source, isText: !PLAIN_VALUE.test(source) };
  }
  return { text: typeof node.value === "string" ? node.value : (node.source ?? ""), isText: true };
}

/** Names that need no brackets in a path. */
const SIMPLE_KEY = /^[A-Za-z_$][\w$-]*$/;

function joined(path: string, key: string): string {
  if (SIMPLE_KEY.test(key)) return path === "" || path.endsWith("#") ? `${path}${key}` : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}

/** The scalars, and the empty maps and lists, in the order of the file. */
export function* leavesOf(field: Field): Generator<Field> {
  const inner = field.kind === "map" ? [...field.entries.values()] : field.items;
  if (inner.length === 0) yield field;
  else for (const one of inner) yield* leavesOf(one);
}

/** The nested field at these keys, or undefined. */
export function at(field: Field | undefined, ...keys: readonly string[]): Field | undefined {
  return keys.reduce<Field | undefined>((inner, key) => inner?.entries.get(key), field);
}

/** A number, also one that is written as text; null for anything else. */
export function numberOf(field: Field | undefined): number | null {
  const text = field?.text?.trim() ?? "";
  return /^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text) ? Number(text.replaceAll("_", "")) : null;
}

/** A flag, as YAML 1.1 writes them and as text; null for anything else. */
export function flagOf(field: Field | undefined): boolean | null {
  const text = field?.text?.trim().toLowerCase() ?? "";
  if (["true", "yes", "on"].includes(text)) return true;
  return ["false", "no", "off"].includes(text) ? false : null;
}
