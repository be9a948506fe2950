import {
  type Alias,
  Composer,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node as YamlNode,
  parseDocument,
  type ParseOptions,
  Parser,
  type Scalar as YamlScalar,
  type SchemaOptions,
  type YAMLMap,
  YAMLParseError,
  type YAMLSeq,
} from "yaml";
import { diagnose, type Diagnostic, type Finding, type Place } from "./diagnostics.ts";
import { MAX_TYPED_CHARACTERS } from "./fast-parse.ts";
import type { Entry, MapNode, Node, Scalar } from "./node.ts";
import type { RuleId } from "./rules.ts";

/** Levels of maps and lists in each other. */
const MAX_LEVELS = 100;
/** A level takes the parser up to three open tokens; the document's own is one more. */
const MAX_OPEN_TOKENS = 3 * MAX_LEVELS + 1;
const TOO_DEEP = { rule: "yaml-depth", message: `is nested more than ${MAX_LEVELS} levels deep` } as const;
/** Nodes that aliases may add to a document: enough for shared blocks, too few for a bomb. */
const MAX_ALIASED_NODES = 10_000;
const CORE_TAG = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

interface Parsed {
  readonly root: MapNode | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Strict YAML 1.2 with positions: no merge keys, custom tags, further documents or duplicate keys. */
export function parse(file: string, text: string): Parsed {
  const lines = new LineCounter();
  const start: Place = { file, line: 1, column: 1 };
  try {
    const control = controlCharacter(text);
    if (control !== null) {
      const { offset, name } = control;
      for (let line = 0; line <= offset; line = text.indexOf("\n", line) + 1 || text.length) lines.addNewLine(line);
      const message = `the control character ${name} is not allowed`;
      const finding: Finding = { rule: "yaml-character", message, hint: "remove it" };
      return { root: null, diagnostics: [diagnose(placeAt(file, lines, [offset, offset + 1]), "", finding)] };
    }
    const document = parseBounded(text, {
      lineCounter: lines,
      prettyErrors: false,
      version: "1.2",
      schema: "core",
      merge: false,
      stringKeys: true,
      // Compares every pair of keys: minutes for a large map. The reader below finds duplicates itself.
      uniqueKeys: false,
    });
    const [first] = document.errors;
    if (first) {
      const place = placeAt(file, lines, first.pos);
      const line = text.slice(lines.lineStarts[place.line - 1], lines.lineStarts[place.line]);
      return { root: null, diagnostics: [diagnose(place, "", syntax(first, line))] };
    }
    return new Reader(file, lines, document).read(start);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    const place = placeAt(file, lines, [error.offset, error.offset]);
    return { root: null, diagnostics: [diagnose(place, "", TOO_DEEP)] };
  }
}

/** A text as a YAML plain scalar would be read. */
export function parseScalar(text: string): Scalar {
  if (text === "") return null;
  if (text.length > MAX_TYPED_CHARACTERS) return text;
  const plain = parseDocument<YamlScalar>(text, { version: "1.2", schema: "core", prettyErrors: false });
  const { contents } = plain;
  const usable =
    plain.errors.length === 0 && isScalar(contents) && contents.type === "PLAIN" && contents.source === text;
  return usable && !contents.tag && !contents.anchor ? scalarValue(contents.value) : text;
}

/** The core schema knows no other scalars. */
function scalarValue(value: unknown): Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function syntax({ code, message }: { code: string; message: string }, line: string): Finding {
  if (code === "MULTIPLE_DOCS")
    return {
      rule: "yaml-documents",
      message: "has more than one document",
      hint: "remove everything from the second '---' on, or move it to a file of its own",
    };
  if (code === "NON_STRING_KEY")
    return { rule: "yaml-key", message: "a key must be plain text", hint: "put the key in quotes" };
  const hint = line.includes("${") ? "inside { } and [ ] a reference needs quotes" : null;
  // The library quotes the text it stumbled over, which may be a key.
  const unquoted = message.replace(/ (in YAML stream|characters): .*$/s, " $1");
  return { rule: "yaml-syntax", message: unquoted.replaceAll(/\s+/g, " "), hint };
}

function placeAt(file: string, lines: LineCounter, [from, to]: readonly [number, number]): Place {
  const { line, col } = lines.linePos(from);
  const end = lines.linePos(to);
  return {
    file,
    line: Math.max(1, line),
    column: Math.max(1, col),
    endColumn: end.line === line && end.col > col ? end.col : undefined,
  };
}

/** Turns one parsed document into the tree; collects everything that is wrong on the way. */
class Reader {
  readonly #file: string;
  readonly #lines: LineCounter;
  readonly #document: Document.Parsed;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #open = new Set<YamlNode>();
  readonly #anchors = new Map<string, YamlNode>();
  #aliased = 0;
  #inAlias = false;

  constructor(file: string, lines: LineCounter, document: Document.Parsed) {
    this.#file = file;
    this.#lines = lines;
    this.#document = document;
  }

  read(start: Place): { root: MapNode | null; diagnostics: Diagnostic[] } {
    const { contents } = this.#document;
    const root = contents === null ? null : this.#node(contents, start, 0);
    if (root?.kind !== "map" && this.#diagnostics.length === 0) {
      this.#add(
        root?.place ?? start,
        "yaml-root",
        contents === null ? "is empty" : "must be a map",
        "see the sample gateway.yaml",
      );
    }
    return { root: root?.kind === "map" ? root : null, diagnostics: this.#diagnostics };
  }

