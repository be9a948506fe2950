import { escapeSegment, isJson, type Json } from "../../kit/index.ts";
import { type Work, weightOf } from "./work.ts";

/*
 * JSON Schema itself, whoever takes it: the keywords that hold schemas, pointers to what they hold, references, and what is
 * the same or excludes each other.
 */

/** Keywords whose values are schemas by name, lists of schemas, and single schemas. */
export const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
export const LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"]);
export const SINGLES: ReadonlySet<string> = new Set(
  (
    "items additionalItems additionalProperties contains contentSchema else if not propertyNames then " +
    "unevaluatedItems unevaluatedProperties"
  ).split(" "),
);
/** They do not restrict values; `discriminator` is OpenAPI's hint about a union. */
export const IGNORED_KEYWORDS: ReadonlySet<string> = new Set(
  "$schema $id $anchor $comment $vocabulary discriminator readOnly writeOnly deprecated".split(" "),
);
export const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);

/** A value and where it stands in the original. */
export interface Placed {
  readonly value: unknown;
  readonly at: string;
}

/**
 * Characters of a pointer that is reported. Names are a client's own: a long one above many others would be written once
 * for each of them.
 */
const MAX_POINTER_CHARACTERS = 512;

/** The pointer to what stands below one, or to the nearest above it that is not too long. */
export function placeBelow(at: string, name: string | number): string {
  if (typeof name === "number") return at.length + 8 > MAX_POINTER_CHARACTERS ? at : `${at}/${name}`;
  if (at.length + name.length >= MAX_POINTER_CHARACTERS) return at;
  return name.includes("~") || name.includes("/") ? `${at}/${escapeSegment(name)}` : `${at}/${name}`;
}

export function unescaped(name: string): string {
  return name.includes("~") ? name.replaceAll("~1", "/").replaceAll("~0", "~") : name;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** A reference with nothing beside it but what says nothing about values. */
export function isReference(schema: unknown): boolean {
  if (!isJson(schema) || typeof schema["$ref"] !== "string") return false;
  for (const keyword in schema)
    if (keyword !== "$ref" && !ANNOTATIONS.has(keyword) && !IGNORED_KEYWORDS.has(keyword)) return false;
  return true;
}

/** How often one reference is followed within itself where it cannot stay a reference. */
export const MAX_UNROLLED = 3;

/** What the references within one schema point at. */
export class References {
  readonly #root: Json;
  readonly #work: Work;
  readonly #targets = new Map<string, Placed | null>();
  readonly #cyclic = new Map<string, boolean>();

  constructor(root: Json, work: Work) {
    this.#root = root;
    this.#work = work;
  }

  /** What a reference into the schema itself points at; null for any other, and for one that points nowhere. */
  target(reference: unknown): Placed | null {
    if (typeof reference !== "string") return null;
    const known = this.#targets.get(reference);
    if (known !== undefined) return known;
    const found = this.#find(reference);
    this.#targets.set(reference, found);
    return found;
  }

  /** What the schema refers to, or itself; null where that is no object. */
  resolved(schema: unknown): Json | null {
    let found = schema;
    for (let n = 0; n < MAX_UNROLLED && isJson(found) && typeof found["$ref"] === "string"; n++) {
      found = this.target(found["$ref"])?.value;
    }
    return isJson(found) ? found : null;
  }

  #find(reference: string): Placed | null {
    if (reference !== "#" && !reference.startsWith("#/")) return null;
    try {
      return this.#pointedAt(reference.includes("%") ? decodeURIComponent(reference.slice(1)) : reference.slice(1));
    } catch {
      return null;
    }
  }

  /** Name by name, not split: a pointer of many names mostly ends at the first that is not there. */
  #pointedAt(at: string): Placed | null {
    let value: unknown = this.#root;
    for (let slash = at.indexOf("/"); slash !== -1;) {
      const next = at.indexOf("/", slash + 1);
      const name = unescaped(at.slice(slash + 1, next === -1 ? undefined : next));
      if (Array.isArray(value)) value = value[Number(name)];
      else if (isJson(value) && Object.hasOwn(value, name)) value = value[name];
      else return null;
      slash = next;
    }
    return isJson(value) || typeof value === "boolean" ? { value, at } : null;
  }

  /**
   * Whether a schema refers to itself, however far around: Tarjan's strongly connected components, so that each schema is
   * looked at once however many refer to it. One of which that would be too much work to know counts as one that does.
   */
  isCyclic(target: Placed): boolean {
    if (!this.#cyclic.has(target.at)) this.#components(target);
    return this.#cyclic.get(target.at) ?? true;
  }

  #components(from: Placed): void {
    const numbers = new Map<string, number>();
    const lowest = new Map<string, number>();
    const stack: string[] = [];
    const onStack = new Set<string>();
    const open: { readonly at: string; readonly to: readonly Placed[]; next: number }[] = [];
    const enter = (schema: Placed): void => {
      const { at } = schema;
      lowest.set(at, numbers.size);
      numbers.set(at, numbers.size);
      stack.push(at);
      onStack.add(at);
      open.push({ at, to: this.#targetsFrom(schema), next: 0 });
    };
    enter(from);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { at, to } = top;
      const target = to[top.next++];
      if (target === undefined) {
        open.pop();
        const parent = open.at(-1);
        if (parent !== undefined) lowest.set(parent.at, Math.min(lowest.get(parent.at)!, lowest.get(at)!));
        if (lowest.get(at) === numbers.get(at)) {
          const toItself = to.some((one) => one.at === at);
          this.#close(at, toItself, stack, onStack);
        }
      } else if (onStack.has(target.at)) lowest.set(at, Math.min(lowest.get(at)!, numbers.get(target.at)!));
      else if (!numbers.has(target.at) && !this.#cyclic.has(target.at)) enter(target);
    }
  }

  /** What is on the stack from the component's first schema on refers to itself, or is that one alone. */
  #close(first: string, toItself: boolean, stack: string[], onStack: Set<string>): void {
    const several = stack.at(-1) !== first;
    for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
      onStack.delete(member);
      this.#cyclic.set(member, several || toItself);
      if (member === first) return;
    }
  }

  #targetsFrom(schema: Placed): readonly Placed[] {
    // A list of schemas each within the other would be walked as often as it is long.
    if (this.#work.over || !this.#work.spend(weightOf(schema.value))) return [schema];
    const found = new Set<Placed>();
    eachReference(schema.value, (reference) => {
      const target = this.target(reference);
      if (target !== null) found.add(target);
    });
    return [...found];
  }
}

