import { isJson, type Json } from "../../kit/index.ts";
import {
  Comparables,
  isReference,
  isSame,
  listOf,
  MAX_UNROLLED,
  type Placed,
  placeBelow,
  type References,
  sharedTypes,
  sharedValues,
} from "./json-schema.ts";
import { weightOf, type Work } from "./work.ts";

/** What several schemas say together: a value must fit all of them. */
export interface Conjunction {
  /** Each keyword but those below. */
  readonly fields: Map<string, Placed>;
  /** null: none is named. */
  properties: Map<string, Placed[]> | null;
  readonly required: Placed[];
  readonly items: Placed[];
  readonly unions: { readonly at: string; readonly branches: readonly Placed[] }[];
  /** What is said of other properties than so many that stand beside it. */
  readonly others: { readonly at: string; readonly names: number }[];
  /** The one reference, where the conjunction is nothing else but annotations. */
  reference: Placed | null;
}

export type Part = Placed | Conjunction;

/** How often each reference was followed on the way to where the writer is. */
export type Trail = ReadonlyMap<string, number>;

export function conjunction(): Conjunction {
  return { fields: new Map(), properties: null, required: [], items: [], unions: [], others: [], reference: null };
}

/** Pointers that are reported. */
const MAX_DROPPED_POINTERS = 1_000;

/** What the fitted schema no longer says. */
export class Losses {
  readonly dropped = new Set<string>();
  shaped = true;

  drop(at: string): void {
    this.dropped.add(this.dropped.size < MAX_DROPPED_POINTERS ? at : "");
  }

  /** Drops what said which values there may be at all. */
  lose(at: string): void {
    this.shaped = false;
    this.drop(at);
  }
}

/** Branches of a `oneOf` that are compared with each other. */
const MAX_COMPARED_BRANCHES = 50;

/** Of two values that must both hold, the one that implies the other. */
const NARROWER: Readonly<Record<string, (one: number, other: number) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
};

interface JoinOptions {
  readonly references: References;
  readonly work: Work;
  readonly losses: Losses;
  /** Whether a reference to what stands there may be written as one. */
  readonly staysReference: (target: Placed) => boolean;
}

/** Brings schemas that hold together, with those that they refer to, to one. */
export class Joiner {
  readonly #references: References;
  readonly #work: Work;
  readonly #losses: Losses;
  readonly #staysReference: JoinOptions["staysReference"];
  /** Branches of `oneOf` by what they name, for comparing. */
  readonly #comparable = new Comparables();
  /** Lists of `oneOf` whose branches exclude each other, or do not: one may be read through many references. */
  readonly #disjoint = new Map<unknown, boolean>();

  constructor({ references, work, losses, staysReference }: JoinOptions) {
    this.#references = references;
    this.#work = work;
    this.#losses = losses;
    this.#staysReference = staysReference;
  }

  /**
   * The schemas and those that they refer to, keyword by keyword, and the references followed up to there; null where one
   * leads nowhere any more.
   */
  join(
    schemas: readonly Part[],
    trail: Trail,
    isRoot: boolean,
  ): { readonly joined: Conjunction; readonly trail: Trail } | null {
    const joined = conjunction();
    const open = [...schemas];
    const [first] = schemas;
    // A reference may stay one where nothing else is said.
    const alone =
      !isRoot && schemas.length === 1 && first !== undefined && "value" in first && isReference(first.value);
    let followed: Map<string, number> | null = null;
    // Not by `shift`, which moves all that is left of a long list.
    for (const part of open) {
      if (!("value" in part)) {
        this.#include(joined, part);
        continue;
      }
      const { value: schema, at } = part;
      if (schema === true) continue;
      if (!isJson(schema)) {
        this.#losses.lose(at);
        return null;
      }
      for (const keyword in schema) {
        const value = schema[keyword];
        // A sum of many schemas, whose parts are all of the same few kinds, stops here too.
        if (!this.#work.spend(costOf(keyword, value))) return null;
        const place = placeBelow(at, keyword);
        if (keyword === "additionalProperties" && value !== true)
          joined.others.push({ at: place, names: namesOf(schema) });
        if (keyword === "allOf" && Array.isArray(value)) {
          for (const [index, one] of value.entries())
            open.push({ value: one as unknown, at: placeBelow(place, index) });
          continue;
        }
        if (keyword !== "$ref") {
          this.#add(joined, keyword, { value, at: place });
          continue;
        }
        const target = this.#references.target(value);
        if (target === null) {
          this.#losses.lose(place);
          continue;
        }
        if (alone && this.#staysReference(target)) {
          joined.reference = target;
          continue;
        }
        followed ??= this.#copied(trail);
        const times = followed.get(target.at) ?? 0;
        if (times >= MAX_UNROLLED) {
          this.#losses.lose(place);
          return null;
        }
        followed.set(target.at, times + 1);
        open.push(target);
      }
    }
    // Properties that another schema names were among those: of them it is no longer said.
    const named = joined.properties?.size ?? 0;
    for (const { at, names } of joined.others) if (named > names) this.#losses.drop(at);
    return { joined, trail: followed ?? trail };
  }

  /** A trail as long as the schema is deep would otherwise be copied for nothing at every level. */
  #copied(trail: Trail): Map<string, number> {
    this.#work.spend(trail.size >> 2);
    return new Map(trail);
  }

