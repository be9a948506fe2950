const REFERENCE = "#/definitions/reference";

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