/** The references of a schema; data that looks like one is none. */
function eachReference(schema: unknown, visit: (reference: string) => void): void {
  if (!isJson(schema)) return;
  for (const keyword in schema) {
    const value = schema[keyword];
    if (typeof value !== "object") {
      if (keyword === "$ref" && typeof value === "string") visit(value);
    } else if (keyword === "$ref" || keyword === "$defs" || keyword === "definitions") continue;
    else if (MAPS.has(keyword) && isJson(value)) for (const name in value) eachReference(value[name], visit);
    else if (LISTS.has(keyword) && Array.isArray(value)) for (const one of value) eachReference(one, visit);
    else if (SINGLES.has(keyword)) eachReference(value, visit);
  }
}

/** Whether two values of JSON are the same, whatever the order of their names. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index]))
    );
  }
  if (Array.isArray(other)) return false;
  const names = Object.keys(one);
  // First, for what was closed on the way has one name more.
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isSame((one as Json)[name], (other as Json)[name]));
}

/** What is looked at to tell whether two schemas have a value in common. */
interface Comparable {
  readonly types: ReadonlySet<unknown> | null;
  readonly values: ReadonlySet<unknown> | null;
  /** The values that required properties may have; null: the schema is not known to be of objects. */
  readonly properties: ReadonlyMap<string, ReadonlySet<unknown>> | null;
}

/** Schemas by what is looked at to compare them: made once each, however many they are compared with. */
export class Comparables {
  readonly #known = new Map<Json, Comparable>();

  /** How much comparing with it comes to. */
  weightOf(schema: Json): number {
    const { types, values, properties } = this.#of(schema);
    let weight = 1 + (types?.size ?? 0) + (values?.size ?? 0);
    for (const named of properties?.values() ?? []) weight += 1 + named.size;
    return weight;
  }

