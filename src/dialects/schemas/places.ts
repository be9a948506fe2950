import { isJson, type Json } from "../../kit/index.ts";
import { escaped } from "../canonical/report.ts";
import { weightOf, type Work } from "./work.ts";

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
/** They say nothing about values; `discriminator` is OpenAPI's hint about a union. */
export const SAYS_NOTHING: ReadonlySet<string> = new Set(
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
const LONGEST_POINTER = 512;

/** The pointer to what stands below one, or to the nearest above it that is not too long. */
export function placeBelow(at: string, name: string | number): string {
  const step = String(name);
  return at.length + step.length >= LONGEST_POINTER ? at : `${at}/${escaped(step)}`;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** Keywords whose schemas are written, and paid for, one by one. */
const WRITTEN: ReadonlySet<string> = new Set(
  "properties required items prefixItems additionalItems additionalProperties allOf anyOf oneOf".split(" "),
);

/** How much work one keyword of a schema is, without the schemas in it. */
export function costOf(keyword: string, value: unknown): number {
  if (keyword === "$defs" || keyword === "definitions") return 1;
  if (!WRITTEN.has(keyword)) return weightOf(value);
  if (Array.isArray(value)) return 1 + value.length;
  return keyword === "properties" && isJson(value) ? 1 + Object.keys(value).length : 1;
}

/** What the references within one schema point at. */
export class References {
  readonly #root: Json;
  readonly #work: Work;
  readonly #cyclic = new Map<string, boolean>();

  constructor(root: Json, work: Work) {
    this.#root = root;
    this.#work = work;
  }

  /** What a reference into the schema itself points at; null for any other, and for one that points nowhere. */
  target(reference: unknown): Placed | null {
    if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return null;
    try {
      return this.#pointedAt(decodeURIComponent(reference.slice(1)));
    } catch {
      return null;
    }
  }

  #pointedAt(at: string): Placed | null {
    let value: unknown = this.#root;
    for (const name of at.split("/").slice(1).map(unescaped)) {
      if (Array.isArray(value)) value = value[Number(name)];
      else if (isJson(value) && Object.hasOwn(value, name)) value = value[name];
      else return null;
    }
    return isJson(value) || typeof value === "boolean" ? { value, at } : null;
  }

  /**
   * Whether a schema refers to itself, however far around: Tarjan's strongly connected components, so that each schema is
   * looked at once however many refer to it. One of which that would be too much work to know counts as one that does.
   */
  isCyclic(at: string): boolean {
    if (!this.#cyclic.has(at)) this.#components(at);
    return this.#cyclic.get(at) ?? true;
  }

  #components(from: string): void {
    const numbers = new Map<string, number>();
    const lowest = new Map<string, number>();
    const stack: string[] = [];
    const onStack = new Set<string>();
    const open: { readonly at: string; readonly to: readonly string[]; next: number }[] = [];
    const enter = (at: string): void => {
      numbers.set(at, numbers.size);
      lowest.set(at, numbers.get(at)!);
      stack.push(at);
      onStack.add(at);
      open.push({ at, to: this.#placesFrom(at), next: 0 });
    };
    enter(from);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { at, to } = top;
      const place = to[top.next++];
      if (place === undefined) {
        open.pop();
        const parent = open.at(-1);
        if (parent !== undefined) lowest.set(parent.at, Math.min(lowest.get(parent.at)!, lowest.get(at)!));
        if (lowest.get(at) === numbers.get(at)) this.#close(at, to.includes(at), stack, onStack);
      } else if (onStack.has(place)) lowest.set(at, Math.min(lowest.get(at)!, numbers.get(place)!));
      else if (!numbers.has(place) && !this.#cyclic.has(place)) enter(place);
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

  #placesFrom(at: string): readonly string[] {
    const schema = this.#pointedAt(at)?.value;
    // A list of schemas each within the other would be walked as often as it is long.
    if (this.#work.over || !this.#work.spend(weightOf(schema))) return [at];
    return [...new Set(references(schema).flatMap((reference) => this.target(reference)?.at ?? []))];
  }
}

/** The references of a schema; data that looks like one is none. */
function references(schema: unknown, found: string[] = []): readonly string[] {
  if (!isJson(schema)) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "$ref" && typeof value === "string") found.push(value);
    if (keyword === "$ref" || keyword === "$defs" || keyword === "definitions") continue;
    if (MAPS.has(keyword) && isJson(value)) for (const one of Object.values(value)) references(one, found);
    else if (LISTS.has(keyword) && Array.isArray(value)) for (const one of value) references(one, found);
    else if (SINGLES.has(keyword)) references(value, found);
  }
  return found;
}

export function unescaped(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
