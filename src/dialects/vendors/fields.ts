/** Sampling fields: a reasoning model refuses them. */
export const SAMPLING: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "logprobs",
  "top_logprobs",
  "logit_bias",
]);

/** What every chat endpoint that calls itself OpenAI-compatible has. */
export const COMMON_FIELDS: readonly string[] = [
  "messages",
  "tools",
  "tool_choice",
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "response_format",
  "reasoning_effort",
];

/** What of OpenAI's own API a server for anybody's models may have too. */
export const USUAL_FIELDS: readonly string[] = [
  ...COMMON_FIELDS,
  "parallel_tool_calls",
  "seed",
  "n",
  "logprobs",
  "top_logprobs",
  "logit_bias",
  "frequency_penalty",
  "presence_penalty",
  "user",
];

/** Of OpenAI's own API: SDK openai resources/chat/completions/completions.d.ts ChatCompletionCreateParamsBase. */
export const OPENAI_FIELDS: readonly string[] = [
  ...USUAL_FIELDS,
  "audio",
  "function_call",
  "functions",
  "metadata",
  "modalities",
  "moderation",
  "prediction",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "store",
  "verbosity",
];

/** Sampling fields of servers for open models. */
export const OPEN_FIELDS: readonly string[] = ["top_k", "min_p", "repetition_penalty"];

/**
 * Top-level fields by which an upstream would serve another model, serve it elsewhere, bill it at another rate, or run
 * something paid beside it (decisions 9.8):
 * - OpenRouter: https://openrouter.ai/docs/api-reference/overview (`models`, `route`, `provider`, `transforms`, `plugins`,
 *   `preset`); the same of its kind: `fallbacks`, `fallback_models`
 * - LiteLLM: https://docs.litellm.ai/docs/proxy/reliability (`fallbacks` and kin, `api_base`, `api_key`, …)
 * - OpenAI: `service_tier`, `web_search_options`; xAI: `search_parameters` (https://docs.x.ai/docs/guides/live-search)
 * - Alibaba: `enable_search`, `search_options`; Groq: `compound_custom`, `search_settings`; Together: `safety_model`
 * - LM Studio: `draft_model`; Anthropic's OpenAI-compatible endpoint: `speed`, `inference_geo`
 */
export const OTHER_MODEL_OR_RATE: ReadonlySet<string> = new Set([
  "fallbacks",
  "fallback_models",
  "models",
  "route",
  "provider",
  "transforms",
  "plugins",
  "preset",
  "service_tier",
  "web_search_options",
  "search_parameters",
  "search_settings",
  "search_options",
  "enable_search",
  "compound_custom",
  "safety_model",
  "draft_model",
  "speed",
  "inference_geo",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "api_base",
  "base_url",
  "api_key",
  "api_version",
  "custom_llm_provider",
  "model_list",
  "extra_headers",
  "extra_body",
]);
