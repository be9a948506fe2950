const REFERENCE = "#/definitions/reference";

/** One way in which a value does not fit a schema, as Ajv says it with `verbose`. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
  readonly message?: string;
  /** The value of the keyword, the schema that has it, and what was checked. */
  readonly schema?: unknown;
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

export interface Validate {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/** A compiled schema, with what the explanation of its errors needs. */
export interface Schema {
  readonly root: Readonly<Record<string, unknown>>;
  readonly validate: Validate;
  /** Of one branch of a union of this schema. */
  branch(schema: unknown): Validate;
}

/** A branch is compiled outside its document, where `#/…` would mean the branch itself. @param base the document's id. */
export function absoluteBranch(branch: unknown, base: string): object {
  if (!isRecord(branch)) return {};
  const { $ref } = branch;
  return typeof $ref === "string" && $ref.startsWith("#") ? { ...branch, $ref: `${base}${$ref}` } : branch;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keywords for people: what an editor shows beside a description. */
const FOR_PEOPLE = new Set(["default", "enumDescriptions", "defaultSnippets"]);

/**
 * A schema file as the gateway runs it. References are resolved before validation, so it lacks the alternative that lets
 * editors accept `${env:PORT}` where a number is expected. It also lacks the keywords that only editors show.
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
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (key === "properties" && isRecord(value)) return [[key, mapRecord(value)]];
      if (key === "examples") return [[key, value]];
      return FOR_PEOPLE.has(key) ? [] : [[key, runtimeSchema(value)]];
    }),
  );
}

/** The names in `properties` are keys of the configuration: one may be called `default`. */
function mapRecord(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, runtimeSchema(schema)]));
}
