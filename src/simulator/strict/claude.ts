import { type Json, isJson } from "../../kit/index.ts";
import { asNumber, asText, SimError } from "../fields.ts";
import { isObjectSchema, objects, type Rule, schemasIn, type StrictRequest, unknownNames, wordSet } from "./rule.ts";

/** What a model of Anthropic's takes, wherever it is served. */
interface Claude {
  readonly maximum: number;
  readonly structured: boolean;
  /** Sampling: both of `temperature` and `top_p`, one of them, none. */
  readonly sampling: "both" | "one" | "none";
  readonly thinking: "none" | "budget" | "both" | "adaptive";
  /** Thinking cannot be turned off. */
  readonly always?: true;
  readonly prefill?: true;
}

/**
 * The first that fits. @ai-sdk/anthropic dist/index.js, getModelCapabilities; what thinks how:
 * https://platform.claude.com/docs/en/build-with-claude/thinking; who takes a prefill:
 * https://github.com/ericc-ch/copilot-api/pull/261
 */
const MODELS: readonly (readonly [RegExp, Claude])[] = [
  [/claude-(?:sonnet|opus)-5-5|claude-fable/, claude(128_000, "none", "adaptive", { always: true })],
  [/claude-(?:opus|sonnet|haiku)-5|claude-opus-4-[78]/, claude(128_000, "none", "adaptive")],
  [/claude-(?:opus|sonnet)-4-6/, claude(128_000, "one", "both")],
  [/claude-(?:sonnet|opus|haiku)-4-5/, claude(64_000, "one", "budget", { prefill: true })],
  [/claude-opus-4-1/, claude(32_000, "one", "budget", { prefill: true })],
  [/claude-sonnet-4/, { ...claude(64_000, "both", "budget", { prefill: true }), structured: false }],
  [/claude-opus-4/, { ...claude(32_000, "both", "budget", { prefill: true }), structured: false }],
  [/claude-3-7/, { ...claude(64_000, "both", "budget", { prefill: true }), structured: false }],
  [/claude-3-5/, { ...claude(8_192, "both", "none", { prefill: true }), structured: false }],
  [/claude-3/, { ...claude(4_096, "both", "none", { prefill: true }), structured: false }],
];

function claude(
  maximum: number,
  sampling: Claude["sampling"],
  thinking: Claude["thinking"],
  more: Partial<Claude> = {},
): Claude {
  return { maximum, structured: true, sampling, thinking, ...more };
}

function claudeOf(model: string): Claude | undefined {
  return MODELS.find(([pattern]) => pattern.test(model))?.[1];
}

/** Fields of a request: @anthropic-ai/sdk resources/beta/messages/messages.d.ts, MessageCreateParamsBase. */
export const FIELDS = wordSet(
  "max_tokens messages model cache_control container context_management diagnostics fallbacks inference_geo " +
    "mcp_servers metadata output_config output_format service_tier speed stop_sequences stream system temperature " +
    "thinking tool_choice tools top_k top_p user_profile_id betas",
);
const MESSAGE = wordSet("role content");
const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: wordSet("type text cache_control citations"),
  image: wordSet("type source cache_control transformations"),
  tool_use: wordSet("type id name input cache_control caller"),
  tool_result: wordSet("type tool_use_id content is_error cache_control"),
  thinking: wordSet("type thinking signature"),
  redacted_thinking: wordSet("type data"),
};
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A request in words that Messages and Converse share. */
interface ClaudeRequest {
  readonly maximum: unknown;
  readonly temperature: unknown;
  readonly topP: unknown;
  readonly topK: unknown;
  readonly thinking: unknown;
  readonly effort: unknown;
  readonly schema: unknown;
  readonly forcesTool: boolean;
  readonly last: { readonly role: unknown; readonly text: unknown } | undefined;
}

const given = (value: unknown): boolean => value !== undefined && value !== null;

