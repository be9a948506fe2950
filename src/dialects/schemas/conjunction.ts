import { isJson, type Json } from "../../kit/index.ts";
import { listOf } from "./places.ts";

/** What is looked at to tell whether two schemas have a value in common. */
interface Comparable {
  readonly types: ReadonlySet<unknown> | null;
  readonly values: ReadonlySet<string> | null;
  /** The values that required properties may have; null: the schema is not known to be of objects. */
  readonly properties: ReadonlyMap<string, ReadonlySet<string>> | null;
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

  /** Whether it is sure that no value fits both. */
  areDisjoint(one: Json, other: Json): boolean {
    const [mine, theirs] = [this.#of(one), this.#of(other)];
    if (mine.types !== null && theirs.types !== null && sharedTypes(mine.types, theirs.types).length === 0) return true;
    if (mine.values !== null && theirs.values !== null) return mine.values.isDisjointFrom(theirs.values);
    if (mine.properties === null || theirs.properties === null) return false;
    for (const [name, values] of mine.properties) {
      if (theirs.properties.get(name)?.isDisjointFrom(values) === true) return true;
    }
    return false;
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

function demandedValues({ type, properties, required }: Json): Comparable["properties"] {
  if (type !== "object" || !isJson(properties)) return null;
  const found = new Map<string, ReadonlySet<string>>();
  for (const name of listOf(required)) {
    const values = typeof name === "string" && Object.hasOwn(properties, name) ? valuesOf(properties[name]) : null;
    if (values !== null) found.set(String(name), values);
  }
  return found;
}

/** The values of `enum` or `const`, as text; null: it names none. */
function valuesOf(schema: unknown): ReadonlySet<string> | null {
  if (!isJson(schema)) return null;
  const values = "const" in schema ? [schema["const"]] : schema["enum"];
  return Array.isArray(values) ? new Set(values.map((value: unknown) => JSON.stringify(value))) : null;
}

/** The values that are in both lists. */
export function shared(some: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others.map((value) => JSON.stringify(value)));
  return some.filter((value) => known.has(JSON.stringify(value)));
}

/** The types that values of both have. An integer is a number. */
export function sharedTypes(types: ReadonlySet<unknown>, others: ReadonlySet<unknown>): readonly unknown[] {
  const both = [...types].filter((type) => others.has(type) || (type === "integer" && others.has("number")));
  const narrows = types.has("number") && !types.has("integer") && others.has("integer") && !both.includes("number");
  return narrows ? [...both, "integer"] : both;
}
