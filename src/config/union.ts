import { isRecord } from "./schema.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The branch of a union that a value was meant for, or null when it fits none by its type. */
export function chooseBranch(root: Schema, branches: readonly unknown[], data: unknown): unknown {
  const fitting = branches.filter((branch) => fits(resolve(root, branch), data));
  if (!isRecord(data) || fitting.length < 2) return fitting[0] ?? null;
  const known = (branch: unknown): number => {
    const { properties } = resolve(root, branch);
    return isRecord(properties) ? Object.keys(data).filter((key) => Object.hasOwn(properties, key)).length : 0;
  };
  return fitting.reduce((best, branch) => (known(branch) > known(best) ? branch : best));
}

/** "a whole number or 'none'". */
export function describeBranches(root: Schema, branches: readonly unknown[]): string {
  return [...new Set(branches.map((branch) => describe(resolve(root, branch))))].join(" or ");
}

/** The names that tell the branches of a tagged union apart. */
export function tagValues(root: Schema, branches: unknown, tag: string): string[] {
  return (Array.isArray(branches) ? branches : []).flatMap((branch) => {
    const { properties } = resolve(root, branch);
    const property = isRecord(properties) ? properties[tag] : undefined;
    return isRecord(property) && typeof property.const === "string" ? [property.const] : [];
  });
}

const TYPES: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  null: "null",
};

/** What operators call a JSON type, or several. */
export function typeName(type: unknown): string {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  return names.map((name) => TYPES[String(name)] ?? String(name)).join(" or ");
}

function describe(schema: Schema): string {
  return "const" in schema ? `'${String(schema.const)}'` : typeName(schema.type);
}

/** By type, and for maps by the required keys that tell branches apart. */
function fits(schema: Schema, data: unknown): boolean {
  if (!hasType(schema.type, data)) return false;
  const { properties, required } = schema;
  if (!isRecord(data) || !isRecord(properties) || !Array.isArray(required)) return true;
  return required.every((key) => {
    const name = String(key);
    return !(name in data) || tagFits(properties[name], data[name]);
  });
}

function tagFits(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return true;
  if ("const" in schema) return schema.const === value;
  if (typeof schema.pattern !== "string") return true;
  return typeof value === "string" && new RegExp(schema.pattern, "u").test(value);
}

function hasType(type: unknown, data: unknown): boolean {
  if (type === undefined) return false;
  if (Array.isArray(type)) return type.some((one) => hasType(one, data));
  if (type === "integer" || type === "number") return typeof data === "number";
  if (type === "array") return Array.isArray(data);
  if (type === "object") return isRecord(data);
  if (type === "null") return data === null;
  return typeof data === type;
}

function resolve(root: Schema, branch: unknown): Schema {
  if (!isRecord(branch)) return {};
  const { $ref } = branch;
  if (typeof $ref !== "string") return branch;
  const [, name = ""] = /^#\/definitions\/(.+)$/.exec($ref) ?? [];
  const definitions = isRecord(root.definitions) ? root.definitions : {};
  return resolve(root, definitions[name]);
}