/** What Anthropic's own models refuse by their version; `undefined` for a model of somebody else's. */
function problemOf(model: string, asked: ClaudeRequest): string | undefined {
  const rules = claudeOf(model);
  if (!rules) return undefined;
  const { thinking, effort, temperature, topP, topK, schema, last } = asked;
  if (asNumber(asked.maximum) > rules.maximum)
    return `max_tokens: ${asNumber(asked.maximum)} > ${rules.maximum}, which is the maximum allowed number of output tokens for ${model}`;
  if (rules.sampling === "none") {
    const name = [
      ["temperature", temperature],
      ["top_p", topP],
      ["top_k", topK],
    ].find(([, value]) => given(value))?.[0];
    if (name !== undefined) return `\`${asText(name)}\` is deprecated for this model.`;
  }
  if (rules.sampling === "one" && given(temperature) && given(topP))
    return "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
  const type = isJson(thinking) ? thinking["type"] : undefined;
  if (type === "adaptive" && (rules.thinking === "none" || rules.thinking === "budget"))
    return "adaptive thinking is not supported on this model";
  if (type === "enabled" && rules.thinking === "none") return "thinking is not supported on this model";
  if (type === "enabled" && rules.thinking === "adaptive")
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  if (type === "disabled" && rules.always) return '"thinking.type.disabled" is not supported for this model.';
  if (rules.always && asked.forcesTool) return "tool_choice forces tool use is not compatible with thinking.";
  if (given(effort)) {
    if (rules.thinking !== "both" && rules.thinking !== "adaptive" && !/opus-4-5/.test(model))
      return "This model does not support the effort parameter.";
    if (effort === "xhigh" && rules.thinking !== "adaptive")
      return `This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.`;
  }
  if (given(schema)) {
    if (!rules.structured) return `'${model}' does not support output format.`;
    const problem = claudeSchemaProblem(schema);
    if (problem !== undefined) return `output_config.format.schema: ${problem}`;
  }
  if (last?.role !== "assistant") return undefined;
  if (!rules.prefill)
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  if (typeof last.text === "string" && last.text !== last.text.trimEnd())
    return "messages: final assistant content cannot end with trailing whitespace";
  return undefined;
}

const SOURCES =
  "@ai-sdk/anthropic dist/index.js getModelCapabilities, https://github.com/infiniflow/ragflow/issues/11815, https://github.com/cloud-apim/otoroshi-llm-extension/issues/140, https://github.com/cortexkit/magic-context/issues/511, https://github.com/veryfront/veryfront-code/issues/3918, https://platform.claude.com/docs/en/build-with-claude/structured-outputs";

/** Of a request with the fields that a place knows. */
export function formRule(fields: ReadonlySet<string>, source: string): Rule {
  return {
    source,
    refuse: ({ body }) => {
      const [name] = unknownNames(body, fields);
      if (name !== undefined) return extra(name);
      for (const [index, message] of objects(body["messages"]).entries()) {
        const [field] = unknownNames(message, MESSAGE);
        if (field !== undefined) return extra(`messages.${index}.${field}`);
        for (const [at, block] of objects(message["content"]).entries()) {
          const type = asText(block["type"]);
          const [unknown] = unknownNames(block, BLOCKS[type] ?? new Set(Object.keys(block)));
          if (unknown !== undefined) return extra(`messages.${index}.content.${at}.${type}.${unknown}`);
        }
      }
      return undefined;
    },
  };
}

