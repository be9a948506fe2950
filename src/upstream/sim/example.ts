import { isJson, type Json } from "../../kit/index.ts";
import { shown } from "./shown.ts";

const MAXIMUM_DEPTH = 8;
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  email: "simulated@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A value that fits a JSON Schema: required properties, or every property when none is required. `pattern` is ignored. */
export function example(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isJson(schema) || depth > MAXIMUM_DEPTH) return {};
  const inner = (of: unknown) => example(of, root, depth + 1);
  if ("const" in schema) return schema["const"];
  for (const given of [schema["enum"], schema["examples"]])
    if (Array.isArray(given) && given.length > 0) return given[0];
  if ("default" in schema) return schema["default"];
  if (typeof schema["$ref"] === "string") return inner(resolve(schema["$ref"], root));
  for (const choices of [schema["anyOf"], schema["oneOf"]]) if (Array.isArray(choices)) return inner(choices[0]);
  if (Array.isArray(schema["allOf"])) return Object.assign({}, ...schema["allOf"].map(inner)) as unknown;
  switch (typeOf(schema)) {
    case "string":
      return exampleString(schema);
    case "integer":
      return exampleNumber(schema, 1);
    case "number":
      return exampleNumber(schema, 0.5);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: Math.min(Number(schema["minItems"] ?? 1), 16) }, () => inner(schema["items"] ?? {}));
    default:
      return exampleObject(schema, inner);
  }
}

function typeOf(schema: Json): unknown {
  const type = schema["type"];
  if (Array.isArray(type)) return type[0];
  return type ?? ("items" in schema ? "array" : "object");
}

function exampleString(schema: Json): string {
  const text = FORMATS[shown(schema["format"])] ?? "simulated";
  return text.padEnd(Number(schema["minLength"] ?? 0), "x").slice(0, Number(schema["maxLength"] ?? Infinity));
}

/** The smallest number the bounds allow, at least 0 where they do. */
function exampleNumber(schema: Json, step: number): number {
  const multiple = Number(schema["multipleOf"] ?? step);
  const above = schema["exclusiveMinimum"];
  const least = Number(
    schema["minimum"] ?? above ?? Math.min(0, Number(schema["maximum"] ?? schema["exclusiveMaximum"] ?? 0)),
  );
  const rounded = Math.ceil(least / multiple) * multiple;
  if (typeof above === "number" && rounded <= above) return rounded + multiple;
  return schema["exclusiveMaximum"] === rounded ? rounded - multiple : rounded;
}

function exampleObject(schema: Json, inner: (of: unknown) => unknown): Json {
  const properties = isJson(schema["properties"]) ? schema["properties"] : {};
  const required: unknown = schema["required"];
  const names = Array.isArray(required) && required.length > 0 ? required.map(shown) : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, inner(properties[name] ?? { type: "string" })]));
}

/** A reference inside the same schema, `#/$defs/x`; anything else fits every value. */
function resolve(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return {};
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce<unknown>(
    (at, step) => (isJson(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
    root,
  );
}
