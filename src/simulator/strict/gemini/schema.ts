import { type Json, isJson } from "../../../kit/index.ts";
import { asText, SimError } from "../../fields.ts";
import { objects, type Rule } from "../rule.ts";

const STRING_FORMATS = new Set(["enum", "date-time"]);
const NUMBER_FORMATS = new Set(["float", "double", "int32", "int64"]);

function refused(problems: readonly string[]): SimError | undefined {
  if (problems.length === 0) return undefined;
  return new SimError(400, problems.map((problem) => `* GenerateContentRequest.${problem}\n`).join(""));
}

export const configOf = ({ generationConfig: config }: Json): Json => (isJson(config) ? config : {});
export const thinkingOf = (body: Json): Json => {
  const { thinkingConfig: thinking } = configOf(body);
  return isJson(thinking) ? thinking : {};
};

export function functionsOf(body: Json): readonly (readonly [string, Json])[] {
  return objects(body["tools"]).flatMap((tool, outer) =>
    objects(tool["functionDeclarations"]).map(
      (made, index) => [`tools[${outer}].function_declarations[${index}]`, made] as const,
    ),
  );
}

/** What is wrong with a schema in OpenAPI's form, beyond names that it does not know. */
function* problemsOf(schema: unknown, at: string): Generator<string> {
  if (!isJson(schema)) return;
  const { type, properties, required, items, enum: values, format, anyOf } = schema;
  const kind = asText(type ?? "").toUpperCase();
  const names = isJson(properties) ? Object.keys(properties) : [];
  if (kind === "OBJECT") {
    if (isJson(properties) && names.length === 0) yield `${at}.properties: should be non-empty for OBJECT type`;
    for (const [index, name] of (Array.isArray(required) ? required : []).entries())
      if (!names.includes(asText(name))) yield `${at}.required[${index}]: property is not defined`;
  } else if (type !== undefined) {
    if (properties !== undefined) yield `${at}.properties: only allowed for OBJECT type`;
    if (required !== undefined) yield `${at}.required: only allowed for OBJECT type`;
  }
  if (kind === "ARRAY" && items === undefined) yield `${at}.items: missing field.`;
  if (values !== undefined) {
    if (kind !== "STRING") yield `${at}.enum: only allowed for STRING type`;
    else if (Array.isArray(values))
      for (const [index, value] of values.entries()) if (value === "") yield `${at}.enum[${index}]: cannot be empty`;
  }
  if (typeof format === "string") {
    if (kind === "STRING" && !STRING_FORMATS.has(format))
      yield `${at}.format: only 'enum' and 'date-time' are supported for STRING type`;
    if ((kind === "NUMBER" || kind === "INTEGER") && !NUMBER_FORMATS.has(format))
      yield `${at}.format: only 'float', 'double', 'int32' and 'int64' are supported for ${kind} type`;
  }
  if (isJson(properties))
    for (const [name, inner] of Object.entries(properties)) yield* problemsOf(inner, `${at}.properties[${name}]`);
  yield* problemsOf(items, `${at}.items`);
  for (const [index, inner] of (Array.isArray(anyOf) ? anyOf : []).entries())
    yield* problemsOf(inner, `${at}.any_of[${index}]`);
}

export const SCHEMAS: readonly Rule[] = [
  {
    source:
      "https://github.com/browser-use/browser-use/issues/3786, https://github.com/hideya/langchain-mcp-tools-ts/issues/36, https://github.com/anomalyco/opencode/issues/11889, https://github.com/google-gemini/gemini-cli/issues/3178",
    refuse: ({ body }) =>
      refused([
        ...functionsOf(body).flatMap(([at, made]) => [...problemsOf(made["parameters"], `${at}.parameters`)]),
        ...problemsOf(configOf(body)["responseSchema"], "generation_config.response_schema"),
      ]),
  },
];
