import { type Json, isJson } from "../../../kit/index.ts";
import { asText, badParameter, type SimError } from "../../fields.ts";
import { isGiven, isObjectSchema, quotedList, schemasIn, wordSet } from "../rule.ts";

const NAME = /^[a-zA-Z0-9_-]+$/;
const MAXIMUM_NAME_CHARACTERS = 64;
export const MAXIMUM_USER_CHARACTERS = 64;

const O_SERIES = /^o\d/;
/** Models that think, and models of any age that do not: `gpt-5-chat` is one of the latter, and its successors think
 * (https://github.com/egoist/chatwise-releases/issues/1257). */
export const REASONING = /^(?:o\d|gpt-(?:5(?!\.\d)(?!-chat)|5\.\d+|[6-9]|\d\d))/;

/** The levels of effort that a model knows, the first that fits. */
const EFFORTS: readonly (readonly [RegExp, string])[] = [
  [O_SERIES, "low medium high"],
  [/^gpt-5-pro/, "high"],
  [/^gpt-5(?:-mini|-nano)?(?:-20|$)/, "minimal low medium high"],
  [/^gpt-5-codex/, "low medium high"],
  [/^gpt-5\.1-codex-max/, "none low medium high xhigh"],
  [/^gpt-5\.1/, "none low medium high"],
  [/^gpt-5\.\d-pro/, "medium high xhigh"],
  [/^gpt-5\.[2-5]/, "none low medium high xhigh"],
  [/^gpt-(?:6-sol|6-luna|6\.1-terra|5\.)/, "none low medium high xhigh max"],
  [/^gpt-[6-9]/, "low medium high xhigh max"],
];

export function effortsOf(model: string): readonly string[] {
  return EFFORTS.find(([pattern]) => pattern.test(model))?.[1].split(" ") ?? [];
}

/** Whether a request has the model think: these think unless told not to, 5.1 to 5.4 only when told to. */
export function thinks(model: string, effort: unknown): boolean {
  if (!REASONING.test(model) || effort === "none") return false;
  return typeof effort === "string" || !/^gpt-5\.[1-4](?!-pro|-codex)/.test(model);
}

export function unsupported(name: string, instead = ""): SimError {
  return badParameter(
    name,
    `Unsupported parameter: '${name}' is not supported with this model.${instead}`,
    "unsupported_parameter",
  );
}

export function badEffort(name: string, effort: unknown, model: string): SimError | undefined {
  const known = effortsOf(model);
  if (effort === undefined || effort === null || known.includes(asText(effort))) return undefined;
  return badParameter(
    name,
    `Unsupported value: '${name}' does not support '${asText(effort)}' with this model. Supported values are: ${quotedList(known)}.`,
    "unsupported_value",
  );
}

export function tooLong(name: string, value: unknown, maximum: number): SimError | undefined {
  if (typeof value !== "string" || value.length <= maximum) return undefined;
  return badParameter(
    name,
    `Invalid '${name}': string too long. Expected a string with maximum length ${maximum}, but got a string with length ${value.length} instead.`,
    "string_above_max_length",
  );
}

export function badName(name: string, value: unknown): SimError | undefined {
  if (typeof value !== "string") return undefined;
  const long = tooLong(name, value, MAXIMUM_NAME_CHARACTERS);
  if (long || NAME.test(value)) return long;
  return badParameter(
    name,
    `Invalid '${name}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    "invalid_value",
  );
}

export function manyItems(name: string, value: unknown, maximum: number): SimError | undefined {
  if (!Array.isArray(value) || value.length <= maximum) return undefined;
  return badParameter(
    name,
    `Invalid '${name}': array too long. Expected an array with maximum length ${maximum}, but got an array with length ${value.length} instead.`,
    "array_above_max_length",
  );
}

/** https://platform.openai.com/docs/api-reference/chat/create#chat-create-metadata: 16 pairs, 64 and 512 characters. */
export function badMetadata({ metadata }: Json): SimError | undefined {
  if (!isJson(metadata)) return undefined;
  const pairs = Object.entries(metadata);
  if (pairs.length > 16) {
    return badParameter(
      "metadata",
      `Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with ${pairs.length} properties instead.`,
      "object_above_max_properties",
    );
  }
  for (const [key, value] of pairs) {
    const refusal = tooLong("metadata", key, 64) ?? tooLong(`metadata.${key}`, value, 512);
    if (refusal) return refusal;
    if (typeof value !== "string")
      return badParameter(`metadata.${key}`, `Invalid type for 'metadata.${key}': expected a string.`, "invalid_type");
  }
  return undefined;
}

/** Sampling of a model that thinks: only what is the default anyway. @param thinking with this request's effort */
export function badSampling(body: Json, thinking: boolean): SimError | undefined {
  const penalty = ["presence_penalty", "frequency_penalty"].find((name) => isGiven(body, name) && body[name] !== 0);
  if (penalty !== undefined) return unsupported(penalty);
  const never = ["logit_bias", ...(thinking ? ["logprobs", "top_logprobs"] : [])].find(
    (name) => isGiven(body, name) && body[name] !== false,
  );
  if (never !== undefined) return unsupported(never);
  if (!thinking) return undefined;
  if (isGiven(body, "top_p") && body["top_p"] !== 1) return unsupported("top_p");
  const { temperature } = body;
  if (!isGiven(body, "temperature") || temperature === 1) return undefined;
  return badParameter(
    "temperature",
    `Unsupported value: 'temperature' does not support ${asText(temperature)} with this model. Only the default (1) value is supported.`,
    "unsupported_value",
  );
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
