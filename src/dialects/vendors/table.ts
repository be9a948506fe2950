import { COMMON_FIELDS, OPEN_FIELDS, OPENAI_FIELDS, OTHER_MODEL_OR_RATE, SAMPLING, USUAL_FIELDS } from "./fields.ts";
import { azure, openai } from "./openai.ts";
import type { Entry, RuledVendor, Rules } from "./types.ts";

/** A server of which nothing is known but that it calls itself OpenAI-compatible: what a chat client wrote travels. */
export const GENERIC: Rules = {
  vendor: "generic",
  outputLimit: "either",
  efforts: ["none", "minimal", "low", "medium", "high"],
  reasoningOff: "effort",
  reasoningEcho: "never",
  reasoningDemanded: null,
  unknownFields: true,
  fields: new Set(OPENAI_FIELDS),
  renamedFields: {},
  refusedFields: OTHER_MODEL_OR_RATE,
  messageFields: new Set(["name", "refusal", "audio", "function_call"]),
  toolTypes: new Set(["custom"]),
  stop: Number.POSITIVE_INFINITY,
  // Other than most limits this one costs nothing to keep: names are mapped back.
  toolName: 64,
  toolNameCharacters: "any",
  toolChoice: "any",
  user: Number.POSITIVE_INFINITY,
  streamOptions: true,
  developerRole: true,
  strictTools: true,
  toolCallIds: "any",
  toolCallId: 64,
  sampling: SAMPLING,
  samplingWithoutReasoning: SAMPLING,
  schemaKeywords: null,
  structuredOutput: "beside_tools",
  endpoint: "chat",
};

const NOTHING: ReadonlySet<string> = new Set();
const NAME = new Set(["name"]);
/** @param more names, blanks between them. */
const plus = (fields: readonly string[], ...more: readonly string[]): ReadonlySet<string> =>
  new Set([...fields, ...more.flatMap((names) => names.split(" "))]);
const refused = (...fields: readonly string[]): ReadonlySet<string> => OTHER_MODEL_OR_RATE.union(new Set(fields));
const without = (...fields: readonly string[]): ReadonlySet<string> => SAMPLING.difference(new Set(fields));

/** A server for open models: nothing is refused for being unknown. */
const OPEN: Partial<Rules> = {
  outputLimit: "max_tokens",
  fields: plus(OPENAI_FIELDS, ...OPEN_FIELDS),
  efforts: [],
  developerRole: false,
};

const THREE_EFFORTS = ["low", "medium", "high"] as const;
const GPT_OSS = /(?:^|[/:-])gpt-oss/i;
const gptOss = (source: string, rules: Partial<Rules> = {}): NonNullable<Entry["models"]>[number] => ({
  match: GPT_OSS,
  source: [source],
  rules: { efforts: THREE_EFFORTS, ...rules },
});

