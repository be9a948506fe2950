import { escapeSegment, isJson, type Json } from "../../kit/index.ts";
import { conjunction, type Conjunction, Joiner, Losses, type Part, type Trail } from "./conjunction.ts";
import {
  ANNOTATIONS,
  isSame,
  listOf,
  type Placed,
  placeBelow,
  References,
  IGNORED_KEYWORDS,
  unescaped,
} from "./json-schema.ts";
import type { SchemaRules } from "./rules.ts";
import { DEFINITIONS, fitUnrestricted } from "./unrestricted.ts";
import type { Work } from "./work.ts";

export interface FittedSchema {
  /** The very same object when it is taken as it is. */
  readonly schema: Json;
  /** JSON pointers into the original of what it no longer says; beyond a number of them the root's stands for all others. */
  readonly dropped: readonly string[];
  /** Nothing but constraints and annotations was dropped: every shape of a value is still there. */
  readonly shaped: boolean;
  /** How many properties are not required. */
  readonly optional: number;
}

/**
 * A schema as the target takes it. Only three things make it stricter than it was: objects are closed and their
 * properties required where the rules demand it, and recursion ends where it cannot be written. What would be more work than
 * a few times looking at the schema is left out, and it is no longer `shaped`.
 * @param work of all schemas of the request.
 */
export function fitSchema(schema: Json, rules: SchemaRules, work: Work): FittedSchema {
  work.begin(schema);
  if (rules.keywords === null) return { ...fitUnrestricted(schema, rules, work), shaped: true, optional: 0 };
  const losses = new Losses();
  const writer = new SchemaWriter(schema, rules, work, losses);
  const fitted = writer.fit();
  const same = losses.dropped.size === 0 && isSame(fitted, schema);
  return {
    schema: same ? schema : fitted,
    dropped: [...losses.dropped],
    shaped: losses.shaped,
    optional: writer.optional,
  };
}

/** Schemas within each other that are written: those of any body, and as many again below references. */
const MAX_LEVELS = 400;
/** Schemas within each other, below which definitions are written apart: a chain of references is as long as a client likes. */
const MAX_UNBROKEN_LEVELS = 100;
/** Characters of what a description says of one constraint. */
const MAX_NOTE_CHARACTERS = 200;
const NO_TRAIL: Trail = new Map();

class SchemaWriter {
  optional = 0;
  readonly #root: Json;
  readonly #rules: SchemaRules;
  readonly #work: Work;
  readonly #losses: Losses;
  readonly #joiner: Joiner;
  /** Definitions by the pointers they stand at. */
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, unknown>();
  /** Definitions that have a name and wait to be written. */
  #waiting: { readonly name: string; readonly target: Placed }[] = [];
  /** How often a name was given already. */
  readonly #numbered = new Map<string, number>();
  #level = 0;

  constructor(root: Json, rules: SchemaRules, work: Work, losses: Losses) {
    this.#root = root;
    this.#rules = rules;
    this.#work = work;
    this.#losses = losses;
    const references = new References(root, work);
    const staysReference = (target: Placed): boolean => {
      if (rules.references === "never") return false;
      return rules.references === "always" || !references.isCyclic(target);
    };
    this.#joiner = new Joiner({ references, work, losses, staysReference });
  }

  fit(): Json {
    const root = this.#fitRoot();
    // Others join the list while it is gone through.
    for (const next of this.#waiting) this.#writeDefinition(next);
    const definitions = [...this.#definitions].filter(([, value]) => value !== undefined);
    return definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) };
  }

  #fitRoot(): Json {
    const { objectRoot } = this.#rules;
    const root = this.#write([{ value: this.#root, at: "" }], NO_TRAIL, true) ?? {};
    if (!objectRoot || root["type"] === "object") return root;
    this.#definitions.clear();
    this.#waiting = [];
    // A union of objects is the nearest object with the properties of all; anything else cannot be written here.
    const union = ["anyOf", "oneOf"].find((keyword) => keyword in this.#root);
    this.#losses.lose(union === undefined ? "" : `/${union}`);
    return { type: "object", ...this.#object(conjunction(), NO_TRAIL) };
  }

  /** What fits all of the schemas; null: it cannot be written, and must not be asked for. */
  #write(schemas: readonly Part[], trail: Trail, isRoot = false): Json | null {
    const isTooMuch = this.#level >= MAX_LEVELS || !this.#work.spend(1);
    const found = isTooMuch ? null : this.#joiner.join(schemas, trail, isRoot);
    if (found === null) {
      this.#losses.shaped = false;
      return null;
    }
    const { joined, trail: followed } = found;
    this.#level += 1;
    const written =
      joined.reference !== null
        ? this.#reference(joined, joined.reference)
        : joined.unions.length > 0
          ? this.#union(joined, followed)
          : this.#plain(joined, followed);
    this.#level -= 1;
    return written;
  }

