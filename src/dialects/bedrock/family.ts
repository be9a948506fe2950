/**
 * Whose model it is, as far as that changes how it is asked; "unknown" for a profile or import that does not name it.
 */
export type Family = "anthropic" | "nova" | "gpt-oss" | "openai" | "mistral" | "cohere" | "other" | "unknown";

const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/anthropic\.|claude/, "anthropic"],
  [/amazon\.nova|\/nova/, "nova"],
  [/gpt-oss/, "gpt-oss"],
  [/openai\./, "openai"],
  [/mistral\./, "mistral"],
  [/cohere\./, "cohere"],
  [
    /:(?:application-inference-profile|provisioned-model|custom-model-deployment|imported-model|prompt-router|default-prompt-router)\//,
    "unknown",
  ],
];

/** @param model id, ARN or inference profile: `us.anthropic.claude-opus-4-5-20251101-v1:0`. */
export function familyOf(model: string): Family {
  const name = model.toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
}

/**
 * Models that take `cachePoint` blocks (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html); the
 * others refuse a request that has one.
 */
export function caches(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "unknown";
}

/** Models whose tool results may say that they are errors (Converse, `ToolResultBlock.status`). */
export function readsStatus(family: Family): boolean {
  return caches(family);
}

/** Models that want their signed reasoning back; the others refuse reasoning in a request. */
export function readsReasoning(family: Family): boolean {
  return family === "anthropic" || family === "unknown";
}

/**
 * Models with structured output of their own in Converse, strict tools included
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html; Claude:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-structured-outputs.html). Later Claude models were
 * refused it in Converse (https://github.com/BerriAI/litellm/issues/27846): they are asked by a tool while they can be.
 */
const STRUCTURED =
  /claude-(?:opus|sonnet|haiku)-4-[56](?!\d)|gpt-oss|qwen\.qwen3|deepseek\.v3|gemma-3|minimax\.|mistral-large-3|ministral|magistral|voxtral|moonshot|kimi|nemotron/;

export function hasStructuredOutput(model: string): boolean {
  return STRUCTURED.test(model.toLowerCase());
}

/**
 * Whether the model can be made to call a tool
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html; `supports_tool_choice_values` of
 * langchain-aws chat_models/bedrock_converse.py).
 */
export function takesToolChoice(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "mistral" || family === "unknown";
}