  /** Whether it is sure that no value fits two of them. */
  areDisjoint(schemas: readonly Json[]): boolean {
    const all = schemas.map((schema) => this.#of(schema));
    // Most are told apart by their values, or by one property that is their tag: once through them, not pair by pair.
    if (areDistinct(all.map(({ values }) => values))) return true;
    for (const name of all[0]?.properties?.keys() ?? [])
      if (areDistinct(all.map(({ properties }) => properties?.get(name)))) return true;
    return all.every((one, index) => all.slice(index + 1).every((other) => excludes(one, other)));
  }

  #of(schema: Json): Comparable {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const made = {
      types: schema["type"] === undefined ? null : new Set(listOf(schema["type"])),
      values: valuesOf(schema),
      properties: demandedValues(schema),
    };
    this.#known.set(schema, made);
    return made;
  }
}

/** Whether all of them are sets of values, and no value is in two. */
function areDistinct(sets: readonly (ReadonlySet<unknown> | null | undefined)[]): boolean {
  const all = new Set<unknown>();
  let count = 0;
  for (const set of sets) {
    if (!set) return false;
    for (const value of set) all.add(value);
    count += set.size;
    if (all.size < count) return false;
  }
  return true;
}

function excludes(one: Comparable, other: Comparable): boolean {
  if (one.types !== null && other.types !== null && !shareType(one.types, other.types)) return true;
  if (one.values !== null && other.values !== null) return one.values.isDisjointFrom(other.values);
  if (one.properties === null || other.properties === null) return false;
  for (const [name, values] of one.properties) {
    if (other.properties.get(name)?.isDisjointFrom(values) === true) return true;
  }
  return false;
}

function demandedValues({ type, properties, required }: Json): Comparable["properties"] {
  if (type !== "object" || !isJson(properties)) return null;
  const found = new Map<string, ReadonlySet<unknown>>();
  for (const name of listOf(required)) {
    const values = typeof name === "string" && Object.hasOwn(properties, name) ? valuesOf(properties[name]) : null;
    if (values !== null) found.set(String(name), values);
  }
  return found;
}

/** The values of `enum` or `const`, to be compared; null: it names none. */
function valuesOf(schema: unknown): ReadonlySet<unknown> | null {
  if (!isJson(schema)) return null;
  if ("const" in schema) return new Set([comparable(schema["const"])]);
  return Array.isArray(schema["enum"]) ? new Set(schema["enum"].map(comparable)) : null;
}

/** The values that are in both lists. */
export function sharedValues(some: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others.map(comparable));
  return some.filter((value) => known.has(comparable(value)));
}

/** What is the same for the same values: a text for objects and lists, whatever the order of their names. */
export function comparable(value: unknown): unknown {
  if (typeof value === "string") return `"${value}`;
  return typeof value === "object" && value !== null ? sortedText(value) : value;
}

/** Texts with their lengths, so that none needs to be escaped. */
function sortedText(value: unknown): string {
  if (typeof value === "string") return `"${value.length}:${value}`;
  if (typeof value !== "object" || value === null) return String(value);
  let text = Array.isArray(value) ? "[" : "{";
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) text += `${sortedText(item)},`;
  else
    for (const name of Object.keys(value).toSorted())
      text += `${name.length}:${name}${sortedText((value as Json)[name])},`;
  return `${text}]`;
}

/** The types that values of both have. An integer is a number. */
export function sharedTypes(types: ReadonlySet<unknown>, others: ReadonlySet<unknown>): readonly unknown[] {
  const both = [...types].filter((type) => others.has(type) || (type === "integer" && others.has("number")));
  const narrows = types.has("number") && !types.has("integer") && others.has("integer") && !both.includes("number");
  return narrows ? [...both, "integer"] : both;
}

function shareType(types: ReadonlySet<unknown>, others: ReadonlySet<unknown>): boolean {
  for (const type of types) {
    const other = type === "integer" ? "number" : type === "number" ? "integer" : type;
    if (others.has(type) || others.has(other)) return true;
  }
  return false;
}