/** What the models refuse wherever the format is served. */
export const SHARED: readonly Rule[] = [
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/vision#supported-formats, @anthropic-ai/sdk resources/messages/messages.d.ts Base64ImageSource",
    refuse: ({ body }) => {
      for (const [index, message] of objects(body["messages"]).entries()) {
        for (const [at, { type, source }] of objects(message["content"]).entries()) {
          if (type !== "image" || !isJson(source) || source["type"] !== "base64") continue;
          const place = `messages.${index}.content.${at}.image.source.base64`;
          if (!IMAGES.has(asText(source["media_type"])))
            return new SimError(
              400,
              `${place}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
            );
          if (!/^[A-Za-z0-9+/]+={0,2}$/.test(asText(source["data"])))
            return new SimError(400, `${place}: invalid base64 data`);
        }
      }
      return undefined;
    },
  },
  {
    source:
      "https://github.com/anthropics/claude-code/issues/40075, https://github.com/goruck/home-generative-agent/issues/585",
    refuse: ({ body }) => {
      for (const [index, { input_schema: schema }] of objects(body["tools"]).entries()) {
        if (!isJson(schema)) continue;
        const at = `tools.${index}.custom.input_schema`;
        if (["oneOf", "allOf", "anyOf"].some((name) => schema[name] !== undefined))
          return new SimError(400, `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
        const names = isJson(schema["properties"]) ? Object.keys(schema["properties"]) : [];
        if (names.some((name) => !PROPERTY.test(name)))
          return new SimError(400, `${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
      }
      return undefined;
    },
  },
  {
    source: SOURCES,
    refuse: ({ model, body }) => {
      const problem = problemOf(model, askedOfMessages(body));
      return problem === undefined ? undefined : new SimError(400, problem);
    },
  },
];

export const ANTHROPIC: readonly Rule[] = [
  formRule(
    FIELDS,
    "https://github.com/anthropics/claude-code/issues/4378, https://github.com/caozhiyuan/copilot-api/issues/145",
  ),
  ...SHARED,
];

function extra(place: string): SimError {
  return new SimError(400, `${place}: Extra inputs are not permitted`);
}

function askedOfMessages(body: Json): ClaudeRequest {
  const { output_config: output, output_format: before, tool_choice: choice } = body;
  const format = isJson(output) && isJson(output["format"]) ? output["format"] : before;
  const last = objects(body["messages"]).at(-1);
  const content = last?.["content"];
  return {
    maximum: body["max_tokens"],
    temperature: body["temperature"],
    topP: body["top_p"],
    topK: body["top_k"],
    thinking: body["thinking"],
    effort: isJson(output) ? output["effort"] : undefined,
    schema: isJson(format) ? format["schema"] : undefined,
    forcesTool: isJson(choice) && (choice["type"] === "any" || choice["type"] === "tool"),
    last: last && {
      role: last["role"],
      text: typeof content === "string" ? content : objects(content).at(-1)?.["text"],
    },
  };
}

/** What Converse says before or instead of what the model behind it says. */
export const BEDROCK: readonly Rule[] = [
  {
    source: "https://github.com/vercel/ai/issues/19988 and #14773",
    models: /claude-(?:opus-4-[78]|opus-5|sonnet-5|fable|haiku-4-5)/,
    refuse: ({ body: { additionalModelRequestFields: extras } }) =>
      isJson(extras) && isJson(extras["output_config"]) && extras["output_config"]["format"] !== undefined
        ? converseRefusal("output_config.format: Extra inputs are not permitted")
        : undefined,
  },
  {
    source:
      "https://github.com/charmbracelet/crush/issues/946, https://github.com/sigoden/aichat/pull/813, https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html",
    models: /amazon\.nova|meta\.llama|mistral\./,
    refuse: ({ model, body: { inferenceConfig: config } }) => {
      const max = model.includes("nova") ? 10_000 : 8_192;
      return isJson(config) && asNumber(config["maxTokens"]) > max
        ? new SimError(
            400,
            `The maximum tokens you requested exceeds the model limit of ${max}. Try again with a maximum tokens value that is lower than ${max}.`,
          )
        : undefined;
    },
  },
  {
    source: `${SOURCES}, https://github.com/future-agi/future-agi/pull/412`,
    refuse: (request) => {
      const problem = problemOf(request.model, askedOfConverse(request));
      return problem === undefined ? undefined : converseRefusal(problem);
    },
  },
];

function converseRefusal(message: string): SimError {
  return new SimError(400, `The model returned the following errors: ${message}`);
}

function askedOfConverse({ body }: StrictRequest): ClaudeRequest {
  const inference = isJson(body["inferenceConfig"]) ? body["inferenceConfig"] : {};
  const extras = isJson(body["additionalModelRequestFields"]) ? body["additionalModelRequestFields"] : {};
  const { output_config: output } = extras;
  const choice = isJson(body["toolConfig"]) ? body["toolConfig"]["toolChoice"] : undefined;
  const last = objects(body["messages"]).at(-1);
  const config = isJson(body["outputConfig"]) ? body["outputConfig"]["textFormat"] : undefined;
  const structure = isJson(config) && isJson(config["structure"]) ? config["structure"]["jsonSchema"] : undefined;
  return {
    maximum: inference["maxTokens"],
    temperature: inference["temperature"],
    topP: inference["topP"],
    topK: extras["top_k"],
    thinking: extras["thinking"],
    effort: isJson(output) ? output["effort"] : undefined,
    schema: isJson(structure) ? parsed(structure["schema"]) : undefined,
    forcesTool: isJson(choice) && (choice["any"] !== undefined || choice["tool"] !== undefined),
    last: last && { role: last["role"], text: objects(last["content"]).at(-1)?.["text"] },
  };
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(asText(text)) as unknown;
  } catch {
    return undefined;
  }
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
function claudeSchemaProblem(root: unknown): string | undefined {
  for (const { schema } of schemasIn(root)) {
    const { type, format, $ref } = schema;
    if (isObjectSchema(schema) && schema["additionalProperties"] !== false)
      return "For 'object' type, 'additionalProperties' must be explicitly set to false";
    for (const [name, keywords] of Object.entries(CLAUDE_KEYWORDS)) {
      if (type !== name && !(Array.isArray(type) && type.includes(name))) continue;
      const found = keywords.filter((keyword) => schema[keyword] !== undefined).toSorted();
      if (found.length > 0) return `For '${name}' type, properties ${found.join(", ")} are not supported`;
      if (name === "array" && asNumber(schema["minItems"]) > 1)
        return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
    }
    if (schema["oneOf"] !== undefined) return "Schema type 'oneOf' is not supported";
    if (schema["not"] !== undefined) return "Schema type 'not' is not supported";
    if (typeof format === "string" && !CLAUDE_FORMATS.has(format)) return `String format '${format}' is not supported`;
    if (typeof $ref === "string" && !$ref.startsWith("#")) return "External '$ref' is not supported";
  }
  return undefined;
}
