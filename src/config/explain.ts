import { nearest } from "../kit/index.ts";
import { didYouMean, type Finding, join, pluginHint } from "./diagnostics.ts";
import { otherForm, rightForm } from "./right-form.ts";
import { isRecord, type Schema, type SchemaError } from "./schema.ts";

/** One mistake against a schema. */
export interface Problem {
  readonly pointer: string;
  /** Where to show it: at the key or at the value of `pointer`. */
  readonly at: "key" | "value";
  readonly finding: Finding;
  /** The value itself cannot be used; false when it is only too short, too long or incomplete. */
  readonly unusable: boolean;
  /** The key that is not known here. */
  readonly unknown?: string;
  /** The key that is missing here. */
  readonly missing?: string;
}

/** What messages may say of values. */
interface Values {
  /** How the value at a pointer is named: by itself, or by the reference it came from. */
  show(pointer: string): string;
  /** Whether it stands in the file as it is: what a reference brought is quoted in no form. */
  isWritten(pointer: string): boolean;
}

/** The mistakes behind a failed validation, one for each. */
export function explain(schema: Schema, errors: readonly SchemaError[], values: Values, base = ""): Problem[] {
  const unions = outermost(errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf"));
  const plain = errors.filter(
    ({ keyword, instancePath }) =>
      keyword !== "if" &&
      keyword !== "propertyNames" &&
      !unions.some((union) => within(instancePath, union.instancePath)),
  );
  const problems = [
    ...plain.map((error) => problem(schema, error, values, base)),
    ...unions.flatMap((union) => explainUnion(schema, union, values, base)),
  ];
  return problems.filter(
    ({ pointer, missing }) => missing === undefined || !problems.some((other) => explains(other, pointer, missing)),
  );
}

/** A misspelt key is one mistake, not also a missing one. */
function explains({ pointer, unknown }: Problem, parent: string, missing: string): boolean {
  return unknown !== undefined && pointer === join(parent, unknown) && nearest(unknown, [missing]) !== null;
}

/** An inner union is explained with the branch that holds it; of two at one place the outer one is reported last. */
function outermost(unions: readonly SchemaError[]): SchemaError[] {
  return unions.filter(
    (union, index) =>
      !unions.some(
        (other, otherIndex) =>
          within(union.instancePath, other.instancePath) &&
          (other.instancePath !== union.instancePath || otherIndex > index),
      ),
  );
}

function within(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`);
}

/** Validates against the one branch that was meant: the errors of the others are noise. */
function explainUnion(schema: Schema, union: SchemaError, values: Values, base: string): Problem[] {
  const { instancePath, data } = union;
  const branches: readonly unknown[] = Array.isArray(union.schema) ? union.schema : [];
  const branch = chooseBranch(schema.root, branches, data);
  if (branch !== null) {
    const validate = schema.branch(branch);
    if (!validate(data)) return explain(schema, validate.errors ?? [], values, base + instancePath);
  }
  const pointer = base + instancePath;
  const message = `must be ${describeBranches(schema.root, branches)}`;
  const forms = branches.map((one) => rightForm(data, resolve(schema.root, one)));
  const isListMissing = branches.some((one) => resolve(schema.root, one).type === "array");
  const other = isListMissing ? otherForm("array", data) : null;
  const hint = values.isWritten(pointer) ? (forms.find((form) => form !== null) ?? other) : other;
  return [{ pointer, at: "value", unusable: true, finding: { rule: "wrong-type", message, hint } }];
}

function problem(schema: Schema, error: SchemaError, values: Values, base: string): Problem {
  const pointer = base + error.instancePath;
  const parent: Readonly<Record<string, unknown>> = isRecord(error.parentSchema) ? error.parentSchema : {};
  const { params } = error;
  const usable = (finding: Finding): Problem => ({ pointer, at: "value", unusable: false, finding });
  const unusable = (finding: Finding): Problem => ({ pointer, at: "value", unusable: true, finding });
  if (error.propertyName !== undefined) return invalidName(pointer, error.propertyName, parent);
  switch (error.keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownKey(pointer, String(params.additionalProperty ?? params.unevaluatedProperty), parent);
    case "required":
    case "dependencies":
    case "dependentRequired":
      return missingKey(pointer, String(params.missingProperty), parent);
    case "discriminator":
      return unknownTag(pointer, params, values, tagValues(schema.root, parent.oneOf, String(params.tag)));
    case "type":
      return unusable(wrongType(error, parent, values.isWritten(pointer)));
    case "enum":
      return unusable({
        rule: "unknown-value",
        message: `must be one of: ${list(params.allowedValues)}`,
        hint: typeof error.data === "string" ? didYouMean(error.data, strings(params.allowedValues)) : null,
      });
    case "const":
      if (pointer === "/version") {
        return unusable({
          rule: "unsupported-version",
          message: "this gateway reads version 1 only",
          hint: "write version: 1",
        });
      }
      return unusable({ rule: "unknown-value", message: `must be ${String(params.allowedValue)}` });
    case "pattern":
    case "format":
      return unusable({
        rule: "wrong-format",
        message: likeExamples(parent, `match ${String(params.pattern ?? params.format)}`),
        hint: values.isWritten(pointer) ? rightForm(error.data, parent) : null,
      });
    case "minimum":
      return unusable({ rule: "out-of-range", message: `must be at least ${String(params.limit)}` });
    case "maximum":
      return unusable({ rule: "out-of-range", message: `must be at most ${String(params.limit)}` });
    case "exclusiveMinimum":
      return unusable({ rule: "out-of-range", message: `must be more than ${String(params.limit)}` });
    case "exclusiveMaximum":
      return unusable({ rule: "out-of-range", message: `must be less than ${String(params.limit)}` });
    case "minItems":
    case "minLength":
    case "minProperties":
      return usable({
        rule: "wrong-length",
        message:
          params.limit === 1
            ? "must not be empty"
            : `must have at least ${String(params.limit)} ${unit(error.keyword)}`,
      });
    case "maxItems":
    case "maxLength":
    case "maxProperties":
      return usable({
        rule: "wrong-length",
        message: `must have at most ${String(params.limit)} ${unit(error.keyword)}`,
      });
    case "uniqueItems":
      return {
        ...usable({ rule: "duplicate-item", message: `repeats item ${Number(params.j) + 1} of the list` }),
        pointer: join(pointer, Number(params.i)),
      };
    default:
      return unusable({ rule: "wrong-format", message: error.message ?? "is not valid" });
  }
}

function unknownKey(pointer: string, key: string, parent: Readonly<Record<string, unknown>>): Problem {
  if (isRecord(parent.patternProperties)) return invalidName(pointer, key, parent);
  const known = isRecord(parent.properties) ? Object.keys(parent.properties) : [];
  const hint =
    didYouMean(key, known) ?? (known.length === 0 ? "there are no keys here" : `known keys: ${known.join(", ")}`);
  const finding: Finding = { rule: "unknown-key", message: `unknown key '${key}'`, hint };
  return { pointer: join(pointer, key), at: "key", unusable: true, unknown: key, finding };
}

function invalidName(pointer: string, key: string, parent: Readonly<Record<string, unknown>>): Problem {
  const patterns = isRecord(parent.patternProperties)
    ? Object.keys(parent.patternProperties).join(" or ")
    : String(parent.pattern);
  const { propertyNames, examples } = parent;
  // A map's own examples are maps: what is in them is named as this one may be.
  const names = Array.isArray(examples) && examples.every(isRecord) ? examples.flatMap(Object.keys) : examples;
  const named = isRecord(propertyNames) ? propertyNames : { examples: names };
  const finding: Finding = {
    rule: "invalid-name",
    message: `'${key}' is no valid name here: it ${likeExamples(named, `match ${patterns}`)}`,
  };
  return { pointer: join(pointer, key), at: "key", unusable: true, unknown: key, finding };
}

function missingKey(pointer: string, missing: string, parent: Readonly<Record<string, unknown>>): Problem {
  const property = isRecord(parent.properties) ? parent.properties[missing] : undefined;
  // A condition demands a key that is described elsewhere: its comment says why.
  const about = isRecord(property) ? property.description : parent.$comment;
  const hint = typeof about === "string" ? about.replace(/\.$/, "") : null;
  return {
    pointer,
    at: "key",
    unusable: false,
    missing,
    finding: { rule: "missing-key", message: `missing key '${missing}'`, hint },
  };
}

/** The only tagged union of gateway.yaml is the list of built-in plugins. */
function unknownTag(
  parent: string,
  { tag, tagValue, error }: Readonly<Record<string, unknown>>,
  values: Values,
  known: readonly string[],
): Problem {
  const pointer = join(parent, String(tag));
  const at = { pointer, at: "value", unusable: true } as const;
  if (error === "tag") return { ...at, finding: { rule: "wrong-type", message: "must be text" } };
  const hint = pluginHint(String(tagValue), known);
  return { ...at, finding: { rule: "unknown-plugin", message: `no plugin is named ${values.show(pointer)}`, hint } };
}

function wrongType({ data, params }: SchemaError, parent: SchemaNode, isWritten: boolean): Finding {
  const { type } = params;
  const message = `must be ${typeName(type)}`;
  if (data === null || data === undefined) return { rule: "wrong-type", message: `has no value: it ${message}` };
  if (typeof data === "number" && !Number.isFinite(data))
    return { rule: "wrong-type", message: "must be a finite number" };
  const form = isWritten ? rightForm(data, parent) : null;
  // A number without its unit: that it is no text would be said in vain.
  if (typeof data === "number" && form !== null)
    return { rule: "wrong-type", message: likeExamples(parent, `be ${typeName(type)}`), hint: form };
  return { rule: "wrong-type", message, hint: form ?? otherForm(type, data) };
}

function likeExamples(schema: Readonly<Record<string, unknown>>, otherwise: string): string {
  return Array.isArray(schema.examples) ? `must look like ${list(schema.examples)}` : `must ${otherwise}`;
}

function list(values: unknown): string {
  return strings(values).join(", ");
}

function strings(values: unknown): string[] {
  return Array.isArray(values) ? values.map(String) : [];
}

function unit(keyword: string): string {
  if (keyword.endsWith("Items")) return "items";
  return keyword.endsWith("Length") ? "characters" : "keys";
}

type SchemaNode = Readonly<Record<string, unknown>>;

/** The branch of a union that a value was meant for, or null when it fits none by its type. */
function chooseBranch(root: SchemaNode, branches: readonly unknown[], data: unknown): unknown {
  const fitting = branches.filter((branch) => fits(resolve(root, branch), data));
  if (!isRecord(data) || fitting.length < 2) return fitting[0] ?? null;
  const known = (branch: unknown): number => {
    const { properties } = resolve(root, branch);
    return isRecord(properties) ? Object.keys(data).filter((key) => Object.hasOwn(properties, key)).length : 0;
  };
  return fitting.reduce((best, branch) => (known(branch) > known(best) ? branch : best));
}

/** "a whole number or 'none'". */
function describeBranches(root: SchemaNode, branches: readonly unknown[]): string {
  return [...new Set(branches.map((branch) => describe(resolve(root, branch))))].join(" or ");
}

/** The names that tell the branches of a tagged union apart. */
function tagValues(root: SchemaNode, branches: unknown, tag: string): string[] {
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
function typeName(type: unknown): string {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  return names.map((name) => TYPES[String(name)] ?? String(name)).join(" or ");
}

function describe(schema: SchemaNode): string {
  return "const" in schema ? `'${String(schema.const)}'` : typeName(schema.type);
}

/** By type, and for maps by the required keys that tell branches apart. */
function fits(schema: SchemaNode, data: unknown): boolean {
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

function resolve(root: SchemaNode, branch: unknown): SchemaNode {
  if (!isRecord(branch)) return {};
  const { $ref } = branch;
  if (typeof $ref !== "string") return branch;
  const [, name = ""] = /^#\/definitions\/(.+)$/.exec($ref) ?? [];
  const definitions = isRecord(root.definitions) ? root.definitions : {};
  return resolve(root, definitions[name]);
}
