import { isDeepStrictEqual } from "node:util";
import { isJson, type Json } from "../kit/index.ts";
import { escaped } from "./canonical/report.ts";

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
  /** JSON pointers into the original of what it no longer says. */
  readonly dropped: readonly string[];
  /** Nothing but constraints and annotations was dropped: every shape of a value is still there. */
  readonly shaped: boolean;
  /** How many properties are not required. */
  readonly optional: number;
}

/** How often one reference is followed within itself where it cannot stay a reference. */
const MAX_UNROLLED = 3;
/** Keywords and properties that are written where they did not stand, below references and beside unions; the rest is dropped. */
const MAX_REPEATED = 10_000;
/** Branches of a `oneOf` that are compared with each other. */
const MAX_COMPARED = 50;

/** Characters of what a description says of one constraint. */
const MAX_NOTE = 200;

/** Keywords whose values are schemas by name, lists of schemas, and single schemas. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
const LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"]);
const SINGLES: ReadonlySet<string> = new Set(
  (
    "items additionalItems additionalProperties contains contentSchema else if not propertyNames then " +
    "unevaluatedItems unevaluatedProperties"
  ).split(" "),
);
/** They say nothing about values; `discriminator` is OpenAPI's hint about a union. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(
  "$schema $id $anchor $comment $vocabulary discriminator readOnly writeOnly deprecated".split(" "),
);
const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);
/** What several schemas of objects are joined by. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["type", "properties", "required", ...ANNOTATIONS]);
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
 * properties required where the rules demand it, and recursion ends where it cannot be told.
 * @throws RangeError for one that is nested deeper than the call stack.
 */
export function fitSchema(schema: Json, rules: SchemaRules): FittedSchema {
  const writer = new SchemaWriter(schema, rules);
  const fitted = writer.fit();
  const same = writer.dropped.size === 0 && isDeepStrictEqual(fitted, schema);
  return {
    schema: same ? schema : fitted,
    dropped: [...writer.dropped],
    shaped: writer.shaped,
    optional: writer.optional,
  };
}

/** A value and where it stands in the original. */
interface Placed {
  readonly value: unknown;
  readonly at: string;
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
  #repeated = 0;

  constructor(root: Json, rules: SchemaRules) {
    this.#root = root;
    this.#rules = rules;
  }

