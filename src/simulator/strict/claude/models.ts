import { isJson } from "../../../kit/index.ts";
import { asNumber, asText } from "../../fields.ts";
import { isObjectSchema, schemasIn, wordSet } from "../rule.ts";

/** What a model of Anthropic's takes, wherever it is served. */
export interface Claude {
  readonly maximum: number;
  readonly structured: boolean;
  /** Sampling: both of `temperature` and `top_p`, one of them, none. */
  readonly sampling: "both" | "one" | "none";
  readonly thinking: "none" | "budget" | "both" | "adaptive";
  /** Thinking cannot be turned off. */
  readonly always?: true;
  /** No tool call can be forced. */
  readonly unforced?: true;
  /** Thinks between tools alone, if it is asked to. */
  readonly betweenTools?: true;
  /** Thinking that is off, or only between tools, goes with efforts up to `high`. */
  readonly quietUpToHigh?: true;
  readonly prefill?: true;
}

/**
 * The first that fits. @ai-sdk/anthropic dist/index.js, getModelCapabilities; what thinks how:
 * https://platform.claude.com/docs/en/build-with-claude/thinking; who takes a prefill:
 * https://github.com/ericc-ch/copilot-api/pull/261
 */
const MODELS: readonly (readonly [RegExp, Claude])[] = [
  [
    /claude-sonnet-5-5/,
    claude(128_000, "none", "adaptive", { always: true, unforced: true, betweenTools: true, quietUpToHigh: true }),
  ],
  [
    /claude-opus-5-5|claude-(?:fable|mythos)-5-\d/,
    claude(128_000, "none", "adaptive", { always: true, unforced: true }),
  ],
  [/claude-(?:fable|mythos)-5/, claude(128_000, "none", "adaptive", { always: true })],
  [/claude-mythos/, claude(128_000, "none", "both", { always: true })],
  [/claude-(?:opus|haiku)-5/, claude(128_000, "none", "adaptive", { quietUpToHigh: true })],
  [/claude-sonnet-5|claude-opus-4-[78]/, claude(128_000, "none", "adaptive")],
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

export function claudeOf(model: string): Claude | undefined {
  return MODELS.find(([pattern]) => pattern.test(model))?.[1];
}

/** A request in words that Messages and Converse share. */
export interface ClaudeRequest {
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
export function modelProblem(model: string, asked: ClaudeRequest): string | undefined {
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
  if (type === "between_tools" && !rules.betweenTools)
    return '"thinking.type.between_tools" is not supported for this model.';
  // https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5#forced-tool-use-is-not-supported
  if (rules.unforced && asked.forcesTool) return 'tool_choice: type "tool" and "any" are not supported for this model.';
  // https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting, note 2 of its table
  const isQuiet = type === "disabled" || type === "between_tools";
  if (isQuiet && rules.quietUpToHigh && (effort === "xhigh" || effort === "max"))
    return `"thinking.type.${type}" is not supported with effort "${effort}" for this model.`;
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
export function claudeSchemaProblem(root: unknown): string | undefined {
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

export const SOURCES =
  "@ai-sdk/anthropic dist/index.js getModelCapabilities, https://github.com/infiniflow/ragflow/issues/11815, https://github.com/cloud-apim/otoroshi-llm-extension/issues/140, https://github.com/cortexkit/magic-context/issues/511, https://github.com/veryfront/veryfront-code/issues/3918, https://platform.claude.com/docs/en/build-with-claude/structured-outputs";
