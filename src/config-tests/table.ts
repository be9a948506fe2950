import { diagnose, type Diagnostic, didYouMean, type Finding, join, type Place } from "../config/diagnostics.ts";
import type { Entry, ListNode, MapNode, Node, Scalar, ScalarNode } from "../config/node.ts";

/** Values of `each` by name. */
export type Binding = ReadonlyMap<string, ScalarNode>;

/** What of the configuration selections choose from. */
export interface Names {
  readonly tier: readonly string[];
  readonly model: readonly string[];
  readonly upstream: readonly string[];
  /** Lists of the file that selections refer to. */
  readonly sets: ReadonlyMap<string, Node>;
}

/** More would take minutes, and nobody reads them. */
const MAX_CASES = 100_000;

const SELECTED = ["tier", "model", "upstream"] as const;
type Selected = (typeof SELECTED)[number];

/** Every combination of what `each` lists; one without any values when it is absent. Null when it is wrong. */
export function bindings(
  each: Node | undefined,
  pointer: string,
  names: Names,
  report: (diagnostic: Diagnostic) => void,
): readonly Binding[] | null {
  let isRight = true;
  const wrong = (node: Node, at: string, finding: Finding): void => {
    isRight = false;
    report(diagnose(node.place, at, finding));
  };
  let all: Binding[] = [new Map()];
  for (const [key, { value }] of each?.kind === "map" ? each.entries : []) {
    const variables = key.split(/, */);
    const twice = variables.find((name, index) => all[0]?.has(name) || variables.indexOf(name) !== index);
    if (twice !== undefined) {
      const message = `'${twice}' has values already`;
      wrong(value, join(pointer, key), { rule: "duplicate-name", message, hint: "give one of the two another name" });
    }
    const selector = new Selector(names, (node, finding) => wrong(node, join(pointer, key), finding));
    const rows =
      variables.length === 1 ? selector.values(key, value).map((one) => [one]) : selector.rows(variables, value);
    if (rows.length === 0 && isRight) {
      wrong(value, join(pointer, key), { rule: "wrong-length", message: `selects nothing for '${key}'` });
    }
    if (all.length * rows.length > MAX_CASES) {
      wrong(value, join(pointer, key), { rule: "wrong-length", message: `makes more than ${MAX_CASES} cases` });
      return null;
    }
    all = all.flatMap((binding) =>
      rows.map((row) => new Map([...binding, ...row.map((cell, index) => [variables[index]!, cell] as const)])),
    );
  }
  return isRight ? all : null;
}

/** Reads the lists of `each`: names of the configuration, patterns of them, sets; anything else as it is. */
class Selector {
  readonly #names: Names;
  readonly #wrong: (node: Node, finding: Finding) => void;

  constructor(names: Names, wrong: (node: Node, finding: Finding) => void) {
    this.#names = names;
    this.#wrong = wrong;
  }

  values(variable: string, node: Node): readonly ScalarNode[] {
    const found = new Map<Scalar, ScalarNode>();
    for (const item of this.#items(node, new Set())) {
      const isExclusion = isSelected(variable) && typeof item.value === "string" && item.value.startsWith("!");
      const excluded = isExclusion ? item.value.slice(1) : null;
      const scalars = this.#scalars(variable, excluded === null ? item : { ...item, value: excluded });
      for (const scalar of scalars) {
        if (excluded !== null) found.delete(scalar.value);
        else if (!found.has(scalar.value)) found.set(scalar.value, scalar);
      }
    }
    return [...found.values()];
  }

  /** A row may select several names in a cell: it is one row for each. */
  rows(variables: readonly string[], node: Node): readonly (readonly ScalarNode[])[] {
    return (node.kind === "list" ? node.items : [node]).flatMap((row) => {
      if (row.kind !== "list" || row.items.length !== variables.length) {
        const message = `must be a list of ${variables.length} values: ${variables.join(", ")}`;
        this.#wrong(row, { rule: "wrong-length", message });
        return [];
      }
      let rows: readonly (readonly ScalarNode[])[] = [[]];
      for (const [index, cell] of row.items.entries()) {
        const values = this.values(variables[index]!, cell);
        rows = rows.flatMap((before) => values.map((value) => [...before, value]));
      }
      return rows;
    });
  }