  fit(): Json {
    const { keywords, objectRoot } = this.#rules;
    const written =
      keywords !== null ? this.#fitRoot() : this.#whole(objectRoot ? this.#withoutRootUnion(this.#root) : this.#root);
    const definitions = [...this.#definitions].filter(([, value]) => value !== undefined);
    const root = isJson(written) ? written : {};
    return definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) };
  }

  #fitRoot(): Json {
    const { objectRoot } = this.#rules;
    const root = this.#write([{ value: this.#root, at: "" }], new Map(), true) ?? {};
    if (!objectRoot || root["type"] === "object") return root;
    this.#definitions.clear();
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

  /** An object with the properties of every branch, of which those are required that are in all. */
  #withoutRootUnion(root: Json): Json {
    const { anyOf, oneOf, allOf, ...rest } = root;
    const unions = Object.entries({ anyOf, oneOf, allOf }).filter(([, branches]) => Array.isArray(branches));
    const properties = new Map<string, unknown>(isJson(rest["properties"]) ? Object.entries(rest["properties"]) : []);
    let required = new Set(listOf(rest["required"]));
    for (const [keyword, list] of unions) {
      const branches = listOf(list).map((branch) => this.#resolved(branch));
      for (const branch of branches) {
        for (const [name, schema] of isJson(branch["properties"]) ? Object.entries(branch["properties"]) : []) {
          const known = properties.get(name);
          const same = known === undefined || isDeepStrictEqual(known, schema);
          const both = keyword === "allOf" ? { allOf: [known, schema] } : { anyOf: [...unionOf(known), schema] };
          properties.set(name, same ? schema : both);
        }
      }
      const demands = branches.map((branch) => new Set(listOf(branch["required"])));
      const [first = new Set<unknown>(), ...others] = demands;
      const combined = others.reduce(
        (one, other) => (keyword === "allOf" ? one.union(other) : one.intersection(other)),
        first,
      );
      required = required.union(combined);
      const exact =
        keyword === "allOf" && branches.every((branch) => Object.keys(branch).every((key) => OF_OBJECTS.has(key)));
      if (!exact) this.#drop(`/${keyword}`);
    }
    if (unions.length === 0) return root;
    return {
      type: "object",
      ...rest,
      properties: Object.fromEntries(properties),
      ...(required.size > 0 ? { required: [...required] } : {}),
    };
  }

  #wholeMap(schemas: Json): Json {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#whole(schema)]));
  }

  /* A part is taken. */

  /** What fits all of the schemas; null: it cannot be told, and must not be asked for. */
  #write(schemas: readonly Said[], trail: Trail, isRoot = false): Json | null {
    const followed = new Map(trail);
    const joined = this.#repeated > MAX_REPEATED ? null : this.#joined(schemas, followed, isRoot);
    if (joined === null) {
      this.shaped = false;
      return null;
    }
    if (joined.reference !== null) return this.#reference(joined, joined.reference);
    return joined.unions.length > 0 ? this.#union(joined, followed) : this.#plain(joined, followed);
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
    for (let said = open.shift(); said !== undefined; said = open.shift()) {
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
      if (followed.size > 0) this.#repeated += Object.keys(schema).length;
      for (const [keyword, value] of Object.entries(schema)) {
        const place = `${at}/${escaped(keyword)}`;
        if (keyword === "allOf" && Array.isArray(value)) {
          open.push(...value.map((one: unknown, index) => ({ value: one, at: `${place}/${index}` })));
          continue;
        }
        if (keyword !== "$ref") {
          this.#add(joined, keyword, { value, at: place });
          continue;
        }
        const target = this.#target(value);
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
    this.#repeated += fields.size + properties.size + required.length + unions.length;
    for (const [keyword, placed] of fields) this.#field(joined, keyword, placed);
    for (const [name, schemas] of properties) {
      joined.properties.set(name, [...(joined.properties.get(name) ?? []), ...schemas]);
    }
    joined.required.push(...required);
    joined.items.push(...items);
    joined.unions.push(...unions);
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
          all.push({ value: schema, at: `${at}/${escaped(name)}` });
          joined.properties.set(name, all);
        }
        return;
      case "required":
        for (const [index, name] of listOf(value).entries())
          joined.required.push({ value: name, at: `${at}/${index}` });
        return;
      case "items":
        if (!Array.isArray(value)) {
          joined.items.push(placed);
          return;
        }
        break;
      case "anyOf":
      case "oneOf": {
        const branches = listOf(value).map((one, index) => ({ value: one, at: `${at}/${index}` }));
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
    if (isDeepStrictEqual(one.value, other.value)) return one;
    const narrower = NARROWER[keyword];
    if (narrower !== undefined && typeof one.value === "number" && typeof other.value === "number") {
      return { at: one.at, value: narrower(one.value, other.value) };
    }
    if (keyword === "type") {
      const types = sharedTypes(one.value, other.value);
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
  #define({ value, at }: Placed): string {
    const known = this.#names.get(at);
    if (known !== undefined) return `${PRESENT}${escaped(known)}`;
    const wanted = unescaped(at.slice(at.lastIndexOf("/") + 1)) || "root";
    let name = wanted;
    for (let n = 2; this.#definitions.has(name); n++) name = `${wanted}_${n}`;
    this.#names.set(at, name);
    this.#definitions.set(name, undefined);
    // Not on anybody's way: it is the same from wherever it is referred to.
    this.#definitions.set(name, this.#write([{ value, at }], new Map([[at, 1]]), true) ?? {});
    return `${PRESENT}${escaped(name)}`;
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
    this.optional += [...names].filter((name) => !all.includes(name)).length;
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
    const places = listOf(tuple?.value).map((value, index) => ({ value, at: `${tuple?.at}/${index}` }));
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
    return resolved.every((one, index) => resolved.slice(index + 1).every((other) => areDisjoint(one, other)));
  }

  #resolved(schema: unknown): Json {
    let found = schema;
    for (let n = 0; n < MAX_UNROLLED && isJson(found) && typeof found["$ref"] === "string"; n++) {
      found = this.#target(found["$ref"])?.value;
    }
    return isJson(found) ? found : {};
  }

  #takes(keyword: string, value: unknown): boolean {
    const { keywords, takes } = this.#rules;
    return keywords !== null && keywords.has(keyword) && (takes?.(keyword, value) ?? true);
  }

  /** What a reference into the schema itself points at. */
  #target(reference: unknown): Placed | null {
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

  #staysReference(at: string): boolean {
    const { references } = this.#rules;
    if (references === "never") return false;
    return references === "always" || !this.#isCyclic(at);
  }

  readonly #cyclic = new Map<string, boolean>();

  /** Whether a schema refers to itself, however far around. */
  #isCyclic(at: string): boolean {
    const known = this.#cyclic.get(at);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const open = [at];
    let cyclic = false;
    for (let next = open.pop(); next !== undefined && !cyclic; next = open.pop()) {
      for (const reference of references(this.#pointedAt(next)?.value)) {
        const place = this.#target(reference)?.at;
        if (place === at) cyclic = true;
        if (place === undefined || seen.has(place)) continue;
        seen.add(place);
        open.push(place);
      }
    }
    this.#cyclic.set(at, cyclic);
    return cyclic;
  }

  #drop(at: string): void {
    this.dropped.add(at);
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

