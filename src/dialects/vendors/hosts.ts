import { COMMON_FIELDS, OPEN_FIELDS, OPENAI_FIELDS, USUAL_FIELDS } from "../canonical/parameters.ts";
import {
  alsoRefused,
  type Entry,
  type ModelEntry,
  NO_FIELDS,
  type RuledVendor,
  type Rules,
  samplingWithout,
  withFields,
} from "./types.ts";

/** A server of open models: nothing is refused for being unknown. */
const OPEN: Partial<Rules> = {
  outputLimit: "max_tokens",
  fields: withFields(OPENAI_FIELDS, ...OPEN_FIELDS),
  efforts: [],
  developerRole: false,
};

const THREE_EFFORTS = ["low", "medium", "high"] as const;
const GPT_OSS = /(?:^|[/:-])gpt-oss/i;
const gptOss = (source: string, rules: Partial<Rules> = {}): ModelEntry => ({
  match: GPT_OSS,
  source: [source],
  rules: { efforts: THREE_EFFORTS, ...rules },
});

const NAME = new Set(["name"]);

/** Servers of models that others make, hosted ones first. A vendor is one entry and one file of cases in the tests. */
export const HOSTS = {
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
      // "'tools' : maximum number of items is 128"
      "https://github.com/HunorLaczko/ha-groq-cloud-api/issues/25",
    ],
    hosts: /^api\.groq\.com$/,
    rules: {
      outputLimit: "max_completion_tokens",
      efforts: [],
      unknownFields: false,
      fields: withFields(
        USUAL_FIELDS,
        "metadata store reasoning_format include_reasoning documents citation_options",
        "disable_tool_validation exclude_domains include_domains",
      ),
      messageFields: NO_FIELDS,
      refusedFields: alsoRefused("n"),
      stop: 4,
      toolNameCharacters: "word",
      developerRole: false,
      sampling: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
      structuredOutput: "never",
      jsonObjectBesideTools: false,
      maxTools: 128,
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
      // Rules for ids of tool calls are those of the models behind it.
      "https://github.com/openclaw/openclaw/pull/875",
    ],
    hosts: /^(?:[a-z]+\.)?openrouter\.ai$/,
    rules: {
      efforts: ["none", "minimal", "low", "medium", "high", "xhigh"],
      reasoningEcho: "reasoning_details",
      fields: withFields(
        OPENAI_FIELDS,
        ...OPEN_FIELDS,
        "top_a reasoning include_reasoning structured_outputs usage session_id trace",
      ),
      stop: 4,
      toolNameCharacters: "word",
      user: 128,
      toolCallId: 40,
    },
    models: [
      {
        // "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
        match: /claude-(?:3[.-]7|(?:opus|sonnet|haiku)-4(?:[.-][0-5])?(?![.\d-]))/i,
        source: ["https://github.com/OpenRouterTeam/ai-sdk-provider/issues/162"],
        rules: { thoughtDemanded: true },
      },
      {
        // "Sampling parameters and assistant prefill are removed."
        match: /claude-(?:(?:opus|sonnet|haiku)-(?:4[.-][6-9]|[5-9])|fable|mythos)/i,
        source: ["https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/claude-5-5"],
        rules: { prefill: "closed" },
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
      stopList: true,
      fields: withFields(
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
      fields: withFields(
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
      fields: withFields(
        COMMON_FIELDS,
        "seed user logprobs top_logprobs prediction reasoning_format disable_reasoning",
        "clear_thinking",
      ),
      messageFields: NAME,
      stop: 4,
      toolNameCharacters: "word",
      sampling: samplingWithout("frequency_penalty", "presence_penalty", "logit_bias"),
      samplingWithoutReasoning: samplingWithout("frequency_penalty", "presence_penalty", "logit_bias"),
      schemaKeywords: [],
      // "`tools` and `response_format` cannot be used in the same request":
      // https://inference-docs.cerebras.ai/capabilities/structured-outputs
      structuredOutput: "alone",
      jsonObjectBesideTools: false,
    },
    models: [
      gptOss("https://github.com/egoist/chatwise-releases/issues/1325"),
      { match: /zai-glm/, source: ["https://github.com/dcdpr/jp/pull/531"], rules: { efforts: ["none"] } },
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
      fields: withFields(USUAL_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "nvext", "reasoning_budget"),
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
      fields: withFields(OPENAI_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "guided_json", "structured_outputs"),
    },
  },

  lmstudio: {
    source: [
      "https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670",
      // "'response_format.type' must be 'json_schema' or 'text'"
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189",
    ],
    rules: { ...OPEN, toolChoice: "strings", jsonObject: "schema" },
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
      fields: withFields(OPENAI_FIELDS, ...OPEN_FIELDS, "chat_template_kwargs", "cache_prompt", "grammar", "samplers"),
    },
    models: [
      {
        // "Cannot pass both content and thinking in an assistant message with tool calls!"
        match: GPT_OSS,
        source: ["https://github.com/ggml-org/llama.cpp/issues/17040"],
        rules: { reasoningBesideText: false },
      },
    ],
  },
} satisfies Partial<Record<RuledVendor, Entry>>;
