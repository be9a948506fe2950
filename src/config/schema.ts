import { Ajv } from "ajv";
import type { ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { isRecord, runtimeSchema } from "./runtime-schema.ts";

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