/** The references of a schema; data that looks like one is none. */
function references(schema: unknown): string[] {
  if (!isJson(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === "$ref") return typeof value === "string" ? [value] : [];
    if (keyword === "$defs" || keyword === "definitions") return [];
    if (MAPS.has(keyword) && isJson(value)) return Object.values(value).flatMap(references);
    if (LISTS.has(keyword) && Array.isArray(value)) return value.flatMap(references);
    return SINGLES.has(keyword) ? references(value) : [];
  });
}

function impliedType({ fields, properties, required, items }: Conjunction): readonly string[] {
  const values = [...listOf(fields.get("enum")?.value), ...(fields.has("const") ? [fields.get("const")?.value] : [])];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  if (properties.size > 0 || required.length > 0 || fields.has("additionalProperties")) return ["object"];
  return items.length > 0 || fields.has("items") || fields.has("prefixItems") ? ["array"] : [];
}

/** The branches of what is a union of this making already. */
function unionOf(schema: unknown): readonly unknown[] {
  return isJson(schema) && Object.keys(schema).length === 1 && Array.isArray(schema["anyOf"])
    ? schema["anyOf"]
    : [schema];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function areDisjoint(one: Json, other: Json): boolean {
  if (
    one["type"] !== undefined &&
    other["type"] !== undefined &&
    sharedTypes(one["type"], other["type"]).length === 0
  ) {
    return true;
  }
  const [values, others] = [valuesOf(one), valuesOf(other)];
  if (values !== null && others !== null) return shared(values, others).length === 0;
  const [properties, own] = [one["properties"], other["properties"]];
  if (!isJson(properties) || !isJson(own) || one["type"] !== "object" || other["type"] !== "object") return false;
  const required = new Set(listOf(one["required"])).intersection(new Set(listOf(other["required"])));
  return [...required].some((name) => {
    const [mine, theirs] = [valuesOf(properties[String(name)]), valuesOf(own[String(name)])];
    return mine !== null && theirs !== null && shared(mine, theirs).length === 0;
  });
}

/** The values of `enum` or `const`; null: it names none. */
function valuesOf(schema: unknown): readonly unknown[] | null {
  if (!isJson(schema)) return null;
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : null;
}

/** The values that are in both lists. */
function shared(some: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others.map((value) => JSON.stringify(value)));
  return some.filter((value) => known.has(JSON.stringify(value)));
}

/** An integer is a number. */
function sharedTypes(one: unknown, other: unknown): readonly unknown[] {
  const [types, others] = [listOf(one), listOf(other)];
  const shared = types.filter((type) => others.includes(type) || (type === "integer" && others.includes("number")));
  return [
    ...shared,
    ...(types.includes("number") && !shared.includes("number") && !types.includes("integer")
      ? others.filter((type) => type === "integer")
      : []),
  ];
}

function isNull(schema: unknown): boolean {
  return isJson(schema) && (schema["type"] === "null" || ("const" in schema && schema["const"] === null));
}

/** Constraints that hold for every value. */
function asksForSomething(keyword: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return !(keyword === "uniqueItems" && value === false);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function unescaped(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** `maxLength: 5` in words, of a value that is short enough to be read. */
function noteOf(keyword: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${keyword.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${text}`.slice(0, MAX_NOTE);
}