  #include(joined: Conjunction, { fields, properties, required, items, unions, others }: Conjunction): void {
    this.#work.spend((properties?.size ?? 0) + required.length + items.length + unions.length + others.length);
    for (const [keyword, placed] of fields) {
      this.#work.spend(weightOf(placed.value));
      this.#field(joined, keyword, placed);
    }
    for (const [name, schemas] of properties ?? []) {
      this.#work.spend(schemas.length);
      for (const schema of schemas) addProperty(joined, name, schema);
    }
    for (const one of required) joined.required.push(one);
    for (const one of items) joined.items.push(one);
    for (const one of unions) joined.unions.push(one);
    for (const one of others) joined.others.push(one);
  }

  #add(joined: Conjunction, keyword: string, placed: Placed): void {
    const { value, at } = placed;
    switch (keyword) {
      case "$defs":
      case "definitions":
        return;
      case "properties":
        // One that names none is meant to be empty.
        joined.fields.set(keyword, placed);
        if (!isJson(value)) return;
        for (const name in value) addProperty(joined, name, { value: value[name], at: placeBelow(at, name) });
        return;
      case "required":
        for (const [index, name] of listOf(value).entries())
          joined.required.push({ value: name, at: placeBelow(at, index) });
        return;
      case "items":
        if (!Array.isArray(value)) {
          joined.items.push(placed);
          return;
        }
        break;
      case "anyOf":
      case "oneOf": {
        const branches = listOf(value).map((one, index) => ({ value: one, at: placeBelow(at, index) }));
        if (keyword === "oneOf" && !this.#areDisjoint(value)) this.#losses.drop(at);
        if (branches.length > 0) joined.unions.push({ at, branches });
        return;
      }
      default:
    }
    this.#field(joined, keyword, placed);
  }

  #field(joined: Conjunction, keyword: string, placed: Placed): void {
    const before = joined.fields.get(keyword);
    joined.fields.set(keyword, before === undefined ? placed : this.#both(keyword, before, placed));
  }

  #both(keyword: string, one: Placed, other: Placed): Placed {
    // The first stays whatever comes: a long one is compared with no more of the others than it may cost.
    if (!this.#work.spend(weightOf(one.value))) {
      this.#losses.drop(other.at);
      return one;
    }
    if (isSame(one.value, other.value)) return one;
    const narrower = NARROWER[keyword];
    if (narrower !== undefined && typeof one.value === "number" && typeof other.value === "number") {
      return { at: one.at, value: narrower(one.value, other.value) };
    }
    if (keyword === "type") {
      const types = sharedTypes(new Set(listOf(one.value)), new Set(listOf(other.value)));
      if (types.length > 0) return { at: one.at, value: types.length === 1 ? types[0] : types };
    }
    if (keyword === "enum") {
      const values = sharedValues(listOf(one.value), listOf(other.value));
      if (values.length > 0) return { at: one.at, value: values };
    }
    if (keyword === "additionalProperties" && (one.value === false || other.value === false)) {
      return one.value === false ? one : other;
    }
    // The outer words are about this very place.
    this.#losses.drop(other.at);
    return one;
  }

  /** Whether no value fits two of the branches: then `oneOf` is `anyOf`. */
  #areDisjoint(branches: unknown): boolean {
    const list = listOf(branches);
    if (list.length > MAX_COMPARED_BRANCHES) return false;
    const known = this.#disjoint.get(branches);
    if (known !== undefined) return known;
    const schemas = list.map((branch) => this.#references.resolved(branch) ?? {});
    // Each is compared with each of those behind it.
    const found =
      schemas.every((schema) => this.#work.spend(this.#comparable.weightOf(schema))) &&
      this.#comparable.areDisjoint(schemas);
    this.#disjoint.set(branches, found);
    return found;
  }
}

/** Keywords whose schemas are written, and paid for, one by one. */
const WRITTEN: ReadonlySet<string> = new Set(
  "properties required items prefixItems additionalItems additionalProperties allOf anyOf oneOf".split(" "),
);

/** How much work one keyword of a schema is, without the schemas in it. */
function costOf(keyword: string, value: unknown): number {
  if (typeof value !== "object") return weightOf(value);
  if (keyword === "$defs" || keyword === "definitions") return 1;
  if (!WRITTEN.has(keyword)) return weightOf(value);
  if (Array.isArray(value)) return 1 + value.length;
  return keyword === "properties" && isJson(value) ? 1 + Object.keys(value).length : 1;
}

function namesOf({ properties }: Json): number {
  return isJson(properties) ? Object.keys(properties).length : 0;
}

function addProperty(joined: Conjunction, name: string, schema: Placed): void {
  joined.properties ??= new Map();
  const known = joined.properties.get(name);
  if (known === undefined) joined.properties.set(name, [schema]);
  else known.push(schema);
}
