import { isDeepStrictEqual } from "node:util";
import { isJson, type Json } from "../../kit/index.ts";
import { escaped } from "../canonical/report.ts";
import { Comparables, shared, sharedTypes } from "./conjunction.ts";
import {
  ANNOTATIONS,
  costOf,
  listOf,
  LISTS,
  MAPS,
  placeBelow,
  type Placed,
  References,
  SAYS_NOTHING,
  SINGLES,
  unescaped,
} from "./places.ts";
import { withoutRootUnion } from "./unrestricted.ts";
import { weightOf, Work } from "./work.ts";

/** What JSON Schemas a target takes. */
export interface SchemaRules {
  /** Keywords that are taken, beside those that make up objects, lists and unions; null: every keyword, and compositions as they are. */
  readonly keywords: ReadonlySet<string> | null;
  /** Whether the value of a keyword that is taken is taken too; left out: any. */
  readonly takes?: (keyword: string, value: unknown) => boolean;
  /** `anyOf` is taken; else a union is given up for its only branch beside null, or for anything. */
  readonly unions: boolean;
  /** Every object must refuse properties that it does not name; `implied`: it does so unasked. */
  readonly closed: boolean | "implied";
  /** `all`: every property must be required; `some`: at least one must. */
  readonly required: "given" | "all" | "some";
  /** Whether `$ref` is taken: `acyclic` where it does not lead back to itself, `never` not at all. */
  readonly references: "always" | "acyclic" | "never";
  /** The whole must be an object and no union. */
  readonly objectRoot: boolean;
  /** Dropped constraints are told in the description, as the provider's own SDK does. */
  readonly described: boolean;
}

export interface FittedSchema {
  /** The very same object when it is taken as it is. */
  readonly schema: Json;
  /** JSON pointers into the original of what it no longer says; beyond `MOST_DROPPED` of them the whole stands for the rest. */
  readonly dropped: readonly string[];
  /** Nothing but constraints and annotations was dropped: every shape of a value is still there. */
  readonly shaped: boolean;
  /** How many properties are not required. */
  readonly optional: number;
}

/** How often one reference is followed within itself where it cannot stay a reference. */
const MAX_UNROLLED = 3;
/** Schemas within each other that are written: those of any body, and as many again below references. */
const MOST_LEVELS = 400;
/** Schemas within each other, below which definitions are written apart: a chain of references is as long as a client likes. */
const MOST_LEVELS_AT_ONCE = 100;
/** Pointers that are reported. */
const MOST_DROPPED = 1_000;
/** Branches of a `oneOf` that are compared with each other. */
const MAX_COMPARED = 50;

/** Characters of what a description says of one constraint. */
const MAX_NOTE = 200;

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

/**
 * A schema as the target takes it. Only three things make it stricter than it was: objects are closed and their
 * properties required where the rules demand it, and recursion ends where it cannot be told. What would be more work than
 * a few times looking at the schema is left out, and it is no longer `shaped`.
 * @param work of one schema; given by tests, to be read.
 */
export function fitSchema(schema: Json, rules: SchemaRules, work: Work = new Work(schema)): FittedSchema {
  const writer = new SchemaWriter(schema, rules, work);
  const fitted = writer.fit();
  const same = writer.dropped.size === 0 && isDeepStrictEqual(fitted, schema);
  return {
    schema: same ? schema : fitted,
    dropped: [...writer.dropped],
    shaped: writer.shaped,
    optional: writer.optional,
  };
}

/** What several schemas say together: a value must fit all of them. */
interface Conjunction {
  /** Each keyword but those below. */
  readonly fields: Map<string, Placed>;
  readonly properties: Map<string, Placed[]>;
  readonly required: Placed[];
  readonly items: Placed[];
  readonly unions: { readonly at: string; readonly branches: readonly Placed[] }[];
  /** The one reference, where the conjunction is nothing else but annotations. */
  reference: Placed | null;
}

type Said = Placed | Conjunction;

/** How often each reference was followed on the way to where the writer is. */
type Trail = ReadonlyMap<string, number>;

class SchemaWriter {
  readonly dropped = new Set<string>();
  shaped = true;
  optional = 0;
  readonly #root: Json;
  readonly #rules: SchemaRules;
  /** Definitions by the pointers they stand at. */
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, unknown>();
  /** Definitions that have a name and wait to be written. */
  readonly #waiting: { readonly name: string; readonly target: Placed }[] = [];
  readonly #work: Work;
  readonly #references: References;
  /** Branches of `oneOf` by what they name, for comparing. */
  readonly #comparable = new Comparables();
  #level = 0;

