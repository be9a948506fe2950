import { escapeSegment, isJson, type Json } from "../../kit/index.ts";
import { ANNOTATIONS, comparable, isReference, LISTS, listOf, MAPS, References, SINGLES } from "./json-schema.ts";
import type { SchemaRules } from "./rules.ts";
import { weightOf, type Work } from "./work.ts";

/*
 * Schemas for targets that take every keyword, and refuse only how one is written, or what is at its root.
 */

export const FORMER_DEFINITIONS = "#/definitions/";
export const DEFINITIONS = "#/$defs/";

/** A schema in a form that is taken, and JSON pointers into the original of what it no longer says. */
interface Formed {
  readonly schema: Json;
  readonly dropped: readonly string[];
}

/** The very same schema where it is taken as it is. */
export function fitUnrestricted(
  schema: Json,
  { objectRoot, rootNames, rootWithout = [], listItems }: SchemaRules,
  work: Work,
): Formed {
  const { schema: root, dropped } = objectRoot ? objectOnly(schema, rootWithout, work) : { schema, dropped: [] };
  const named = rootNames === undefined ? { schema: root, dropped: [] } : withRootNames(root, rootNames);
  const form = new PresentForm(listItems === true).of(named.schema) as Json;
  return { schema: form, dropped: [...dropped, ...named.dropped] };
}

/** The properties of the whole that have a name which is taken. */
function withRootNames(root: Json, names: RegExp): Formed {
  const { properties, required } = root;
  const refused = isJson(properties) ? Object.keys(properties).filter((name) => !names.test(name)) : [];
  if (refused.length === 0) return { schema: root, dropped: [] };
  const isTaken = (name: unknown): boolean => !refused.includes(String(name));
  const schema = {
    ...root,
    properties: Object.fromEntries(Object.entries(properties as Json).filter(([name]) => isTaken(name))),
    ...(Array.isArray(required) && { required: required.filter(isTaken) }),
  };
  return { schema, dropped: refused.map((name) => `/properties/${escapeSegment(name)}`) };
}

/** The schema under the present names, with nothing beside a reference and, where it is demanded, with items of every list. */
class PresentForm {
  /** A schema stands in many places of an object that branches within each other were brought together to. */
  readonly #known = new Map<Json, Json>();
  readonly #listItems: boolean;

  constructor(listItems: boolean) {
    this.#listItems = listItems;
  }

  of(node: unknown): unknown {
    if (!isJson(node)) return node;
    let made = this.#known.get(node);
    if (made === undefined) {
      made = this.#made(node);
      this.#known.set(node, made);
    }
    return made;
  }

  #made(node: Json): Json {
    const { $ref: reference } = node;
    const former = "definitions" in node || (typeof reference === "string" && reference.startsWith(FORMER_DEFINITIONS));
    const apart = typeof reference === "string" && hasSiblings(node);
    let changed: Record<string, unknown> | null = null;
    for (const keyword in node) {
      const value = node[keyword];
      if (typeof value !== "object") continue;
      const present = this.#value(keyword, value);
      if (present === value) continue;
      changed ??= { ...node };
      changed[keyword] = present;
    }
    const form = former || apart ? rewritten(changed ?? node) : (changed ?? node);
    return this.#listItems ? withItems(form) : form;
  }

  #value(keyword: string, value: unknown): unknown {
    if (MAPS.has(keyword) && isJson(value)) return this.#map(value);
    if (LISTS.has(keyword) && Array.isArray(value)) {
      const list = value.map((one) => this.of(one));
      return list.some((one, index) => one !== value[index]) ? list : value;
    }
    return SINGLES.has(keyword) ? this.of(value) : value;
  }

  #map(schemas: Json): Json {
    const entries: [string, unknown][] = [];
    let changed = false;
    for (const name in schemas) {
      const present = this.of(schemas[name]);
      changed ||= present !== schemas[name];
      entries.push([name, present]);
    }
    return changed ? Object.fromEntries(entries) : schemas;
  }
}

/** A list that does not say what it holds may hold anything; a tuple is written in the present way. */
function withItems(node: Json): Json {
  const { items, additionalItems, ...rest } = node;
  if (Array.isArray(items))
    return { ...rest, prefixItems: items, items: isJson(additionalItems) ? additionalItems : {} };
  const isList = listOf(node["type"]).includes("array");
  return isList && items === undefined ? { ...node, items: {} } : node;
}

/** Whether anything is said beside a reference. */
function hasSiblings(node: Json): boolean {
  for (const keyword in node) if (!keyword.startsWith("$") && keyword !== "definitions") return true;
  return false;
}

/** A schema whose parts have their present form already. */
function rewritten({ $defs, definitions, ...rest }: Json): Json {
  const { $ref: reference, ...others } = rest;
  const named = isJson(definitions) || isJson($defs);
  const all = named ? { $defs: { ...(isJson(definitions) && definitions), ...(isJson($defs) && $defs) } } : {};
  if (typeof reference !== "string") return { ...rest, ...all };
  const $ref = reference.replace(FORMER_DEFINITIONS, DEFINITIONS);
  if (!hasSiblings(others)) return { ...rest, $ref, ...all };
  return "anyOf" in rest
    ? { ...others, ...all, allOf: [...listOf(rest["allOf"]), { $ref }] }
    : { ...others, ...all, anyOf: [{ $ref }] };
}