  #reference({ fields }: Conjunction, target: Placed): Json {
    const reference = { $ref: this.#define(target) };
    const annotations = this.#annotations(fields);
    return annotations === null ? reference : { ...annotations, anyOf: [reference] };
  }

  /** The reference to a definition, which is written once. */
  #define(target: Placed): string {
    const { at } = target;
    const known = this.#names.get(at);
    if (known !== undefined) return `${DEFINITIONS}${escapeSegment(known)}`;
    const name = this.#freeName(unescaped(at.slice(at.lastIndexOf("/") + 1)) || "root");
    this.#names.set(at, name);
    this.#definitions.set(name, undefined);
    if (this.#level < MAX_UNBROKEN_LEVELS) this.#writeDefinition({ name, target });
    else this.#waiting.push({ name, target });
    return `${DEFINITIONS}${escapeSegment(name)}`;
  }

  /** Many that end in the same name are numbered on, not from the beginning each. */
  #freeName(stem: string): string {
    let number = this.#numbered.get(stem) ?? 1;
    let name = number === 1 ? stem : `${stem}_${number}`;
    for (; this.#definitions.has(name); name = `${stem}_${number}`) number += 1;
    this.#numbered.set(stem, number);
    return name;
  }

  /** Not on anybody's way: it is the same from wherever it is referred to. */
  #writeDefinition({ name, target }: { readonly name: string; readonly target: Placed }): void {
    this.#definitions.set(name, this.#write([target], new Map([[target.at, 1]]), true) ?? {});
  }

  /** null: there are none that are taken. */
  #annotations(fields: ReadonlyMap<string, Placed>): Json | null {
    let taken: Record<string, unknown> | null = null;
    for (const [keyword, { value, at }] of fields) {
      if (IGNORED_KEYWORDS.has(keyword)) continue;
      if (this.#takes(keyword, value)) (taken ??= {})[keyword] = value;
      else this.#losses.drop(at);
    }
    return taken;
  }

  /** `anyOf`, whose branches say whatever is said beside it as well: closed objects cannot be described in two places. */
  #union(joined: Conjunction, trail: Trail): Json | null {
    const [union = { at: "", branches: [] }, ...unions] = joined.unions;
    const [annotations, fields] = parted(joined.fields);
    const { unions: taken } = this.#rules;
    const branches = taken ? union.branches : union.branches.filter(({ value }) => !isNull(value));
    if (!taken) this.#losses.drop(union.at);
    if (!taken && branches.length !== 1) {
      this.#losses.shaped = false;
      return this.#plain({ ...joined, unions: [] }, trail);
    }
    const isBare = fields.size + joined.required.length + joined.items.length === 0 && joined.properties === null;
    const siblings = isBare && unions.length === 0 ? [] : [{ ...joined, fields, unions }];
    const written: Json[] = [];
    for (const branch of branches) {
      const one = this.#write([branch, ...siblings], trail);
      if (one !== null) written.push(one);
    }
    const [only] = written;
    if (only === undefined) return null;
    const notes = this.#annotations(annotations);
    return taken ? { ...notes, anyOf: written } : { ...only, ...notes };
  }

  #plain(joined: Conjunction, trail: Trail): Json {
    const notes: string[] = [];
    const out: Record<string, unknown> = {};
    for (const [keyword, { value, at }] of joined.fields) {
      if (IGNORED_KEYWORDS.has(keyword) || STRUCTURE.has(keyword)) continue;
      if (this.#takes(keyword, value)) out[keyword] = value;
      else if (keyword === "const" && this.#takes("enum", [value])) out["enum"] = [value];
      else if (asksForSomething(keyword, value)) {
        this.#losses.drop(at);
        if (this.#rules.described) notes.push(noteOf(keyword, value));
      }
    }
    const types = listOf(out["type"] ?? impliedType(joined));
    if (types.length > 0) out["type"] = types.length === 1 ? types[0] : types;
    else this.#losses.shaped = false;
    // Values that are named need no description of their parts.
    const named = "enum" in out || "const" in out;
    if (!named && types.includes("object")) Object.assign(out, this.#object(joined, trail));
    if (!named && types.includes("array")) Object.assign(out, this.#array(joined, trail));
    if (notes.length > 0) {
      const before = typeof out["description"] === "string" ? `${out["description"]}\n` : "";
      out["description"] = `${before}${notes.join("; ")}.`;
    }
    return out;
  }

  #object({ fields, properties, required }: Conjunction, trail: Trail): Json {
    const { closed, required: rule } = this.#rules;
    const written: [string, Json][] = [];
    for (const [name, schemas] of properties ?? []) {
      const schema = this.#write(schemas, trail);
      if (schema !== null) written.push([name, schema]);
    }
    const all = Object.fromEntries(written);
    const demanded = new Set<unknown>();
    for (const { value, at } of required) {
      if (typeof value === "string" && Object.hasOwn(all, value)) demanded.add(value);
      else if (closed === true) this.#losses.drop(at);
      else demanded.add(value);
    }
    const more = this.#additional(fields, written.length === 0 && !fields.has("properties"), trail);
    if (rule === "some" && written.length === 0) this.#losses.shaped = false;
    const isAll = rule === "all" || (rule === "some" && demanded.size === 0);
    if (!isAll) for (const [name] of written) if (!demanded.has(name)) this.optional += 1;
    const needed = isAll ? written.map(([name]) => name) : [...demanded];
    return {
      ...((written.length > 0 || closed === true) && { properties: all }),
      ...(needed.length > 0 && { required: needed }),
      ...more,
    };
  }

  /** What is said of properties that have no name. */
  #additional(fields: ReadonlyMap<string, Placed>, isBare: boolean, trail: Trail): Json {
    const { closed } = this.#rules;
    const patterns = fields.get("patternProperties");
    if (patterns !== undefined && isJson(patterns.value) && Object.keys(patterns.value).length > 0)
      this.#losses.lose(patterns.at);
    const additional = fields.get("additionalProperties");
    if (closed === true) {
      if (additional !== undefined && additional.value !== false) this.#losses.lose(additional.at);
      // Whatever it was to hold, it may now hold nothing.
      if (additional === undefined && isBare) this.#losses.shaped = false;
      return { additionalProperties: false };
    }
    if (additional === undefined) return {};
    if (!this.#takes("additionalProperties", additional.value)) {
      if (additional.value !== true && !(closed === "implied" && additional.value === false))
        this.#losses.drop(additional.at);
      if (isBare) this.#losses.shaped = false;
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
      const others = items.length > 0 ? this.#write(items, trail) : null;
      return {
        prefixItems: places.map((place) => this.#write([place], trail) ?? {}),
        ...(others && { items: others }),
      };
    }
    if (tuple !== undefined) this.#losses.drop(tuple.at);
    const additional = fields.get("additionalItems");
    if (additional !== undefined && tuple !== undefined && additional.value !== false) places.push(additional);
    const union = { ...conjunction(), unions: [{ at: tuple?.at ?? "", branches: [...places, ...items] }] };
    const written =
      places.length > 0 ? this.#write([union], trail) : items.length > 0 ? this.#write(items, trail) : null;
    if (written === null) this.#losses.shaped = false;
    return written === null ? {} : { items: written };
  }

  #takes(keyword: string, value: unknown): boolean {
    const { keywords, takes } = this.#rules;
    return keywords !== null && keywords.has(keyword) && (takes?.(keyword, value) ?? true);
  }
}

type Fields = Conjunction["fields"];

/** The annotations, and the others. */
function parted(fields: Fields): readonly [Fields, Fields] {
  const [annotations, others]: [Fields, Fields] = [new Map(), new Map()];
  for (const [keyword, placed] of fields) (ANNOTATIONS.has(keyword) ? annotations : others).set(keyword, placed);
  return [annotations, others];
}

/** Written by themselves. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalItems",
  "additionalProperties",
  "patternProperties",
]);

function impliedType({ fields, properties, required, items }: Conjunction): readonly string[] {
  const values = [...listOf(fields.get("enum")?.value), ...(fields.has("const") ? [fields.get("const")?.value] : [])];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  if (properties !== null || required.length > 0 || fields.has("additionalProperties")) return ["object"];
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
  return `${keyword.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${text}`.slice(
    0,
    MAX_NOTE_CHARACTERS,
  );
}