  /** Scalars of a list, those of the sets that it names in their place, each with `!` when its set has it. */
  #items(node: Node, within: ReadonlySet<string>): readonly ScalarNode[] {
    if (node.kind === "list") return node.items.flatMap((item) => this.#items(item, within));
    if (node.kind === "map") {
      this.#wrong(node, { rule: "wrong-type", message: "must be a value, or a list of values" });
      return [];
    }
    const [, not = "", name] = (typeof node.value === "string" && /^(!?)\$([a-z][a-z0-9_]*)$/.exec(node.value)) || [];
    if (name === undefined) return [node];
    const set = this.#names.sets.get(name);
    if (set === undefined || within.has(name)) {
      const message = set === undefined ? `there is no set '${name}'` : `the set '${name}' contains itself`;
      this.#wrong(node, { rule: "unknown-value", message, hint: didYouMean(name, this.#names.sets.keys()) });
      return [];
    }
    const items = this.#items(set, new Set([...within, name]));
    return not === "" ? items : items.map((item) => ({ ...item, value: `!${item.value}` }));
  }

  #scalars(variable: string, item: ScalarNode): readonly ScalarNode[] {
    if (!isSelected(variable)) return [item];
    const pattern = String(item.value);
    const known = this.#names[variable];
    if (!pattern.includes("*")) {
      if (known.includes(pattern)) return [{ ...item, value: pattern }];
      this.#wrong(item, unknownName(variable, pattern, known));
      return [];
    }
    const parts = pattern.split("*").map((part) => part.replaceAll(/[.?+^$()[\]{}|\\]/g, String.raw`\$&`));
    const expression = new RegExp(`^${parts.join(".*")}$`, "u");
    return known.filter((name) => expression.test(name)).map((value) => ({ ...item, value }));
  }
}

function isSelected(variable: string): variable is Selected {
  return SELECTED.some((name) => name === variable);
}

const SHOWN_NAMES_COUNT = 10;

/** For a name that the configuration does not have. */
export function unknownName(what: string, name: string, known: readonly string[]): Finding {
  const some = known.slice(0, SHOWN_NAMES_COUNT).join(", ");
  const all = known.length > SHOWN_NAMES_COUNT ? `${some}, …` : some;
  const hint = didYouMean(name, known) ?? `there are: ${all}`;
  return { rule: "unknown-value", message: `the configuration has no ${what} '${name}'`, hint };
}

const VARIABLE = /\$\$|\$([a-z][a-z0-9_]*)/g;

/**
 * The node with values in place of `$name`, also in keys; `$$` is a literal `$`. Alone in a text it is the value itself.
 * @param unbound called for names that have no value.
 * @param twice called for keys that are another key once they are filled.
 */
export function filled(
  node: Node,
  binding: Binding,
  unbound: (node: Node, name: string, hint: string | null) => void,
  twice: (place: Place, name: string) => void,
): Node {
  const one = (text: string, at: Node): string =>
    text.replaceAll(VARIABLE, (written, name: string | undefined) => {
      if (name === undefined) return "$";
      const value = binding.get(name);
      if (value !== undefined) return String(value.value);
      unbound(at, name, didYouMean(name, binding.keys()));
      return written;
    });
  const fill = (inner: Node): Node => {
    if (inner.kind === "list") return { ...inner, items: inner.items.map(fill) } satisfies ListNode;
    if (inner.kind === "map") return filledMap(inner);
    if (typeof inner.value !== "string" || !inner.value.includes("$")) return inner;
    const value = binding.get(inner.value.slice(1));
    const isWhole = value !== undefined && inner.value === `$${inner.value.slice(1)}`;
    return isWhole
      ? { ...inner, value: value.value, quoted: value.quoted }
      : { ...inner, value: one(inner.value, inner) };
  };
  const filledMap = (map: MapNode): MapNode => {
    const entries = new Map<string, Entry>();
    for (const [key, { key: place, value }] of map.entries) {
      const name = one(key, { kind: "scalar", place, value: key, quoted: true });
      if (entries.has(name)) twice(place, name);
      entries.set(name, { key: place, value: fill(value) });
    }
    return { ...map, entries };
  };
  return fill(node);
}

/** Names of values that the node has, in texts and in keys. */
export function namesIn(node: Node): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (text: Scalar): void => {
    for (const [, name] of String(text).matchAll(VARIABLE)) if (name !== undefined) names.add(name);
  };
  const visit = (inner: Node): void => {
    if (inner.kind === "scalar") look(inner.value);
    if (inner.kind === "list") for (const item of inner.items) visit(item);
    if (inner.kind !== "map") return;
    for (const [key, { value }] of inner.entries) {
      look(key);
      visit(value);
    }
  };
  visit(node);
  return names;
}

/** For a `$name` that has no value. */
export function unboundValue(name: string, hint: string | null): Finding {
  const message = `there is no value named '${name}' in each`;
  return { rule: "unknown-value", message, hint: hint ?? "write $$ for a literal $" };
}