  #node(node: YamlNode | null | undefined, key: Place, depth: number): Node {
    const inner = node?.range ? this.#place(node.range) : key;
    // Where a block ends is a matter of what follows it.
    const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true;
    const place = isBlock ? { ...inner, endColumn: undefined } : inner;
    const nothing: Node = { kind: "scalar", place, value: null, quoted: false };
    if (!node) return { ...nothing, place: key };
    if (depth > MAX_LEVELS) return this.#bad(nothing, TOO_DEEP.rule, TOO_DEEP.message);
    if ((this.#inAlias || isAlias(node)) && ++this.#aliased > MAX_ALIASED_NODES) {
      if (this.#aliased === MAX_ALIASED_NODES + 1)
        this.#add(place, "yaml-alias", "aliases repeat too much of the document");
      return nothing;
    }
    if (isAlias(node)) return this.#alias(node, nothing, key, depth);
    if (node.anchor !== undefined && !this.#inAlias) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !CORE_TAG.test(node.tag)) {
      return this.#bad(nothing, "yaml-tag", `the tag ${node.tag} is not supported`, "remove the tag");
    }
    if (isScalar(node)) return this.#scalar(node, place, key);
    if (isMap(node)) return this.#within(node, () => this.#map(node, place, depth));
    if (isSeq(node)) return this.#within(node, () => this.#list(node, place, depth));
    return this.#bad(nothing, "yaml-syntax", "is not a value");
  }

  #within<T>(node: YamlNode, read: () => T): T {
    this.#open.add(node);
    const result = read();
    this.#open.delete(node);
    return result;
  }

  #alias(node: Alias, nothing: Node, key: Place, depth: number): Node {
    // Alias.resolve of the library searches the whole document for each alias.
    const target = this.#anchors.get(node.source);
    if (!target) return this.#bad(nothing, "yaml-alias", `there is no anchor '${node.source}' before this alias`);
    if (this.#open.has(target))
      return this.#bad(nothing, "yaml-alias", `the alias '${node.source}' stands inside its own anchor`);
    const outer = this.#inAlias;
    this.#inAlias = true;
    const result = this.#node(target, key, depth);
    this.#inAlias = outer;
    return result;
  }

  #scalar(node: YamlScalar, place: Place, key: Place): Node {
    const quoted = node.type !== "PLAIN" && node.type !== undefined;
    // A value left out has no place of its own: it is shown at its key.
    const empty = !quoted && (node.source ?? "") === "";
    const { line, col } = this.#lines.linePos(node.range?.[1] ?? 0);
    const whole = line > place.line ? { ...place, end: { line, column: col } } : place;
    return { kind: "scalar", place: empty ? key : whole, value: scalarValue(node.value), quoted };
  }

  #list(node: YAMLSeq, place: Place, depth: number): Node {
    return {
      kind: "list",
      place,
      items: node.items.map((item) => this.#node(item as YamlNode | null, place, depth + 1)),
    };
  }

  #map(node: YAMLMap, place: Place, depth: number): MapNode {
    const entries = new Map<string, Entry>();
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== "string") {
        this.#add(place, "yaml-key", "a key must be plain text", "put the key in quotes");
        continue;
      }
      const keyPlace = key.range ? this.#place(key.range) : place;
      const former = entries.get(key.value);
      if (key.value === "<<") {
        this.#add(keyPlace, "yaml-merge-key", "merge keys are not supported", "repeat the values, or use defaults");
      } else if (former) {
        this.#add(
          keyPlace,
          "yaml-duplicate-key",
          `'${key.value}' stands twice in this map, first in line ${former.key.line}`,
        );
      } else {
        entries.set(key.value, { key: keyPlace, value: this.#node(value as YamlNode | null, keyPlace, depth + 1) });
      }
    }
    return { kind: "map", place, entries };
  }

  #place(range: readonly [number, number, number]): Place {
    return placeAt(this.#file, this.#lines, [range[0], range[1]]);
  }

  #bad(node: Node, rule: RuleId, message: string, hint?: string): Node {
    this.#add(node.place, rule, message, hint);
    return node;
  }

  #add(place: Place, rule: RuleId, message: string, hint?: string): void {
    this.#diagnostics.push(diagnose(place, "", { rule, message, hint }));
  }
}

/** What YAML 1.2 (5.1) forbids in a file: C0 but tab and line ends, DEL, C1 but NEL. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/;

interface ControlCharacter {
  readonly offset: number;
  /** For people, such as `U+0000`. */
  readonly name: string;
}

/** The first character that no YAML file may have; null when there is none. */
function controlCharacter(text: string): ControlCharacter | null {
  const offset = text.search(CONTROL);
  if (offset < 0) return null;
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, "0");
  return { offset, name: `U+${code}` };
}

/** Nesting that is given up before it is read to its end. */
export class TooDeep extends Error {
  override readonly name = "TooDeep";
  readonly offset: number;

  constructor(offset: number) {
    super("is nested too deeply");
    this.offset = offset;
  }
}

/**
 * As `parseDocument` of the library, whose time and stack grow with the depth of the text. @throws TooDeep while parsing,
 * as soon as more than three times `MAX_LEVELS` tokens are open.
 */
export function parseBounded(text: string, options: DocumentOptions & ParseOptions & SchemaOptions): Document.Parsed {
  const parser = new BoundedParser(options.lineCounter?.addNewLine);
  let document: Document.Parsed | null = null;
  for (const next of new Composer(options).compose(parser.parse(text), true, text.length)) {
    if (document === null) document = next;
    else {
      const [from, to] = next.range;
      document.errors.push(new YAMLParseError([from, to], "MULTIPLE_DOCS", "more than one document"));
      break;
    }
  }
  // The composer makes a document of an empty text, too.
  return document!;
}

class BoundedParser extends Parser {
  override *next(lexeme: string): ReturnType<Parser["next"]> {
    yield* super.next(lexeme);
    if (this.stack.length > MAX_OPEN_TOKENS) throw new TooDeep(this.offset);
  }
}
