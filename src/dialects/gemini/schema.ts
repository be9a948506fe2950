import { isJson, type Json } from "../../kit/index.ts";

const FORMER = "#/definitions/";
const PRESENT = "#/$defs/";

/**
 * A JSON Schema as `parametersJsonSchema` and `responseJsonSchema` take it. They take all of it and use a part; two things
 * they refuse: `definitions`, the former name of `$defs`, and fields beside a `$ref`
 * (https://ai.google.dev/api/generate-content, responseJsonSchema).
 */
export function schemaOf(schema: Json): Json {
  return written(schema) as Json;
}

function written(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(written);
  if (!isJson(node)) return node;
  const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
    if (key === "$ref" && typeof value === "string") return [key, value.replace(FORMER, PRESENT)];
    // Data, not schemas: what looks like a reference in there is none.
    if (key === "enum" || key === "const" || key === "default" || key === "examples") return [key, value];
    if (key === "properties" && isJson(value)) return [key, mapped(value)];
    return key === "definitions" && isJson(value) ? ["$defs", mapped(value)] : [key, written(value)];
  });
  const beside = entries.filter(([key]) => !key.startsWith("$"));
  if (typeof node["$ref"] !== "string" || beside.length === 0) return Object.fromEntries(merged(entries));
  const reference = entries.filter(([key]) => key === "$ref");
  const others = entries.filter(([key]) => key !== "$ref");
  return Object.fromEntries([...merged(others), ["anyOf", [Object.fromEntries(reference)]]]);
}

/** Both names of the definitions in one schema. */
function merged(entries: readonly [string, unknown][]): [string, unknown][] {
  const definitions = entries.filter(([key, value]) => key === "$defs" && isJson(value));
  if (definitions.length < 2) return [...entries];
  const all = Object.fromEntries(definitions.flatMap(([, value]) => (isJson(value) ? Object.entries(value) : [])));
  return [...entries.filter(([key]) => key !== "$defs"), ["$defs", all]];
}

/** Names below are the client's own, whatever they are called. */
function mapped(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, written(schema)]));
}
