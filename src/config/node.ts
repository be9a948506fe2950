import { pathOf, type Steps } from "../kit/index.ts";
import { type Diagnostic, join, type Place } from "./diagnostics.ts";

export type Scalar = string | number | boolean | null;

/** A configuration value that knows where it was written. The tree is independent of the YAML library. */
export type Node = ScalarNode | MapNode | ListNode;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly place: Place;
  readonly value: Scalar;
  readonly quoted: boolean;
  /** Set once the scalar's references have been resolved. */
  readonly reference?: Reference;
}

export interface Reference {
  /** As written, `${env:NAME}`: what messages may show instead of the value. */
  readonly written: string;
  /** The other reading of the resolved text, as text or as a YAML scalar: used where the schema asks for it. */
  readonly alternative: Scalar;
  /**
   * A variable that is not set and has no default; the value is then empty text. Empty: a command that was not run, for
   * which its reference stands.
   */
  readonly unset: string | null;
}

export interface Entry {
  readonly key: Place;
  readonly value: Node;
}

export interface MapNode {
  readonly kind: "map";
  readonly place: Place;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface ListNode {
  readonly kind: "list";
  readonly place: Place;
  readonly items: readonly Node[];
}

/** The node at a pointer, with the place of its key (its own place in a list). Null when nothing is there. */
export function find(root: Node, pointer: string): { readonly node: Node; readonly key: Place } | null {
  let found = { node: root, key: root.place };
  for (const segment of pathOf(pointer)) {
    const { node } = found;
    if (node.kind === "map") {
      const entry = node.entries.get(segment);
      if (!entry) return null;
      found = { node: entry.value, key: entry.key };
    } else {
      const item = node.kind === "list" ? node.items[Number(segment)] : undefined;
      if (!item) return null;
      found = { node: item, key: item.place };
    }
  }
  return found;
}

/**
 * Plain data for the validator; maps have no prototype, so that a key such as `__proto__` is a key like any other.
 * `override` may replace scalars by pointer.
 */
export function toPlain(node: Node, override?: ReadonlyMap<string, Scalar>, pointer = ""): unknown {
  if (override?.size === 0) return toPlain(node);
  if (node.kind === "scalar") {
    const replaced = override?.get(pointer);
    return replaced === undefined ? node.value : replaced;
  }
  const below = (key: string | number): string => (override === undefined ? "" : join(pointer, key));
  if (node.kind === "list") return node.items.map((item, index) => toPlain(item, override, below(index)));
  const record = Object.create(null) as Record<string, unknown>;
  for (const [key, { value }] of node.entries) {
    record[key] = toPlain(value, override, below(key));
  }
  return record;
}

/** Entries of a section that are worked on in one turn of the event loop: a millisecond or two. */
const ENTRIES_PER_STEP = 32;

/** Whether work on a section that has come so far is to pause, for requests that wait. */
export function isStep(done: number): boolean {
  return done % ENTRIES_PER_STEP === 0;
}

/** As `eachScalar` from the root, with steps between the entries of sections. */
export function* scalarsInSteps(root: Node, visit: (node: ScalarNode, path: readonly string[]) => void): Steps<void> {
  if (root.kind !== "map") return eachScalar(root, [], visit);
  let done = 0;
  for (const [section, { value }] of root.entries) {
    const entries = value.kind === "map" ? value.entries : null;
    if (entries === null) eachScalar(value, [section], visit);
    for (const [name, entry] of entries ?? []) {
      eachScalar(entry.value, [section, name], visit);
      if (isStep(++done)) yield;
    }
  }
}

/** Visits every scalar with the keys and indexes that lead to it. The path is one array that changes on the way. */
export function eachScalar(
  node: Node,
  path: string[],
  visit: (node: ScalarNode, path: readonly string[]) => void,
): void {
  if (node.kind === "scalar") {
    visit(node, path);
    return;
  }
  const children = node.kind === "list" ? node.items.entries() : node.entries;
  for (const [key, child] of children) {
    path.push(String(key));
    eachScalar("kind" in child ? child : child.value, path, visit);
    path.pop();
  }
}

/** What a message may show of a value: never what a reference brought. */
export function showNode(node: Node): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "a map" : "a list";
  return node.reference?.written ?? `'${String(node.value)}'`;
}

/** Sections of entries by name, and what one is called. */
const ENTRIES: ReadonlyMap<string | undefined, string> = new Map([
  ["tiers", "tier"],
  ["upstreams", "upstream"],
  ["models", "model"],
]);

/**
 * The diagnostic with what it is about at the beginning of its message: a log or an annotation shows the message without
 * the place, and a place may be a reference in another file.
 */
export function withSubject(diagnostic: Diagnostic, root: Node | null): Diagnostic {
  const { pointer, message } = diagnostic;
  if (pointer === "" || root === null) return diagnostic;
  const subject = subjectOf(pathOf(pointer), message, root);
  return subject === "" ? diagnostic : { ...diagnostic, message: `${subject}: ${message}` };
}

/** `model 'route/one', chain[0].upstream`, `plugin './x.ts', options.words`, `server.workers`. */
function subjectOf(path: readonly string[], message: string, root: Node): string {
  // An unknown key, say: the message quotes it, and is about what holds it.
  const own = message.includes(`'${path.at(-1)}'`) ? path.slice(0, -1) : path;
  const [section, name, ...rest] = own;
  const entry = ENTRIES.get(section);
  if (entry !== undefined && name !== undefined) return joined(`${entry} '${name}'`, dotted(rest));
  if (section === "pipeline" && name !== undefined) return stepOf(name, rest, message, root);
  return dotted(own);
}

function stepOf(index: string, rest: readonly string[], message: string, root: Node): string {
  const use = pluginOf(index, root);
  const key = dotted(rest[0] === "use" ? [] : rest);
  if (use === null || message.includes(use)) return joined(`pipeline[${index}]`, key);
  return joined(`plugin ${use}`, key);
}

/** As written: a name that a reference brought is not told. */
function pluginOf(index: string, root: Node): string | null {
  const pointer = join("/pipeline", index);
  const node = find(root, join(pointer, "use"))?.node ?? find(root, pointer)?.node;
  return node?.kind === "scalar" && typeof node.value === "string" ? showNode(node) : null;
}

function joined(entry: string, key: string): string {
  return key === "" ? entry : `${entry}, ${key}`;
}

/** Keys by dots, places in lists in brackets, what is no plain word as in the file. */
function dotted(path: readonly string[]): string {
  return path
    .map((key, index) => {
      if (/^\d+$/.test(key)) return `[${key}]`;
      const shown = /^[\w$/-]+$/.test(key) ? key : `'${key}'`;
      return index === 0 ? shown : `.${shown}`;
    })
    .join("");
}
