import type { Steps } from "../kit/index.ts";
import type { Place } from "./diagnostics.ts";
import { type Entry, isStep, type MapNode, type Node, type Scalar, type ScalarNode } from "./node.ts";

/**
 * The tree of a file that uses plain YAML alone: block maps and lists, plain scalars, quoted ones without escapes, and
 * collections in brackets, each on one line. A tenth of the time of the full parser, whose tree it is, place by place.
 * @returns null for everything else, right or wrong: the full parser then reads the file and says what is wrong.
 */
export function* parsePlain(file: string, text: string): Steps<MapNode | null> {
  if (UNUSUAL.test(text)) return null;
  try {
    return yield* new PlainReader(file, text).read();
  } catch (error) {
    // Expressions run out of stack on lines of megabytes.
    if (error instanceof NotPlain || error instanceof RangeError) return null;
    throw error;
  }
}

/** A text as a YAML plain scalar would be read; undefined for one that only the full parser can tell. */
export function plainScalar(text: string): Scalar | undefined {
  if (text === "") return null;
  if (text.length > MAX_TYPED_CHARACTERS) return text;
  // A key without a value is no scalar.
  if (/^[A-Za-z][\w.-]*:$/.test(text)) return text;
  BLOCK_PLAIN.lastIndex = 0;
  if (BLOCK_PLAIN.exec(text)?.[0] !== text || UNUSUAL_NUMBER.test(text)) return undefined;
  return typed(text);
}