/** A vendor is one entry here and one file of cases in the tests. */
export const TABLE: Readonly<Record<RuledVendor, Entry>> = {
  openai,
  azure,

  mistral: {
    source: [
      "https://docs.mistral.ai/api/endpoint/chat",
      // Unknown fields of the body and of messages: 422 extra_forbidden.
      "https://github.com/Gitlawb/openclaude/issues/739",
      "https://github.com/charmbracelet/crush/issues/1590",
      "https://github.com/Gage-Technologies/mistral-go/pull/2",
      "https://github.com/openai/openai-agents-python/issues/442",
      // Ids of tool calls.
      "https://github.com/karthink/gptel/issues/1203",
      // Its endpoints: no Responses among them.
      "https://docs.mistral.ai/api",
    ],
    hosts: /^(?:[a-z]+\.)?(?:api|codestral)\.mistral\.ai$/,
    responsesApi: false,
    rules: {
      outputLimit: "max_tokens",
      efforts: [],
      unknownFields: false,
      toolTypes: NOTHING,
      fields: plus(
        COMMON_FIELDS,
        "parallel_tool_calls seed n frequency_penalty presence_penalty prediction metadata",
        "random_seed safe_prompt prompt_mode guardrails prompt_cache_key",
      ),
      renamedFields: { seed: "random_seed" },
      messageFields: new Set(["prefix"]),
      toolNameCharacters: "word",
      user: 0,
      streamOptions: false,
      developerRole: false,
      toolCallIds: "mistral",
      sampling: without("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: without("logprobs", "top_logprobs", "logit_bias"),
    },
    models: [
      {
        // Other levels: 400.
        match: /^mistral-(?:small-(?:latest|2603)|medium-(?:latest|3-5|2604))/,
        source: [
          "https://github.com/NousResearch/hermes-agent/issues/11243",
          "https://docs.mistral.ai/capabilities/reasoning",
        ],
        rules: { efforts: ["none", "high"] },
      },
    ],
  },

  deepseek: {
    source: [
      "https://api-docs.deepseek.com/guides/thinking_mode",
      "https://api-docs.deepseek.com/api/create-chat-completion",
      // `developer`: unknown variant.
      "https://github.com/earendil-works/pi/issues/1048",
      // Reasoning of turns with tool calls must come back.
      "https://github.com/NousResearch/hermes-agent/issues/15353",
      // Of `response_format` only `json_object`: "This response_format type is unavailable now".
      "https://api-docs.deepseek.com/guides/json_mode",
    ],
    hosts: /^api\.deepseek\.com$/,
    rules: {
      outputLimit: "max_tokens",
      // Each is taken; the server maps them to three.
      efforts: ["minimal", "low", "medium", "high", "xhigh", "max"],
      reasoningOff: "thinking",
      reasoningEcho: "reasoning_content",
      reasoningDemanded: "",
      fields: plus(USUAL_FIELDS, "thinking", "user_id", "prefix"),
      stop: 16,
      toolNameCharacters: "word",
      developerRole: false,
      structuredOutput: "never",
    },
    models: [
      {
        // Thinking models take no forced choice of a tool.
        match: /reasoner|-r1|-v4|flash|pro/,
        source: [
          "https://api-docs.deepseek.com/guides/reasoning_model",
          "https://github.com/deepseek-ai/DeepSeek-R1/issues/836",
        ],
        rules: {
          toolChoice: "auto",
          sampling: without("logprobs", "top_logprobs"),
          samplingWithoutReasoning: without("logprobs", "top_logprobs"),
        },
      },
    ],
  },

  groq: {
    source: [
      "https://console.groq.com/docs/openai",
      "https://console.groq.com/docs/api-reference#chat-create",
      "https://console.groq.com/docs/reasoning",
      // reasoning_content: property is unsupported.
      "https://github.com/janhq/jan/issues/8136",
      "https://github.com/karthink/gptel/issues/774",
      // "json mode cannot be combined with tool/function calling"; models that take schemas.
      "https://github.com/vercel/ai/pull/16540",
      "https://console.groq.com/docs/structured-outputs#supported-models",
    ],
    hosts: /^api\.groq\.com$/,
    rules: {
      outputLimit: "max_completion_tokens",
      efforts: [],
      unknownFields: false,
      toolTypes: NOTHING,
      fields: plus(
        USUAL_FIELDS,
        "metadata store reasoning_format include_reasoning documents citation_options",
        "disable_tool_validation exclude_domains include_domains",
      ),
      messageFields: NOTHING,
      refusedFields: refused("n"),
      stop: 4,
      toolNameCharacters: "word",
      developerRole: false,
      sampling: without("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: without("logprobs", "top_logprobs", "logit_bias"),
      structuredOutput: "never",
    },
    models: [
      gptOss("https://console.groq.com/docs/reasoning", { reasoningEcho: "reasoning", structuredOutput: "alone" }),
      {
        match: /llama-4|kimi-k2/i,
        source: ["https://console.groq.com/docs/structured-outputs#supported-models"],
        rules: { structuredOutput: "alone" },
      },
      {
        match: /qwen-?3/i,
        source: ["https://console.groq.com/docs/reasoning"],
        rules: { efforts: ["none"], reasoningEcho: "reasoning" },
      },
    ],
  },

  openrouter: {
    source: [
      "https://openrouter.ai/docs/api-reference/parameters",
      "https://openrouter.ai/docs/use-cases/reasoning-tokens",
      "https://github.com/enricoros/big-AGI/issues/940",
      // Ids of tool calls, told by the models behind it.
      "https://github.com/openclaw/openclaw/pull/875",
    ],
    hosts: /^(?:[a-z]+\.)?openrouter\.ai$/,
    rules: {
      efforts: ["none", "minimal", "low", "medium", "high", "xhigh"],
      reasoningEcho: "reasoning_details",
      fields: plus(
        OPENAI_FIELDS,
        ...OPEN_FIELDS,
        "top_a reasoning include_reasoning structured_outputs usage session_id trace",
      ),
      stop: 4,
      toolNameCharacters: "word",
      user: 128,
      toolCallId: 40,
    },
  },

  xai: {
    source: [
      "https://docs.x.ai/docs/guides/reasoning",
      "https://docs.x.ai/docs/api-reference#chat-completions",
      "https://github.com/vercel/ai/releases/tag/@ai-sdk/xai@4.0.8",
      "https://github.com/acedergren/opencode-oci-provider/releases/tag/v0.2.3",
    ],
    hosts: /^(?:[a-z0-9-]+\.)?api\.x\.ai$/,
    rules: {
      efforts: [],
      // The reasoning models, which all of the current ones are.
      stop: 0,
      fields: plus(USUAL_FIELDS, "deferred"),
      toolNameCharacters: "word",
      developerRole: false,
      sampling: without("frequency_penalty", "presence_penalty", "logit_bias"),
      samplingWithoutReasoning: without("frequency_penalty", "presence_penalty", "logit_bias"),
    },
    models: [
      {
        match: /grok-3-mini/,
        source: ["https://docs.x.ai/docs/guides/reasoning#control-how-hard-the-model-thinks"],
        rules: { efforts: ["low", "high"] },
      },
      {
        match: /non-reasoning/,
        source: ["https://github.com/mnfst/modelparams.dev/pull/20"],
        rules: { stop: 4 },
      },
      {
        match: /multi-agent/,
        source: ["https://github.com/mnfst/modelparams.dev/pull/20"],
        rules: { endpoint: "responses" },
      },
      {
        match: /grok-(?:2|3)/,
        source: ["https://docs.x.ai/docs/api-reference#chat-completions"],
        rules: { stop: 4, sampling: without("logit_bias") },
      },
      {
        match: /grok-4\.3|grok-latest/,
        source: ["https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fxai@4.0.0-canary.61"],
        rules: { efforts: ["none", "low", "medium", "high"] },
      },
      {
        match: /grok-(?:4\.[5-9]|[5-9])/,
        source: ["https://github.com/anomalyco/opencode/issues/39448"],
        rules: { efforts: ["low", "medium", "high"] },
      },
    ],
  },

  moonshot: {
    source: [
      "https://platform.kimi.ai/docs/api/chat",
      "https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model",
    ],
    hosts: /^api\.moonshot\.(?:ai|cn)$/,
    rules: {
      efforts: [],
      fields: plus(USUAL_FIELDS, "prompt_cache_key", "safety_identifier"),
      messageFields: new Set(["name", "partial"]),
      stop: 5,
      toolNameCharacters: "word",
      developerRole: false,
    },
    models: [
      {
        // Sampling is fixed, other values are refused; an empty text counts as no reasoning.
        match: /kimi-(?:k2\.[5-9]|k[3-9]|latest|for-coding)/,
        source: [
          "https://github.com/theopenco/llmgateway/pull/2093",
          "https://github.com/theopenco/llmgateway/issues/3061",
          "https://github.com/simstudioai/sim/pull/5716",
          "https://github.com/HKUDS/nanobot/issues/3939",
        ],
        rules: {
          reasoningOff: "thinking",
          reasoningEcho: "reasoning_content",
          reasoningDemanded: " ",
          fields: plus(USUAL_FIELDS, "prompt_cache_key", "safety_identifier", "thinking"),
          toolChoice: "auto",
          sampling: NOTHING,
          samplingWithoutReasoning: NOTHING,
        },
      },
      {
        match: /thinking/,
        source: ["https://github.com/BerriAI/litellm/pull/23580"],
        rules: { reasoningEcho: "reasoning_content", reasoningDemanded: " ", toolChoice: "auto" },
      },
    ],
  },

  together: {
    source: [
      "https://docs.together.ai/reference/chat-completions-1",
      "https://docs.together.ai/docs/reasoning-overview",
    ],
    hosts: /^api\.together\.(?:xyz|ai)$/,
    rules: {
      ...OPEN,
      fields: plus(
        USUAL_FIELDS,
        ...OPEN_FIELDS,
        "reasoning",
        "chat_template_kwargs",
        "context_length_exceeded_behavior",
      ),
    },
    models: [
      gptOss("https://docs.together.ai/docs/gpt-oss"),
      {
        match: /deepseek-(?:r1|v[3-9])|kimi|glm|qwen3/i,
        source: ["https://docs.together.ai/docs/reasoning-overview"],
        rules: { reasoningEcho: "reasoning" },
      },
    ],
  },

  fireworks: {
    source: [
      "https://docs.fireworks.ai/api-reference/post-chatcompletions",
      // Unknown fields: extra inputs are not permitted.
      "https://github.com/web-infra-dev/midscene/issues/1322",
      "https://docs.fireworks.ai/guides/reasoning",
    ],
    hosts: /^api\.fireworks\.ai$/,
    rules: {
      ...OPEN,
      unknownFields: false,
      toolTypes: NOTHING,
      fields: plus(
        USUAL_FIELDS,
        ...OPEN_FIELDS,
        "typical_p mirostat_target mirostat_lr echo echo_last ignore_eos prompt_truncate_len",
        "context_length_exceeded_behavior perf_metrics_in_response raw_output prediction speculation",
        "reasoning_history thinking metadata prompt_cache_key prompt_cache_isolation_key functions",
      ),
      messageFields: NAME,
      stop: 4,
    },
    models: [
      gptOss("https://docs.fireworks.ai/guides/reasoning", { reasoningEcho: "reasoning_content" }),
      {
        match: /deepseek-(?:r1|v[3-9])|kimi|glm|qwen3|minimax/i,
        source: ["https://github.com/bubblelabai/BubbleLab/pull/360", "https://docs.fireworks.ai/guides/reasoning"],
        rules: { efforts: ["none", "low", "medium", "high"], reasoningEcho: "reasoning_content" },
      },
    ],
  },

  cerebras: {
    source: [
      "https://inference-docs.cerebras.ai/api-reference/chat-completions",
      "https://inference-docs.cerebras.ai/resources/openai",
      // Unknown fields, `reasoning` in messages.
      "https://github.com/proxysoul/Empryo/pull/209",
      "https://github.com/cline/cline/issues/13435",
      "https://github.com/dcdpr/jp/pull/531",
      // Its endpoints: no Responses among them.
      "https://inference-docs.cerebras.ai/api-reference",
    ],
    hosts: /^api\.cerebras\.ai$/,
    responsesApi: false,
    rules: {
      outputLimit: "max_completion_tokens",
      efforts: [],
      reasoningEcho: "reasoning",
      unknownFields: false,
      toolTypes: NOTHING,
      fields: plus(
        COMMON_FIELDS,
        "seed user logprobs top_logprobs prediction reasoning_format disable_reasoning",
        "clear_thinking",
      ),
      messageFields: NAME,
      stop: 4,
      toolNameCharacters: "word",
      sampling: without("frequency_penalty", "presence_penalty", "logit_bias"),
      samplingWithoutReasoning: without("frequency_penalty", "presence_penalty", "logit_bias"),
      schemaKeywords: [],
    },
    models: [
      gptOss("https://github.com/egoist/chatwise-releases/issues/1325"),
      { match: /zai-glm/, source: ["https://github.com/dcdpr/jp/pull/531"], rules: { efforts: ["none"] } },
    ],
  },

  perplexity: {
    source: [
      "https://docs.perplexity.ai/api-reference/chat-completions-post",
      "https://docs.getbifrost.ai/providers/supported-providers/perplexity",
    ],
    hosts: /^api\.perplexity\.ai$/,
    rules: {
      outputLimit: "max_tokens",
      efforts: [],
      fields: plus(
        ["messages", "temperature", "top_p", "max_tokens", "response_format", "frequency_penalty", "presence_penalty"],
        "reasoning_effort top_k search_mode search_domain_filter search_recency_filter language_preference",
        "return_images return_related_questions search_after_date_filter search_before_date_filter",
        "last_updated_after_filter last_updated_before_filter disable_search",
      ),
      refusedFields: refused("tools", "tool_choice", "parallel_tool_calls", "seed", "n", "user"),
      stop: 0,
      user: 0,
      // Every chunk tells it.
      streamOptions: false,
      developerRole: false,
      sampling: without("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: without("logprobs", "top_logprobs", "logit_bias"),
    },
    models: [
      {
        match: /reasoning|deep-research/,
        source: ["https://docs.perplexity.ai/api-reference/chat-completions-post"],
        rules: { efforts: ["minimal", "low", "medium", "high"] },
      },
    ],
  },

  alibaba: {
    source: [
      "https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference",
      "https://www.alibabacloud.com/help/en/model-studio/deep-thinking",
      // `developer` is not one of the roles.
      "https://github.com/proma-ai/Proma/issues/1496",
    ],
    hosts: /^(?:[a-z0-9-]+\.)*(?:dashscope[a-z-]*|maas)\.aliyuncs\.com$/,
    rules: {
      outputLimit: "max_tokens",
      efforts: [],
      reasoningOff: "enable_thinking",
      fields: plus(
        USUAL_FIELDS,
        "top_k repetition_penalty enable_thinking thinking_budget modalities audio vl_high_resolution_images",
      ),
      toolNameCharacters: "word",
      developerRole: false,
    },
    models: [
      {
        match: /^(?:deepseek|kimi|glm)/,
        source: [
          "https://www.alibabacloud.com/help/en/model-studio/glm",
          "https://api-docs.deepseek.com/guides/thinking_mode",
        ],
        rules: { reasoningEcho: "reasoning_content" },
      },
    ],
  },

  zai: {
    source: [
      "https://docs.bigmodel.cn/api-reference",
      "https://docs.z.ai/guides/capabilities/thinking-mode",
      "https://docs.z.ai/api-reference/llm/chat-completion",
      // No Responses endpoint.
      "https://github.com/Wei-Shaw/sub2api/pull/6463",
      "https://github.com/esengine/DeepSeek-Reasonix/issues/7200",
    ],
    hosts: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    responsesApi: false,
    rules: {
      outputLimit: "max_tokens",
      efforts: [],
      reasoningOff: "thinking",
      reasoningEcho: "reasoning_content",
      fields: plus(COMMON_FIELDS, "thinking", "do_sample", "request_id", "user_id", "tool_stream"),
      stop: 1,
      toolNameCharacters: "word",
      toolChoice: "auto",
      user: 0,
      developerRole: false,
      sampling: new Set(["temperature", "top_p"]),
      samplingWithoutReasoning: new Set(["temperature", "top_p"]),
    },
    models: [
      {
        match: /glm-5\.2/,
        source: ["https://docs.bigmodel.cn/api-reference"],
        rules: { efforts: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
      },
      {
        match: /glm-(?:5\.[3-9]|[6-9])/,
        source: [
          "https://docs.bigmodel.cn/api-reference",
          "https://dev.to/aihubmix/glm-53-api-guide-always-on-thinking-3-effort-levels-and-the-support-matrix-1d8e",
        ],
        rules: { efforts: ["low", "high", "max"], reasoningOff: "never" },
      },
    ],
  },

  nvidia: {
    source: [
      "https://docs.api.nvidia.com/nim/reference/llm-apis",
      // Unknown fields: extra_forbidden, "Unsupported parameter(s)".
      "https://github.com/NVIDIA/garak/issues/748",
      "https://github.com/NousResearch/hermes-agent/pull/77973",
    ],
    hosts: /^integrate\.api\.nvidia\.com$/,
    rules: {
      outputLimit: "max_tokens",
      efforts: [],
      unknownFields: false,
      toolTypes: NOTHING,
      fields: plus(USUAL_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "nvext", "reasoning_budget"),
      messageFields: NAME,
      developerRole: false,
    },
    models: [
      gptOss("https://github.com/NVIDIA-NeMo/Switchyard/pull/503"),
      {
        match: /nemotron-3-super/,
        source: ["https://github.com/mnfst/modelparams.dev/pull/48"],
        rules: { efforts: ["none", "low", "high"] },
      },
      {
        match: /nemotron-3-ultra/,
        source: ["https://github.com/mnfst/modelparams.dev/pull/48"],
        rules: { efforts: ["none", "medium", "high"] },
      },
      {
        match: /deepseek-v[4-9]/,
        source: ["https://github.com/NousResearch/hermes-agent/pull/19888"],
        rules: { efforts: ["high", "max"] },
      },
    ],
  },

  ollama: {
    source: [
      "https://docs.ollama.com/api/openai-compatibility",
      "https://github.com/ollama/ollama/blob/main/openai/openai.go",
    ],
    rules: { ...OPEN, reasoningEcho: "reasoning" },
    models: [
      gptOss("https://docs.ollama.com/capabilities/thinking"),
      {
        // Others: 400, "does not support thinking".
        match: /qwen3(?!-coder|.*instruct)|deepseek-(?:r1|v3\.1)|magistral|nemotron-3|glm-|kimi-.*thinking/,
        source: ["https://docs.ollama.com/capabilities/thinking", "https://ollama.com/search?c=thinking"],
        rules: { efforts: ["none", "low", "medium", "high"] },
      },
    ],
  },

  vllm: {
    source: [
      "https://docs.vllm.ai/en/latest/serving/openai_compatible_server",
      "https://docs.vllm.ai/en/latest/features/reasoning_outputs",
      "https://github.com/cloudflare/ai/releases/tag/workers-ai-provider%403.1.5",
    ],
    rules: {
      ...OPEN,
      outputLimit: "either",
      efforts: THREE_EFFORTS,
      reasoningEcho: "reasoning",
      developerRole: true,
      fields: plus(OPENAI_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "guided_json", "structured_outputs"),
    },
  },

  lmstudio: {
    source: [
      "https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670",
    ],
    rules: { ...OPEN, toolChoice: "strings" },
    models: [gptOss("https://lmstudio.ai/docs/developer/openai-compat/responses", { reasoningEcho: "reasoning" })],
  },

  llamacpp: {
    source: [
      "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
      "https://github.com/ggml-org/llama.cpp/blob/master/common/chat.cpp",
    ],
    rules: {
      ...OPEN,
      efforts: THREE_EFFORTS,
      reasoningEcho: "reasoning_content",
      toolChoice: "strings",
      fields: plus(OPENAI_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "cache_prompt", "grammar", "samplers"),
    },
  },

  generic: {
    source: ["decisions: nothing is known, so a chat client's body travels"],
    rules: { reasoningOff: "never" },
    models: [
      {
        match: /(?:^|\/)(?:o[134](?:-|$)|gpt-[5-9])/,
        source: ["@ai-sdk/openai dist/index.js getOpenAILanguageModelCapabilities"],
        rules: { outputLimit: "max_completion_tokens" },
      },
      {
        match: /deepseek|kimi|(?:^|\/)glm-/i,
        source: [
          "https://api-docs.deepseek.com/guides/thinking_mode",
          "https://docs.z.ai/guides/capabilities/thinking-mode",
        ],
        rules: { reasoningEcho: "reasoning_content" },
      },
    ],
  },
};
