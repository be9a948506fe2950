import { isJson, type Json } from "../../kit/index.ts";
import { asNumber, asText, SimError } from "../fields.ts";
import { messagesBody } from "./claude/body.ts";
import { betaless, formRule, SHARED } from "./claude/messages.ts";
import { objects, type Rule, wordSet } from "./rule.ts";
import { list, text } from "./shape.ts";

const STRING_FORMATS = new Set(["enum", "date-time"]);
const NUMBER_FORMATS = new Set(["float", "double", "int32", "int64"]);

function refused(problems: readonly string[]): SimError | undefined {
  if (problems.length === 0) return undefined;
  return new SimError(400, problems.map((problem) => `* GenerateContentRequest.${problem}\n`).join(""));
}

const configOf = ({ generationConfig: config }: Json): Json => (isJson(config) ? config : {});
const thinkingOf = (body: Json): Json => {
  const { thinkingConfig: thinking } = configOf(body);
  return isJson(thinking) ? thinking : {};
};

function functionsOf(body: Json): readonly (readonly [string, Json])[] {
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

/** What Gemini refuses beside what the simulator always checks: names, turns, signatures. */
export const GEMINI: readonly Rule[] = [
  {
    source:
      "https://github.com/browser-use/browser-use/issues/3786, https://github.com/hideya/langchain-mcp-tools-ts/issues/36, https://github.com/anomalyco/opencode/issues/11889, https://github.com/google-gemini/gemini-cli/issues/3178",
    refuse: ({ body }) =>
      refused([
        ...functionsOf(body).flatMap(([at, made]) => [...problemsOf(made["parameters"], `${at}.parameters`)]),
        ...problemsOf(configOf(body)["responseSchema"], "generation_config.response_schema"),
      ]),
  },
  {
    source: "https://github.com/vercel/ai/pull/16540, https://github.com/google-gemini/cookbook/issues/393",
    models: /gemini-(?:1|2)/,
    refuse: ({ body }) =>
      functionsOf(body).length > 0 && configOf(body)["responseMimeType"] === "application/json"
        ? new SimError(400, "Function calling with a response mime type: 'application/json' is unsupported")
        : undefined,
  },
  {
    source:
      "https://github.com/snailyp/gemini-balance/issues/206, https://github.com/vercel/ai/issues/8027, https://github.com/RooCodeInc/Roo-Code/issues/4399, https://ai.google.dev/gemini-api/docs/thinking#set-budget",
    models: /gemini-2\.5/,
    refuse: ({ model, body }) => {
      const { thinkingBudget: budget } = thinkingOf(body);
      if (typeof budget !== "number" || budget === -1) return undefined;
      const [min, max] = model.includes("pro") ? [128, 32_768] : model.includes("lite") ? [512, 24_576] : [1, 24_576];
      if (budget === 0)
        return model.includes("pro")
          ? new SimError(400, "Budget 0 is invalid. This model only works in thinking mode.")
          : undefined;
      return budget < min || budget > max
        ? new SimError(
            400,
            `The thinking budget (${budget}) is invalid. Please choose a value between ${min} and ${max}.`,
          )
        : undefined;
    },
  },
  {
    source: "https://github.com/RooCodeInc/Roo-Code/issues/10700, https://github.com/Kilo-Org/kilocode/pull/5139",
    models: /gemini-2/,
    refuse: ({ body }) =>
      thinkingOf(body)["thinkingLevel"] === undefined
        ? undefined
        : new SimError(400, "Thinking level is not supported for this model."),
  },
  {
    source: "https://ai.google.dev/gemini-api/docs/thinking (models), https://github.com/juspay/neurolink/pull/1707",
    models: /gemini-(?:1|2\.0)/,
    refuse: ({ body }) =>
      configOf(body)["thinkingConfig"] === undefined
        ? undefined
        : new SimError(400, "Unable to submit request because thinking is not supported by this model."),
  },
  {
    source:
      "https://ai.google.dev/gemini-api/docs/models (output token limit); the wording of Vertex AI's INVALID_ARGUMENT",
    models: /gemini-/,
    refuse: ({ model, body }) => {
      const max = /gemini-(?:1|2\.0)/.test(model) ? 8_192 : 65_536;
      const { maxOutputTokens: asked } = configOf(body);
      return asNumber(asked) > max
        ? new SimError(
            400,
            `Unable to submit request because it has a maxOutputTokens value of ${asNumber(asked)} but the supported range is from 1 (inclusive) to ${max + 1} (exclusive). Update the value and try again.`,
          )
        : undefined;
    },
  },
];

const ON_VERTEX = "https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai#features-not-supported";
/** Types of tools that Vertex AI names in its refusal of others. */
const VERTEX_TOOLS = wordSet(
  "bash_20250124 custom memory_20250818 text_editor_20250124 text_editor_20250429 text_editor_20250728 " +
    "tool_search_tool_bm25 tool_search_tool_bm25_20251119 tool_search_tool_regex tool_search_tool_regex_20251119 " +
    "web_search_20250305 computer_20250124 computer_20251124",
);

/** Claude on Google's Vertex AI. */
export const VERTEX: readonly Rule[] = [
  {
    source: `https://github.com/anthropics/claude-code/issues/39589, ${ON_VERTEX}`,
    refuse: betaless,
  },
  formRule(
    messagesBody("model container inference_geo mcp_servers fallbacks speed", {
      anthropic_version: text(),
      anthropic_beta: list(text()),
    }),
    ON_VERTEX,
  ),
  {
    source: "https://github.com/coder/xum/issues/2922",
    refuse: ({ body }) => {
      for (const [index, { type = "custom" }] of objects(body["tools"]).entries()) {
        if (!VERTEX_TOOLS.has(asText(type))) {
          const known = [...VERTEX_TOOLS].map((name) => `'${name}'`).join(", ");
          return new SimError(
            400,
            `tools.${index}: Input tag '${asText(type)}' found using 'type' does not match any of the expected tags: ${known}`,
          );
        }
      }
      return undefined;
    },
  },
  {
    source: `https://github.com/anthropics/anthropic-sdk-typescript/issues/1038, ${ON_VERTEX}`,
    refuse: ({ body }) => {
      for (const [index, { content }] of objects(body["messages"]).entries()) {
        for (const [at, block] of objects(content).entries()) {
          const sources = [block, ...objects(block["content"])].map(({ source }) =>
            isJson(source) ? source["type"] : "",
          );
          if (sources.some((type) => type === "url" || type === "file"))
            return new SimError(
              400,
              `messages.${index}.content.${at}.image.source.base64.data: URL sources are not supported`,
            );
        }
      }
      return undefined;
    },
  },
  ...SHARED,
];
