import { Ajv, type CodeOptions } from "ajv";
import formats from "ajv-formats";
import { absoluteBranch, isRecord, runtimeSchema, type Schema, type SchemaError, type Validate } from "./schema.ts";

/** Of schemas as the gateway runs them: every error, with what the explanation of it needs. */
export function createCompiler(code: CodeOptions = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    discriminator: true,
    // Inlined, the code that is made ahead would be half as large again.
    inlineRefs: false,
    code,
  });
  formats.default(ajv, ["date", "date-time", "uri", "email"]);
  return ajv;
}

/** Compiles a plugin's own schema. @throws Error that says why it is no usable schema. */
export function compileSchema(source: unknown): Schema {
  const ajv = createCompiler();
  const root = runtimeSchema(source);
  if (!isRecord(root)) throw new Error("a schema must be an object");
  const base = typeof root.$id === "string" ? root.$id : "";
  const compile = (schema: object): Validate => {
    const run = ajv.compile(schema);
    const validate: Validate = (data) => {
      const fits = run(data);
      validate.errors = run.errors as readonly SchemaError[] | null | undefined;
      return fits;
    };
    return validate;
  };
  return { root, validate: compile(root), branch: (schema) => compile(absoluteBranch(schema, base)) };
}
