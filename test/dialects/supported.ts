import type { FeatureName } from "../../src/dialects/capabilities.ts";

/**
 * What becomes of a feature that a chat completions client asks for: `carried` to the upstream; `dropped` and said so
 * (`X-Gateway-Dropped`; a strict model goes on to its next step); `unasked`, because the upstream does so by itself, and
 * nothing is sent or lost; or one of the first two, as the upstream's model is (`model`).
 */
type Support = "carried" | "dropped" | "unasked" | "model";

/** The dialects that have chat models. */
export type ChatDialect = "openai" | "azure" | "anthropic" | "gemini" | "bedrock" | "cohere";

const EVERYTHING: Readonly<Record<FeatureName, Support>> = {
  vision: "carried",
  image_urls: "carried",
  documents: "carried",
  document_urls: "carried",
  text_documents: "carried",
  audio: "carried",
  tools: "carried",
  tool_choice: "carried",
  named_tool_choice: "carried",
  single_tool_calls: "carried",
  strict_tools: "carried",
  json_schema: "carried",
  json_object: "carried",
  reasoning_effort: "carried",
  thinking_budget: "carried",
  prompt_caching: "carried",
  stop: "carried",
  seed: "carried",
  logprobs: "carried",
  choices: "carried",
  penalties: "carried",
  logit_bias: "carried",
  top_k: "carried",
};

/** What each dialect's translation does; the tests send every feature through every dialect. */
export const SUPPORT: Readonly<Record<ChatDialect, Readonly<Record<FeatureName, Support>>>> = {
  // At a server of which nothing is known a canonical body travels as it came; a vendor has rules of its own.
  openai: EVERYTHING,
  azure: {
    ...EVERYTHING,
    // Chat completions fetch no files; the Responses API does.
    document_urls: "dropped",
    audio: "model",
    reasoning_effort: "model",
    thinking_budget: "model",
    prompt_caching: "unasked",
    stop: "model",
    logprobs: "model",
    penalties: "model",
    logit_bias: "model",
    top_k: "dropped",
  },
  anthropic: {
    ...EVERYTHING,
    audio: "dropped",
    tool_choice: "model",
    named_tool_choice: "model",
    strict_tools: "model",
    json_object: "dropped",
    reasoning_effort: "model",
    thinking_budget: "model",
    seed: "dropped",
    logprobs: "dropped",
    choices: "dropped",
    penalties: "dropped",
    logit_bias: "dropped",
    top_k: "model",
  },
  gemini: {
    ...EVERYTHING,
    single_tool_calls: "dropped",
    penalties: "model",
    logprobs: "model",
    reasoning_effort: "model",
    thinking_budget: "model",
    prompt_caching: "unasked",
    logit_bias: "dropped",
  },
  bedrock: {
    ...EVERYTHING,
    image_urls: "dropped",
    document_urls: "dropped",
    audio: "dropped",
    tool_choice: "model",
    named_tool_choice: "model",
    single_tool_calls: "model",
    strict_tools: "model",
    json_schema: "model",
    json_object: "dropped",
    reasoning_effort: "model",
    thinking_budget: "model",
    prompt_caching: "model",
    seed: "dropped",
    logprobs: "dropped",
    choices: "dropped",
    penalties: "dropped",
    logit_bias: "dropped",
    top_k: "model",
  },
  cohere: {
    ...EVERYTHING,
    vision: "model",
    image_urls: "model",
    documents: "dropped",
    document_urls: "dropped",
    audio: "dropped",
    single_tool_calls: "dropped",
    reasoning_effort: "dropped",
    thinking_budget: "model",
    prompt_caching: "unasked",
    logprobs: "dropped",
    choices: "dropped",
    logit_bias: "dropped",
  },
};
