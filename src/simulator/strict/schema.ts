import { isJson, type Json } from "../../kit/index.ts";
import { wordSet } from "./rule.ts";

/** A schema inside another, and the steps that lead there. */
interface Inner {
  readonly schema: Json;
  readonly path: readonly (string | number)[];
}

/** A schema and every schema in it. */
export function* schemasIn(value: unknown, path: Inner["path"] = []): Generator<Inner> {
  if (!isJson(value)) return;
  yield { schema: value, path };
  for (const name of ["properties", "$defs", "definitions", "patternProperties"]) {
    const inner = value[name];
    if (isJson(inner)) for (const [key, of] of Object.entries(inner)) yield* schemasIn(of, [...path, name, key]);
  }
  for (const name of ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"])
    yield* schemasIn(value[name], [...path, name]);
  for (const name of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const inner = value[name];
    if (Array.isArray(inner)) for (const [index, of] of inner.entries()) yield* schemasIn(of, [...path, name, index]);
  }
}

export function isObjectSchema({ type, properties }: Json): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isJson(properties);
}

const NOT_PERMITTED = (
  "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames " +
  "contains minContains maxContains unevaluatedProperties unevaluatedItems minProperties maxProperties " +
  "uniqueItems default"
).split(" ");
const OPENAI_FORMATS = wordSet("date-time time date duration email hostname ipv4 ipv6 uuid");

/**
 * What OpenAI says of a schema that is to be strict; undefined when it takes it.
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, the wording from
 * https://github.com/vercel/ai/issues/6484, https://github.com/dottxt-ai/outlines/issues/844 and
 * https://github.com/docker/docker-agent/pull/1871
 */
export function strictProblem(root: unknown): string | undefined {
  if (!isJson(root) || root["type"] !== "object") {
    const type = isJson(root) && typeof root["type"] === "string" ? root["type"] : "None";
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  if (root["anyOf"] !== undefined) return "schema must have type 'object' and not have 'anyOf' at the top level.";
  for (const { schema, path } of schemasIn(root)) {
    const context = `In context=(${path.map((step) => `'${step}'`).join(", ")})`;
    const banned = NOT_PERMITTED.find((name) => schema[name] !== undefined);
    if (banned !== undefined) return `${context}, '${banned}' is not permitted.`;
    const { format, type, properties, required, $ref } = schema;
    if (typeof format === "string" && !OPENAI_FORMATS.has(format))
      return `${context}, '${format}' is not a valid format.`;
    if ($ref !== undefined && Object.keys(schema).length > 1)
      return `${context}, $ref cannot have keywords {'${Object.keys(schema).find((name) => name !== "$ref")}'}.`;
    if (type === "array" && schema["items"] === undefined) return `${context}, array schema missing items.`;
    if (!isObjectSchema(schema)) continue;
    if (schema["additionalProperties"] !== false)
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    const names = Object.keys(isJson(properties) ? properties : {});
    const missing = names.find((name) => !Array.isArray(required) || !required.includes(name));
    if (missing !== undefined)
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  }
  return undefined;
}

/** What OpenAI says of the parameters of a function that is not strict. https://github.com/sigoden/aichat/pull/1049 */
export function looseProblem(root: unknown): string | undefined {
  if (root === undefined || root === null) return undefined;
  if (!isJson(root) || root["type"] !== "object") {
    const type = isJson(root) && typeof root["type"] === "string" ? root["type"] : "None";
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  const top = ["oneOf", "anyOf", "allOf", "enum", "not"].find((name) => root[name] !== undefined);
  if (top !== undefined)
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  for (const { schema, path } of schemasIn(root)) {
    if (schema["type"] === "array" && schema["items"] === undefined)
      return `In context=(${path.map((step) => `'${step}'`).join(", ")}), array schema missing items.`;
  }
  return undefined;
}

const CLAUDE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  string: ["minLength", "maxLength"],
  array: ["maxItems", "uniqueItems"],
  object: ["minProperties", "maxProperties", "patternProperties"],
};
const CLAUDE_FORMATS = wordSet("date-time time date duration email hostname uri ipv4 ipv6 uuid");

/**
 * What Anthropic says of a schema of structured output. https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * https://github.com/veryfront/veryfront-code/issues/3918, https://github.com/BerriAI/litellm/pull/35811 and
 * `sanitizeJsonSchema` of @ai-sdk/anthropic dist/index.js
 */
export function claudeProblem(root: unknown): string | undefined {
  for (const { schema } of schemasIn(root)) {
    const { type, format, $ref } = schema;
    if (isObjectSchema(schema) && schema["additionalProperties"] !== false)
      return "For 'object' type, 'additionalProperties' must be explicitly set to false";
    for (const [name, keywords] of Object.entries(CLAUDE_KEYWORDS)) {
      if (type !== name && !(Array.isArray(type) && type.includes(name))) continue;
      const found = keywords.filter((keyword) => schema[keyword] !== undefined).toSorted();
      if (found.length > 0) return `For '${name}' type, properties ${found.join(", ")} are not supported`;
      if (name === "array" && Number(schema["minItems"] ?? 0) > 1)
        return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
    }
    if (schema["oneOf"] !== undefined) return "Schema type 'oneOf' is not supported";
    if (schema["not"] !== undefined) return "Schema type 'not' is not supported";
    if (typeof format === "string" && !CLAUDE_FORMATS.has(format)) return `String format '${format}' is not supported`;
    if (typeof $ref === "string" && !$ref.startsWith("#")) return "External '$ref' is not supported";
  }
  return undefined;
}