  constructor(root: Json, rules: SchemaRules, work: Work) {
    this.#root = root;
    this.#rules = rules;
    this.#work = work;
    this.#references = new References(root, work);
  }

  fit(): Json {
    const { keywords, objectRoot } = this.#rules;
    const written =
      keywords !== null ? this.#fitRoot() : this.#whole(objectRoot ? this.#withoutRootUnion(this.#root) : this.#root);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#writeDefinition(next);
    const definitions = [...this.#definitions].filter(([, value]) => value !== undefined);
    const root = isJson(written) ? written : {};
    return definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) };
  }

  #fitRoot(): Json {
    const { objectRoot } = this.#rules;
    const root = this.#write([{ value: this.#root, at: "" }], new Map(), true) ?? {};
    if (!objectRoot || root["type"] === "object") return root;
    this.#definitions.clear();
    this.#waiting.length = 0;
    // A union of objects is the nearest object with the properties of all; anything else cannot be told here.
    const union = ["anyOf", "oneOf"].find((keyword) => keyword in this.#root);
    this.#lose(union === undefined ? "" : `/${union}`);
    return { type: "object", ...this.#object(conjunction(), new Map()) };
  }

  /* Everything is taken, but only under the present names and with nothing beside a reference. */

  #whole(node: unknown): unknown {
    if (!isJson(node)) return node;
    const { $defs, definitions, ...rest } = node;
    const fields = Object.entries(rest).map(([keyword, value]): [string, unknown] => {
      if (keyword === "$ref" && typeof value === "string") return [keyword, value.replace(FORMER, PRESENT)];
      if (MAPS.has(keyword) && isJson(value)) return [keyword, this.#wholeMap(value)];
      if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map((one) => this.#whole(one))];
      return [keyword, SINGLES.has(keyword) ? this.#whole(value) : value];
    });
    const named = [definitions, $defs].filter(isJson).map((map) => this.#wholeMap(map));
    const all = named.length === 0 ? [] : [["$defs", Object.assign({}, ...named)] as const];
    const beside = fields.some(([keyword]) => !keyword.startsWith("$"));
    if (typeof node["$ref"] !== "string" || !beside) return Object.fromEntries([...fields, ...all]);
    const reference = fields.filter(([keyword]) => keyword === "$ref");
    const others = fields.filter(([keyword]) => keyword !== "$ref");
    const union = "anyOf" in rest ? "allOf" : "anyOf";
    return Object.fromEntries([...others, ...all, [union, [Object.fromEntries(reference)]]]);
  }

  #withoutRootUnion(root: Json): Json {
    const { schema, lost } = withoutRootUnion(root, (branch) => this.#resolved(branch), this.#work);
    for (const at of lost) this.#drop(at);
    return schema;
  }

  #wholeMap(schemas: Json): Json {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#whole(schema)]));
  }

  /* A part is taken. */

  /** What fits all of the schemas; null: it cannot be told, and must not be asked for. */
  #write(schemas: readonly Said[], trail: Trail, isRoot = false): Json | null {
    const isTooMuch = this.#level >= MOST_LEVELS || !this.#work.spend(1 + (trail.size >> 3));
    const followed = isTooMuch ? new Map<string, number>() : new Map(trail);
    const joined = isTooMuch ? null : this.#joined(schemas, followed, isRoot);
    if (joined === null) {
      this.shaped = false;
      return null;
    }
    this.#level += 1;
    const written = this.#written(joined, followed);
    this.#level -= 1;
    return written;
  }

  #written(joined: Conjunction, trail: Trail): Json | null {
    if (joined.reference !== null) return this.#reference(joined, joined.reference);
    return joined.unions.length > 0 ? this.#union(joined, trail) : this.#plain(joined, trail);
  }

  /**
   * The schemas and those that they refer to, keyword by keyword; null where a reference leads nowhere any more.
   * @param followed gets the references that were followed.
   */
  #joined(schemas: readonly Said[], followed: Map<string, number>, isRoot: boolean): Conjunction | null {
    const joined = conjunction();
    const open = [...schemas];
    const [first] = schemas;
    // A reference may stay one where nothing else is said.
    const alone =
      !isRoot && schemas.length === 1 && first !== undefined && "value" in first && isReference(first.value);
    // Not by `shift`, which moves all that is left of a long list.
    for (const said of open) {
      if (!("value" in said)) {
        this.#include(joined, said);
        continue;
      }
      const { value: schema, at } = said;
      if (schema === true) continue;
      if (!isJson(schema)) {
        this.#lose(at);
        return null;
      }
      for (const [keyword, value] of Object.entries(schema)) {
        // A sum of many schemas, whose parts are all of the same few kinds, stops here too.
        if (!this.#work.spend(costOf(keyword, value))) return null;
        const place = placeBelow(at, keyword);
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
          this.#lose(place);
          continue;
        }
        if (alone && this.#staysReference(target.at)) {
          joined.reference = target;
          continue;
        }
        const times = followed.get(target.at) ?? 0;
        if (times >= MAX_UNROLLED) {
          this.#lose(place);
          return null;
        }
        followed.set(target.at, times + 1);
        open.push(target);
      }
    }
    return joined;
  }

  #include(joined: Conjunction, { fields, properties, required, items, unions }: Conjunction): void {
    this.#work.spend(properties.size + required.length + items.length + unions.length);
    for (const [keyword, placed] of fields) {
      this.#work.spend(weightOf(placed.value));
      this.#field(joined, keyword, placed);
    }
    for (const [name, schemas] of properties) {
      this.#work.spend(schemas.length);
      joined.properties.set(name, [...(joined.properties.get(name) ?? []), ...schemas]);
    }
    for (const one of required) joined.required.push(one);
    for (const one of items) joined.items.push(one);
    for (const one of unions) joined.unions.push(one);
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
        for (const [name, schema] of isJson(value) ? Object.entries(value) : []) {
          const all = joined.properties.get(name) ?? [];
          all.push({ value: schema, at: placeBelow(at, name) });
          joined.properties.set(name, all);
        }
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
        if (keyword === "oneOf" && !this.#disjoint(branches)) this.#drop(at);
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
      this.#drop(other.at);
      return one;
    }
    if (isDeepStrictEqual(one.value, other.value)) return one;
    const narrower = NARROWER[keyword];
    if (narrower !== undefined && typeof one.value === "number" && typeof other.value === "number") {
      return { at: one.at, value: narrower(one.value, other.value) };
    }
    if (keyword === "type") {
      const types = sharedTypes(new Set(listOf(one.value)), new Set(listOf(other.value)));
      if (types.length > 0) return { at: one.at, value: types.length === 1 ? types[0] : types };
    }
    if (keyword === "enum") {
      const values = shared(listOf(one.value), listOf(other.value));
      if (values.length > 0) return { at: one.at, value: values };
    }
    if (keyword === "additionalProperties" && (one.value === false || other.value === false)) {
      return one.value === false ? one : other;
    }
    // The outer words are about this very place.
    this.#drop(other.at);
    return one;
  }

  #reference({ fields }: Conjunction, target: Placed): Json {
    const reference = { $ref: this.#define(target) };
    const said = this.#annotations(fields);
    return Object.keys(said).length === 0 ? reference : { ...said, anyOf: [reference] };
  }

  /** The reference to a definition, which is written once. */
  #define(target: Placed): string {
    const { at } = target;
    const known = this.#names.get(at);
    if (known !== undefined) return `${PRESENT}${escaped(known)}`;
    const wanted = unescaped(at.slice(at.lastIndexOf("/") + 1)) || "root";
    const name = this.#freeName(wanted);
    this.#names.set(at, name);
    this.#definitions.set(name, undefined);
    if (this.#level < MOST_LEVELS_AT_ONCE) this.#writeDefinition({ name, target });
    else this.#waiting.push({ name, target });
    return `${PRESENT}${escaped(name)}`;
  }

  /** Many that end in the same name are numbered on, not from the beginning each. */
  #freeName(wanted: string): string {
    let number = this.#numbered.get(wanted) ?? 1;
    let name = number === 1 ? wanted : `${wanted}_${number}`;
    for (; this.#definitions.has(name); name = `${wanted}_${number}`) number += 1;
    this.#numbered.set(wanted, number);
    return name;
  }

  readonly #numbered = new Map<string, number>();

  /** Not on anybody's way: it is the same from wherever it is referred to. */
  #writeDefinition({ name, target }: { readonly name: string; readonly target: Placed }): void {
    this.#definitions.set(name, this.#write([target], new Map([[target.at, 1]]), true) ?? {});
  }

  #annotations(fields: ReadonlyMap<string, Placed>): Json {
    const said: Record<string, unknown> = {};
    for (const [keyword, { value, at }] of fields) {
      if (SAYS_NOTHING.has(keyword)) continue;
      if (this.#takes(keyword, value)) said[keyword] = value;
      else this.#drop(at);
    }
    return said;
  }

  /** `anyOf`, whose branches say whatever is said beside it as well: closed objects cannot be told in two places. */
  #union(joined: Conjunction, trail: Trail): Json | null {
    const [union = { at: "", branches: [] }, ...unions] = joined.unions;
    const [annotations, fields] = parted(joined.fields);
    const shared: Conjunction = { ...joined, fields, unions };
    const { unions: taken } = this.#rules;
    const branches = taken ? union.branches : union.branches.filter(({ value }) => !isNull(value));
    if (!taken) this.#drop(union.at);
    if (!taken && branches.length !== 1) {
      this.shaped = false;
      return this.#plain({ ...joined, unions: [] }, trail);
    }
    const bare = fields.size + joined.properties.size + joined.required.length + joined.items.length === 0;
    const beside = bare && unions.length === 0 ? [] : [shared];
    const written = branches.flatMap((branch) => this.#write([branch, ...beside], trail) ?? []);
    const [only] = written;
    if (only === undefined) return null;
    const said = this.#annotations(annotations);
    return taken ? { ...said, anyOf: written } : { ...only, ...said };
  }

  #plain(joined: Conjunction, trail: Trail): Json {
    const { fields } = joined;
    const notes: string[] = [];
    const out: Record<string, unknown> = {};
    for (const [keyword, { value, at }] of fields) {
      if (SAYS_NOTHING.has(keyword) || STRUCTURE.has(keyword)) continue;
      if (this.#takes(keyword, value)) out[keyword] = value;
      else if (keyword === "const" && this.#takes("enum", [value])) out["enum"] = [value];
      else if (asksForSomething(keyword, value)) {
        this.#drop(at);
        notes.push(noteOf(keyword, value));
      }
    }
    const types = listOf(out["type"] ?? impliedType(joined));
    if (types.length > 0) out["type"] = types.length === 1 ? types[0] : types;
    else this.shaped = false;
    // Values that are named need no description of their parts.
    const named = "enum" in out || "const" in out;
    if (!named && types.includes("object")) Object.assign(out, this.#object(joined, trail));
    if (!named && types.includes("array")) Object.assign(out, this.#array(joined, trail));
    if (this.#rules.described && notes.length > 0) {
      const before = typeof out["description"] === "string" ? `${out["description"]}\n` : "";
      out["description"] = `${before}${notes.join("; ")}.`;
    }
    return out;
  }

  #object({ fields, properties, required }: Conjunction, trail: Trail): Json {
    const written = [...properties].flatMap(([name, schemas]) => {
      const schema = this.#write(schemas, trail);
      return schema === null ? [] : [[name, schema] as const];
    });
    const names = new Set(written.map(([name]) => name));
    const demanded = new Set<unknown>();
    for (const { value, at } of required) {
      if (typeof value === "string" && names.has(value)) demanded.add(value);
      else if (this.#rules.closed === true) this.#drop(at);
      else demanded.add(value);
    }
    const more = this.#additional(fields, names.size === 0 && !fields.has("properties"), trail);
    if (this.#rules.required === "some" && names.size === 0) this.shaped = false;
    const { required: rule } = this.#rules;
    const all = rule === "all" || (rule === "some" && demanded.size === 0) ? [...names] : [...demanded];
    const needed = new Set(all);
    for (const name of names) if (!needed.has(name)) this.optional += 1;
    return {
      ...(names.size > 0 || this.#rules.closed === true ? { properties: Object.fromEntries(written) } : {}),
      ...(all.length > 0 ? { required: all } : {}),
      ...more,
    };
  }

  /** What is said of properties that have no name. */
  #additional(fields: ReadonlyMap<string, Placed>, isBare: boolean, trail: Trail): Json {
    const { closed } = this.#rules;
    const patterns = fields.get("patternProperties");
    if (patterns !== undefined && isJson(patterns.value) && Object.keys(patterns.value).length > 0)
      this.#lose(patterns.at);
    const additional = fields.get("additionalProperties");
    if (closed === true) {
      if (additional !== undefined && additional.value !== false) this.#lose(additional.at);
      // Whatever it was to hold, it may now hold nothing.
      if (additional === undefined && isBare) this.shaped = false;
      return { additionalProperties: false };
    }
    if (additional === undefined) return {};
    if (!this.#takes("additionalProperties", additional.value)) {
      if (additional.value !== true && !(closed === "implied" && additional.value === false)) this.#drop(additional.at);
      if (isBare) this.shaped = false;
      return {};
    }
    if (!isJson(additional.value)) return { additionalProperties: additional.value };
    return { additionalProperties: this.#write([additional], trail) ?? true };
  }

  /** Tuples are lists of what their places hold, where nobody takes tuples. */
  #array({ fields, items }: Conjunction, trail: Trail): Json {
    const tuple = fields.get("prefixItems") ?? fields.get("items");
    const places = listOf(tuple?.value).map((value, index) => ({ value, at: placeBelow(tuple?.at ?? "", index) }));
    if (tuple !== undefined && this.#takes("prefixItems", tuple.value)) {
      const rest = items.length > 0 ? this.#write(items, trail) : null;
      return { prefixItems: places.map((place) => this.#write([place], trail) ?? {}), ...(rest && { items: rest }) };
    }
    if (tuple !== undefined) this.#drop(tuple.at);
    const additional = fields.get("additionalItems");
    if (additional !== undefined && tuple !== undefined && additional.value !== false) places.push(additional);
    const union = { ...conjunction(), unions: [{ at: tuple?.at ?? "", branches: [...places, ...items] }] };
    const written =
      places.length > 0 ? this.#write([union], trail) : items.length > 0 ? this.#write(items, trail) : null;
    if (written === null) this.shaped = false;
    return written === null ? {} : { items: written };
  }

  /** Whether no value fits two of the branches: then `oneOf` is `anyOf`. */
  #disjoint(branches: readonly Placed[]): boolean {
    if (branches.length > MAX_COMPARED) return false;
    const resolved = branches.map(({ value }) => this.#resolved(value));
    // Each is compared with each of those behind it.
    for (const one of resolved) if (!this.#work.spend(this.#comparable.weightOf(one))) return false;
    return resolved.every((one, index) =>
      resolved.slice(index + 1).every((other) => this.#comparable.areDisjoint(one, other)),
    );
  }

  #resolved(schema: unknown): Json {
    let found = schema;
    for (let n = 0; n < MAX_UNROLLED && isJson(found) && typeof found["$ref"] === "string"; n++) {
      found = this.#references.target(found["$ref"])?.value;
    }
    return isJson(found) ? found : {};
  }

  #takes(keyword: string, value: unknown): boolean {
    const { keywords, takes } = this.#rules;
    return keywords !== null && keywords.has(keyword) && (takes?.(keyword, value) ?? true);
  }

  #staysReference(at: string): boolean {
    const { references } = this.#rules;
    if (references === "never") return false;
    return references === "always" || !this.#references.isCyclic(at);
  }

  #drop(at: string): void {
    this.dropped.add(this.dropped.size < MOST_DROPPED ? at : "");
  }

  /** Drops what said which values there may be at all. */
  #lose(at: string): void {
    this.shaped = false;
    this.#drop(at);
  }
}

function conjunction(): Conjunction {
  return { fields: new Map(), properties: new Map(), required: [], items: [], unions: [], reference: null };
}

type Fields = Conjunction["fields"];

/** The annotations, and the others. */
function parted(fields: Fields): readonly [Fields, Fields] {
  const [said, others]: [Fields, Fields] = [new Map(), new Map()];
  for (const [keyword, placed] of fields) (ANNOTATIONS.has(keyword) ? said : others).set(keyword, placed);
  return [said, others];
}

const FORMER = "#/definitions/";
const PRESENT = "#/$defs/";
/** Written by themselves. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalItems",
  "additionalProperties",
  "patternProperties",
]);

function isReference(schema: unknown): boolean {
  return (
    isJson(schema) &&
    typeof schema["$ref"] === "string" &&
    Object.keys(schema).every((keyword) => keyword === "$ref" || ANNOTATIONS.has(keyword) || SAYS_NOTHING.has(keyword))
  );
}

function impliedType({ fields, properties, required, items }: Conjunction): readonly string[] {
  const values = [...listOf(fields.get("enum")?.value), ...(fields.has("const") ? [fields.get("const")?.value] : [])];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  if (properties.size > 0 || required.length > 0 || fields.has("additionalProperties")) return ["object"];
  return items.length > 0 || fields.has("items") || fields.has("prefixItems") ? ["array"] : [];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isNull(schema: unknown): boolean {
  return isJson(schema) && (schema["type"] === "null" || ("const" in schema && schema["const"] === null));
}

/** Constraints that hold for every value. */
function asksForSomething(keyword: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return !(keyword === "uniqueItems" && value === false);
}

/** `maxLength: 5` in words, of a value that is short enough to be read. */
function noteOf(keyword: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${keyword.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${text}`.slice(0, MAX_NOTE);
}
