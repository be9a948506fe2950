import { COMMON_FIELDS, USUAL_FIELDS } from "../canonical/parameters.ts";
import { alsoRefused, type Entry, NO_FIELDS, type RuledVendor, samplingWithout, withFields } from "./types.ts";

/** The APIs of those who make the models. A vendor is one entry and one file of cases in the tests. */
export const MAKERS = {
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
      fields: withFields(
        COMMON_FIELDS,
        "parallel_tool_calls seed n frequency_penalty presence_penalty prediction metadata",
        "random_seed safe_prompt prompt_mode guardrails prompt_cache_key",
      ),
      renamedFields: { seed: "random_seed" },
      messageFields: new Set(["prefix"]),
      toolNameCharacters: "word",
      parametersDemanded: true,
      // https://github.com/vegu-ai/talemate/issues/102
      maxTemperature: 1.5,
      user: 0,
      streamOptions: false,
      developerRole: false,
      toolCallIds: "mistral",
      sampling: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
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
      // "max of 128 functions": https://api-docs.deepseek.com/api/create-chat-completion
      maxTools: 128,
      fields: withFields(USUAL_FIELDS, "thinking", "user_id", "prefix"),
      stop: 16,
      toolNameCharacters: "word",
      developerRole: false,
      structuredOutput: "never",
    },
    models: [
      {
        // "the valid range of max_tokens is [1, 8192]"
        match: /^deepseek-chat$/,
        source: ["https://github.com/we0-dev/we0/issues/56"],
        rules: { maxOutput: 8_192 },
      },
      {
        // Thinking models take no forced choice of a tool.
        match: /reasoner|-r1|-v4|flash|pro/,
        source: [
          "https://api-docs.deepseek.com/guides/reasoning_model",
          "https://github.com/deepseek-ai/DeepSeek-R1/issues/836",
        ],
        rules: {
          toolChoice: "auto",
          sampling: samplingWithout("logprobs", "top_logprobs"),
          samplingWithoutReasoning: samplingWithout("logprobs", "top_logprobs"),
        },
      },
    ],
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
      // https://github.com/router-for-me/CLIProxyAPI/issues/5214
      maxTools: 200,
      fields: withFields(USUAL_FIELDS, "deferred"),
      toolNameCharacters: "word",
      developerRole: false,
      sampling: samplingWithout("frequency_penalty", "presence_penalty", "logit_bias"),
      samplingWithoutReasoning: samplingWithout("frequency_penalty", "presence_penalty", "logit_bias"),
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
        rules: { stop: 4 },
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
      fields: withFields(USUAL_FIELDS, "prompt_cache_key", "safety_identifier"),
      messageFields: new Set(["name", "partial"]),
      // https://platform.kimi.ai/docs/api/chat (temperature: 0 to 1)
      maxTemperature: 1,
      stop: 5,
      // https://platform.kimi.ai/docs/api/chat (tools)
      maxTools: 128,
      toolNameCharacters: "word",
      // "function name is invalid, must start with a letter"
      toolNameStart: /^[a-z]/i,
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
          fields: withFields(USUAL_FIELDS, "prompt_cache_key", "safety_identifier", "thinking"),
          toolChoice: "auto",
          sampling: NO_FIELDS,
          samplingWithoutReasoning: NO_FIELDS,
        },
      },
      {
        match: /thinking/,
        source: ["https://github.com/BerriAI/litellm/pull/23580"],
        rules: { reasoningEcho: "reasoning_content", reasoningDemanded: " ", toolChoice: "auto" },
      },
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
      fields: withFields(
        ["messages", "temperature", "top_p", "max_tokens", "response_format", "frequency_penalty", "presence_penalty"],
        "reasoning_effort top_k search_mode search_domain_filter search_recency_filter language_preference",
        "return_images return_related_questions search_after_date_filter search_before_date_filter",
        "last_updated_after_filter last_updated_before_filter disable_search",
      ),
      refusedFields: alsoRefused("tools", "tool_choice", "parallel_tool_calls", "seed", "n", "user"),
      stop: 0,
      user: 0,
      // https://docs.perplexity.ai/api-reference/chat-completions-post (temperature: below 2)
      maxTemperature: 1.99,
      // It is in every chunk.
      streamOptions: false,
      // A schema, or a regular expression: https://docs.perplexity.ai/guides/structured-outputs
      jsonObject: "never",
      developerRole: false,
      sampling: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
      samplingWithoutReasoning: samplingWithout("logprobs", "top_logprobs", "logit_bias"),
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
      fields: withFields(
        USUAL_FIELDS,
        "top_k repetition_penalty enable_thinking thinking_budget modalities audio vl_high_resolution_images",
      ),
      toolNameCharacters: "word",
      developerRole: false,
    },
    models: [
      {
        // They think unless told not to: "The tool_choice parameter does not support being set to required or object".
        match: /^(?:qwq|qvq|qwen3\.[5-9]|qwen.*thinking)/,
        source: ["https://github.com/cloudwego/eino/issues/994", "https://github.com/can1357/oh-my-pi/issues/886"],
        rules: { toolChoice: "auto" },
      },
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
      fields: withFields(COMMON_FIELDS, "thinking", "do_sample", "request_id", "user_id", "tool_stream"),
      stop: 1,
      toolNameCharacters: "word",
      toolChoice: "auto",
      // https://docs.z.ai/api-reference/llm/chat-completion (temperature: 0 to 1)
      maxTemperature: 1,
      // https://docs.z.ai/api-reference/llm/chat-completion (tools, response_format: text and json_object)
      maxTools: 128,
      structuredOutput: "never",
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
} satisfies Partial<Record<RuledVendor, Entry>>;