/** Control characters, other line ends and tabs among them; marks and directives at the beginning of a line. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const UNUSUAL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]|^(?:---|\.\.\.|%)/m;
const MAX_PLAIN_LEVELS = 50;
/** YAML takes a longer one for no key. */
const MAX_KEY_CHARACTERS = 1_024;
/** What is longer is no number, but a key, a certificate or another text of digits. */
export const MAX_TYPED_CHARACTERS = 64;
const KEY = /[A-Za-z_][\w./@-]*(?::[\w./@-]+)*(?=:(?: |$))/my;
/** Words that the core schema reads as null or as flags, which are no keys. */
const WORD = /^(?:[Nn]ull|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE)$/;
const QUOTED = /"[^"\\\n]*"|'[^'\n]*'/y;
/** To the end of the line or a comment, and within brackets to the next mark of theirs. */
const BLOCK_PLAIN = /(?:[A-Za-z0-9_./$+(]|-(?=[A-Za-z0-9.]))(?:[^\n:# ]|:(?! |$)|(?<! )#| +(?![ #\n]|$))*/my;
const FLOW_PLAIN =
  /(?:[A-Za-z0-9_./$+(]|-(?=[A-Za-z0-9.]))(?:[^\n:# ,[\]{}]|:(?![ ,[\]{}]|$)|(?<! )#| +(?![ #\n,[\]{}]|$))*/my;
const REST = / *(?:(?<= )#[^\n]*)?(?:\n|$)/y;
const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)$/;
/** Numbers that are written in other ways, which are rare, and words that may be none. */
const UNUSUAL_NUMBER = /^(?:0[xo]|[-+]?\.(?:inf|nan)|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)e[-+]?[0-9]+$)/i;

/** What the plain reader leaves to the full parser. */
class NotPlain extends Error {
  override readonly name = "NotPlain";
}

const NOT_PLAIN = new NotPlain();

/** What marks are among UTF-16 code units: comparing those is faster than comparing texts of one character. */
const CODES = {
  space: 32,
  newline: 10,
  hash: 35,
  dash: 45,
  colon: 58,
  comma: 44,
  doubleQuote: 34,
  singleQuote: 39,
  openList: 91,
  closeList: 93,
  openMap: 123,
  closeMap: 125,
} as const;

class PlainReader {
  readonly #file: string;
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  *read(): Steps<MapNode> {
    const indent = this.#nextLine();
    if (indent !== 0 || this.#isDash()) throw NOT_PLAIN;
    const root = yield* this.#mapInSteps(0, 0);
    if (this.#at < this.#text.length) throw NOT_PLAIN;
    return root;
  }

  /** Goes to the first character of the next line that says something. @returns its indentation; -1 at the end. */
  #nextLine(): number {
    const text = this.#text;
    for (;;) {
      let at = this.#at;
      while (text.charCodeAt(at) === CODES.space) at += 1;
      if (at >= text.length) {
        this.#at = at;
        return -1;
      }
      if (text.charCodeAt(at) !== CODES.newline && text.charCodeAt(at) !== CODES.hash) {
        const indent = at - this.#lineStart;
        this.#at = at;
        return indent;
      }
      const end = text.indexOf("\n", at);
      this.#at = end < 0 ? text.length : end + 1;
      this.#line += 1;
      this.#lineStart = this.#at;
    }
  }

  /** The root, or one of its sections: a step for every few entries of a section. */
  *#mapInSteps(indent: number, level: number): Steps<MapNode> {
    const place = this.#place(this.#at);
    const entries = new Map<string, Entry>();
    do {
      const [name, key] = this.#entryKey(entries);
      const below = this.#below();
      const isSection = level === 0 && below !== null && below > indent && !this.#isDash();
      const value = isSection ? yield* this.#mapInSteps(below, level + 1) : this.#valueFrom(below, indent, key, level);
      entries.set(name, { key, value });
      if (isStep(entries.size)) yield;
    } while (this.#goesOn(indent));
    return { kind: "map", place, entries };
  }

  #map(indent: number, level: number): MapNode {
    if (level > MAX_PLAIN_LEVELS) throw NOT_PLAIN;
    const place = this.#place(this.#at);
    const entries = new Map<string, Entry>();
    do {
      const [name, key] = this.#entryKey(entries);
      entries.set(name, { key, value: this.#valueFrom(this.#below(), indent, key, level) });
    } while (this.#goesOn(indent));
    return { kind: "map", place, entries };
  }

  /** A key that is not among the entries yet, with the colon behind it. */
  #entryKey(entries: ReadonlyMap<string, Entry>): readonly [name: string, key: Place] {
    const start = this.#at;
    const name = this.#key();
    const key = this.#place(start, this.#at);
    if (entries.has(name) || this.#at - start > MAX_KEY_CHARACTERS) throw NOT_PLAIN;
    this.#at += 1;
    return [name, key];
  }

  /** Whether another entry of a map follows. */
  #goesOn(indent: number): boolean {
    const next = this.#column();
    if (next < indent) return false;
    if (next > indent || this.#isDash()) throw NOT_PLAIN;
    return true;
  }

  #list(indent: number, level: number): Node {
    if (level > MAX_PLAIN_LEVELS) throw NOT_PLAIN;
    const place = this.#place(this.#at);
    const items: Node[] = [];
    for (;;) {
      const dash = this.#place(this.#at, this.#at + 1);
      this.#at += 1;
      items.push(this.#item(indent, dash, level));
      const next = this.#column();
      if (next < indent || (next === indent && !this.#isDash())) return { kind: "list", place, items };
      if (next > indent) throw NOT_PLAIN;
    }
  }

  /** An item that stands behind its dash: a scalar, brackets, or a map whose keys stand below each other. */
  #item(indent: number, dash: Place, level: number): Node {
    this.#skipSpaces();
    const code = this.#text.charCodeAt(this.#at);
    if (this.#at >= this.#text.length || code === CODES.newline || code === CODES.hash || this.#isDash())
      throw NOT_PLAIN;
    if (this.#isKey()) return this.#map(this.#at - this.#lineStart, level + 1);
    return this.#inline(indent, dash, level);
  }

  /** The indentation of the line below `key:`, -1 at the end; null where a value stands behind the key. */
  #below(): number | null {
    this.#skipSpaces();
    const code = this.#text.charCodeAt(this.#at);
    if (this.#at < this.#text.length && code !== CODES.newline && code !== CODES.hash) return null;
    if (code === CODES.hash && this.#text.charCodeAt(this.#at - 1) !== CODES.space) throw NOT_PLAIN;
    this.#endLine();
    return this.#nextLine();
  }

  /** What stands behind `key:`, or in the lines below. A list may begin as far left as its key. */
  #valueFrom(below: number | null, indent: number, key: Place, level: number): Node {
    if (below === null) return this.#inline(indent, key, level);
    const isList = below >= 0 && this.#isDash();
    if (isList && below >= indent) return this.#list(below, level + 1);
    if (below > indent) return this.#map(below, level + 1);
    return { kind: "scalar", place: key, value: null, quoted: false };
  }

  /** A scalar or brackets, to the end of the line; nothing below may continue it. */
  #inline(indent: number, key: Place, level: number): Node {
    const node = this.#flowNode(level, BLOCK_PLAIN);
    this.#endLine();
    const next = this.#nextLine();
    if (next > indent && node.kind === "scalar" && key.line !== this.#line) throw NOT_PLAIN;
    return node;
  }

  #flowNode(level: number, plain: RegExp): Node {
    if (level > MAX_PLAIN_LEVELS) throw NOT_PLAIN;
    const code = this.#text.charCodeAt(this.#at);
    if (code === CODES.openMap) return this.#flowMap(level);
    if (code === CODES.openList) return this.#flowList(level);
    const start = this.#at;
    const quoted = code === CODES.doubleQuote || code === CODES.singleQuote;
    const source = this.#take(quoted ? QUOTED : plain);
    const place = this.#place(start, this.#at);
    // Two quotes in a row are one, within quotes.
    if (quoted && this.#text.charCodeAt(this.#at) === code) throw NOT_PLAIN;
    return { kind: "scalar", place, value: quoted ? source.slice(1, -1) : typed(source), quoted } satisfies ScalarNode;
  }

  #flowMap(level: number): Node {
    const start = this.#at;
    const entries = new Map<string, Entry>();
    this.#at += 1;
    this.#skipSpaces();
    while (this.#text.charCodeAt(this.#at) !== CODES.closeMap) {
      const keyStart = this.#at;
      const name = this.#key();
      const key = this.#place(keyStart, this.#at);
      if (entries.has(name) || this.#text.charCodeAt(this.#at + 1) !== CODES.space) throw NOT_PLAIN;
      this.#at += 1;
      this.#skipSpaces();
      entries.set(name, { key, value: this.#flowNode(level + 1, FLOW_PLAIN) });
      this.#separate(CODES.closeMap);
    }
    this.#at += 1;
    return { kind: "map", place: this.#place(start, this.#at), entries };
  }

  #flowList(level: number): Node {
    const start = this.#at;
    const items: Node[] = [];
    this.#at += 1;
    this.#skipSpaces();
    while (this.#text.charCodeAt(this.#at) !== CODES.closeList) {
      items.push(this.#flowNode(level + 1, FLOW_PLAIN));
      this.#separate(CODES.closeList);
    }
    this.#at += 1;
    return { kind: "list", place: this.#place(start, this.#at), items };
  }

  /** To the next entry, which there is behind a comma, or to the closing bracket. */
  #separate(close: number): void {
    this.#skipSpaces();
    const code = this.#text.charCodeAt(this.#at);
    if (code === close) return;
    if (code !== CODES.comma) throw NOT_PLAIN;
    this.#at += 1;
    this.#skipSpaces();
    if (this.#text.charCodeAt(this.#at) === close) throw NOT_PLAIN;
  }

  #key(): string {
    const code = this.#text.charCodeAt(this.#at);
    if (code === CODES.doubleQuote || code === CODES.singleQuote) {
      const quoted = this.#take(QUOTED).slice(1, -1);
      if (this.#text.charCodeAt(this.#at) !== CODES.colon || quoted === "<<") throw NOT_PLAIN;
      const after = this.#text.charCodeAt(this.#at + 1);
      if (after !== CODES.space && after !== CODES.newline) throw NOT_PLAIN;
      return quoted;
    }
    const name = this.#take(KEY);
    if (WORD.test(name)) throw NOT_PLAIN;
    return name;
  }

  #isKey(): boolean {
    const start = this.#at;
    const code = this.#text.charCodeAt(start);
    const pattern = code === CODES.doubleQuote || code === CODES.singleQuote ? QUOTED : KEY;
    pattern.lastIndex = start;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    return length > 0 && this.#text.charCodeAt(start + length) === CODES.colon;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw NOT_PLAIN;
    this.#at += found.length;
    return found;
  }

  /** Nothing but a comment may stand before the end of the line. */
  #endLine(): void {
    this.#take(REST);
    if (this.#text.charCodeAt(this.#at - 1) !== CODES.newline) return;
    this.#line += 1;
    this.#lineStart = this.#at;
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === CODES.space) this.#at += 1;
  }

  #isDash(): boolean {
    if (this.#text.charCodeAt(this.#at) !== CODES.dash) return false;
    const next = this.#text.charCodeAt(this.#at + 1);
    return next === CODES.space || next === CODES.newline || this.#at + 1 >= this.#text.length;
  }

  #column(): number {
    return this.#at >= this.#text.length ? -1 : this.#at - this.#lineStart;
  }

  /** On the line that is read. @param end left out for what may go on below. */
  #place(start: number, end?: number): Place {
    const column = start - this.#lineStart + 1;
    const endColumn = end === undefined ? undefined : end - this.#lineStart + 1;
    return { file: this.#file, line: this.#line, column, endColumn };
  }
}

/** A plain scalar by the rules of YAML's core schema. */
function typed(source: string): Scalar {
  if (WORD.test(source)) return /^n/i.test(source) ? null : /^t/i.test(source);
  if (INTEGER.test(source) || FLOAT.test(source)) return Number(source);
  if (UNUSUAL_NUMBER.test(source)) throw NOT_PLAIN;
  return source;
}
