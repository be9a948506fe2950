import { isJson, type Json } from "../../kit/index.ts";
import { ANNOTATIONS, listOf } from "./places.ts";
import { weightOf, type Work } from "./work.ts";

/** What several schemas of objects are joined by. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["type", "properties", "required", ...ANNOTATIONS]);

export interface ObjectRoot {
  readonly schema: Json;
  /** The unions that say more than the object does. */
  readonly lost: readonly string[];
}

/**
 * An object with the properties of every branch, of which those are required that are in all.
 * @param resolved what a branch refers to, or itself.
 */
export function withoutRootUnion(root: Json, resolved: (branch: unknown) => Json, work: Work): ObjectRoot {
  const { anyOf, oneOf, allOf, ...rest } = root;
  const unions = Object.entries({ anyOf, oneOf, allOf }).filter(([, branches]) => Array.isArray(branches));
  if (unions.length === 0) return { schema: root, lost: [] };
  const properties = new Map<string, unknown>(isJson(rest["properties"]) ? Object.entries(rest["properties"]) : []);
  const required = new Set(listOf(rest["required"]));
  const lost: string[] = [];
  for (const [keyword, list] of unions) {
    // Once each: many references to one large schema are no larger than it.
    const branches = [...new Set(listOf(list).map(resolved))];
    for (const [name, schemas] of propertiesOf(branches, work)) {
      properties.set(name, joined(keyword, properties.get(name), schemas));
    }
    for (const name of keyword === "allOf" ? demandedByAny(branches) : demandedByAll(branches)) required.add(name);
    const exact =
      keyword === "allOf" && branches.every((branch) => Object.keys(branch).every((key) => OF_OBJECTS.has(key)));
    if (!exact || work.over) lost.push(`/${keyword}`);
  }
  const schema = {
    type: "object",
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
  return { schema, lost };
}

/** By name, what the branches say of each property, as far as work goes: branches within each other repeat themselves. */
function propertiesOf(branches: readonly Json[], work: Work): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of branches) {
    for (const [name, schema] of isJson(properties) ? Object.entries(properties) : []) {
      if (!work.spend(weightOf(schema))) return found;
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
  const distinct = [
    ...new Map([...before, ...schemas].map((schema) => [JSON.stringify(sorted(schema)), schema])).values(),
  ];
  return distinct.length === 1 ? distinct[0] : { [word]: distinct };
}

/** The branches of what is a union of this making already. */
function branchesOf(schema: unknown): readonly unknown[] {
  return isJson(schema) && Object.keys(schema).length === 1 && Array.isArray(schema["anyOf"])
    ? schema["anyOf"]
    : [schema];
}

/** Whatever order its names are in, the same value. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJson(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
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