/** What several schemas of objects are joined by. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["type", "properties", "required", ...ANNOTATIONS]);

/** The root as an object without a union and without what is refused there. One that is something else stays what it is. */
function objectOnly(root: Json, refused: readonly string[], work: Work): Formed {
  const { schema, dropped } = withoutRootUnion(root, work);
  const beside = refused.filter((keyword) => schema[keyword] !== undefined);
  const { type } = schema;
  const isPlain = type !== undefined && !(Array.isArray(type) && type.includes("object"));
  if (beside.length === 0 && isPlain) return { schema, dropped };
  const kept = Object.entries(schema).filter(([keyword]) => !beside.includes(keyword));
  const object = { properties: {}, ...Object.fromEntries(kept), type: isPlain ? type : "object" };
  return { schema: object, dropped: [...dropped, ...beside.map((keyword) => `/${keyword}`)] };
}

/**
 * An object with the properties of every branch, of which those are required that are in all. What is dropped are the unions
 * that say more than the object does.
 */
function withoutRootUnion(root: Json, work: Work): Formed {
  const { anyOf, oneOf, allOf, ...rest } = root;
  const unions = Object.entries({ anyOf, oneOf, allOf }).filter(([, branches]) => Array.isArray(branches));
  if (unions.length === 0) return { schema: root, dropped: [] };
  const references = new References(root, work);
  const resolved = (branch: unknown): Json | null => references.resolved(branch);
  const properties = new Map<string, unknown>(isJson(rest["properties"]) ? Object.entries(rest["properties"]) : []);
  const required = new Set(listOf(rest["required"]));
  const dropped: string[] = [];
  for (const [keyword, list] of unions) {
    // Once each: many references to one large schema are no larger than it.
    const branches = [...new Set(listOf(list).map((branch) => resolved(branch) ?? {}))];
    for (const [name, schemas] of propertiesOf(branches, work)) {
      properties.set(name, joined(keyword, properties.get(name), schemas));
    }
    for (const name of keyword === "allOf" ? demandedByAny(branches) : demandedByAll(branches)) required.add(name);
    const exact = keyword === "allOf" && listOf(list).every((branch) => isOfObjects(branch, resolved(branch)));
    // What else there may be is said of names that the root does not know, and now it knows those of the branches.
    if (!exact || (rest["additionalProperties"] ?? true) !== true || work.over) dropped.push(`/${keyword}`);
  }
  const schema = {
    type: "object",
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
  return { schema, dropped };
}

/** Whether a branch says nothing but which properties an object has. */
function isOfObjects(branch: unknown, resolved: Json | null): boolean {
  if (resolved === null || (resolved !== branch && !isReference(branch))) return false;
  if ((resolved["type"] ?? "object") !== "object") return false;
  for (const keyword in resolved) if (!OF_OBJECTS.has(keyword)) return false;
  return true;
}

/** By name, what the branches say of each property, as far as work goes: branches within each other repeat themselves. */
function propertiesOf(branches: readonly Json[], work: Work): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of branches) {
    if (!isJson(properties)) continue;
    for (const name in properties) {
      const schema = properties[name];
      // Twice: it is compared with its namesakes, and gone through again in the object that it becomes a part of.
      if (!work.spend(2 * weightOf(schema))) return found;
      const schemas = found.get(name);
      if (schemas === undefined) found.set(name, [schema]);
      else schemas.push(schema);
    }
  }
  return found;
}

/** What is said of one property all together; one list, for pairs within pairs would be nested as deep as they are many. */
function joined(keyword: string, known: unknown, schemas: readonly unknown[]): unknown {
  const word = keyword === "allOf" ? "allOf" : "anyOf";
  const before = known === undefined ? [] : word === "anyOf" ? branchesOf(known) : [known];
  const distinct = distinctOf([...before, ...schemas]);
  return distinct.length === 1 ? distinct[0] : { [word]: distinct };
}

/** Only what weighs the same is compared: schemas within each other are many times what they are together. */
function distinctOf(schemas: readonly unknown[]): readonly unknown[] {
  if (schemas.length === 1) return schemas;
  const first = new Set<unknown>();
  for (const alike of Map.groupBy(schemas, weightOf).values()) {
    const known = new Set<unknown>();
    for (const schema of alike) {
      const text = alike.length === 1 ? null : comparable(schema);
      if (!known.has(text)) first.add(schema);
      known.add(text);
    }
  }
  return schemas.filter((schema) => first.delete(schema));
}

/** The branches of what is a union of this making already. */
function branchesOf(schema: unknown): readonly unknown[] {
  return isJson(schema) && Object.keys(schema).length === 1 && Array.isArray(schema["anyOf"])
    ? schema["anyOf"]
    : [schema];
}

function demandedByAny(branches: readonly Json[]): readonly unknown[] {
  return branches.flatMap((branch) => listOf(branch["required"]));
}

function demandedByAll([first = {}, ...others]: readonly Json[]): readonly unknown[] {
  let demanded = new Set(listOf(first["required"]));
  for (const { required } of others) {
    const own = new Set(listOf(required));
    demanded = demanded.intersection(own);
    if (demanded.size === 0) break;
  }
  return [...demanded];
}
