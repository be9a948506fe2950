import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";

const REFERENCE = "#/definitions/reference";

/** One way in which a value does not fit a schema. */
export type SchemaError = ErrorObject;

/** A compiled schema, with what the explanation of its errors needs. */
export interface Schema {
  readonly root: Readonly<Record<string, unknown>>;
  readonly validate: ValidateFunction;
  /** Compiles one branch of a union of this schema. */
  branch(schema: unknown): ValidateFunction;
}

function validator(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    discriminator: true,
  });
  formats.default(ajv, ["date", "date-time", "uri", "email"]);
  return ajv;
}

/** Compiles a plugin's own schema. @throws Error that says why it is no usable schema. */
export function compileSchema(source: unknown, references: readonly object[] = []): Schema {
  const ajv = validator();
  for (const reference of references) ajv.addSchema(reference);
  const root = runtimeSchema(source);
  if (!isRecord(root)) throw new Error("a schema must be an object");
  const base = typeof root.$id === "string" ? root.$id : "";
  return {
    root,
    validate: ajv.compile(root),
    branch: (schema) => ajv.compile(absolute(schema, base)),
  };
}

/** A branch is compiled outside its document, where `#/…` would mean the branch itself. */
function absolute(schema: unknown, base: string): object {
  if (!isRecord(schema)) return {};
  const { $ref } = schema;
  return typeof $ref === "string" && $ref.startsWith("#") ? { ...schema, $ref: `${base}${$ref}` } : schema;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A schema file as the gateway runs it: references are resolved before validation, so the alternative that lets
 * editors accept `${env:PORT}` where a number stands is left out.
 */
export function runtimeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(runtimeSchema);
  if (!isRecord(schema)) return schema;
  const { anyOf, ...rest } = schema;
  const others = mapValues(rest);
  if (!Array.isArray(anyOf)) return anyOf === undefined ? others : { ...others, anyOf };
  const branches: unknown[] = anyOf
    .filter((branch) => !isRecord(branch) || branch.$ref !== REFERENCE)
    .map(runtimeSchema);
  const [only] = branches;
  return branches.length === 1 && isRecord(only) ? { ...others, ...only } : { ...others, anyOf: branches };
}

function mapValues(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, runtimeSchema(value)]));
}
