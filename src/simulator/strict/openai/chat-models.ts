import { asNumber, badParameter, SimError } from "../../fields.ts";
import { firstRefusal, formatTypeOf, isGiven, messagesOf, objects, partsOf, type Rule } from "../rule.ts";
import { badEffort, badSampling, REASONING, thinks, unsupported } from "./limits.ts";

const PLAIN = /^(?:gpt-(?:3|4)|chatgpt|gpt-5-chat)/;
/** Only at `/v1/responses`. */
const RESPONSES_ONLY = /^(?:o1-pro|o3-pro|gpt-5[^ ]*-(?:pro|codex)|codex-|computer-use)/;
const SEARCH_REFUSES = "temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs n".split(
  " ",
);

/** The most tokens of an answer, the first that fits. */
const OUTPUTS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-4\.1/, 32_768],
  [/^(?:gpt-4o-2024-05-13|gpt-4-(?:turbo|0125|1106|vision)|gpt-3\.5)/, 4_096],
  [/^(?:gpt-4o|gpt-4\.5|chatgpt|gpt-5(?:\.\d)?-chat|gpt-audio)/, 16_384],
  [/^gpt-4/, 8_192],
  [/^o1-preview/, 32_768],
  [/^o1-mini/, 65_536],
  [/^o\d/, 100_000],
  [/^gpt-(?:5|6)/, 128_000],
];

/** What only some models refuse. */
export const MODELS: readonly Rule[] = [
  {
    source:
      "https://github.com/tommasodotNET/agent-framework-aspire/issues/17, https://github.com/alvinunreal/tmuxai/issues/82",
    models: RESPONSES_ONLY,
    refuse: () =>
      new SimError(404, "This model is only supported in v1/responses and not in v1/chat/completions.", {
        param: "model",
      }),
  },
  {
    source: "fixtures vercel-ai/openai/chat/reasoning-model-legacy-parameter-error.json",
    models: REASONING,
    refuse: ({ body }) =>
      isGiven(body, "max_tokens") ? unsupported("max_tokens", " Use 'max_completion_tokens' instead.") : undefined,
  },
  {
    source: "https://github.com/davidmigloz/langchain_dart/issues/712, https://github.com/umputun/tg-spam/issues/304",
    models: PLAIN,
    refuse: ({ body }) =>
      isGiven(body, "reasoning_effort")
        ? new SimError(400, "Unrecognized request argument supplied: reasoning_effort")
        : undefined,
  },
  {
    source:
      "https://github.com/Kilo-Org/cloud/pull/3807, https://github.com/rikkahub/rikkahub/pull/1037, @ai-sdk/openai dist/index.js getOpenAILanguageModelCapabilities",
    models: REASONING,
    refuse: ({ model, body }) => badEffort("reasoning_effort", body["reasoning_effort"], model),
  },
  {
    source: "https://github.com/griptape-ai/griptape/issues/1915, @ai-sdk/openai dist/index.js (isReasoningModel)",
    models: REASONING,
    refuse: ({ model, body }) => badSampling(body, thinks(model, body["reasoning_effort"])),
  },
  {
    source: "https://github.com/huggingface/smolagents/issues/1671, https://github.com/langgenius/dify/issues/18971",
    models: /^(?:o3(?!-mini)|o4|gpt-[5-9](?![^ ]*-chat))/,
    refuse: ({ body }) => (isGiven(body, "stop") ? unsupported("stop") : undefined),
  },
  {
    source:
      "https://github.com/openai/openai-openapi/issues/541, https://github.com/pipecat-ai/pipecat/issues/4043, https://github.com/BerriAI/litellm/pull/34569",
    models: /^gpt-(?:5\.[4-9]|[6-9])(?![^ ]*-chat)/,
    refuse: ({ model, body }) =>
      objects(body["tools"]).length > 0 && thinks(model, body["reasoning_effort"])
        ? badParameter(
            "reasoning_effort",
            `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
          )
        : undefined,
  },
  {
    source:
      "https://github.com/enoch3712/ExtractThinker/issues/346 (wording), https://platform.openai.com/docs/models (maximum output of each)",
    refuse: ({ model, body }) => {
      const max = OUTPUTS.find(([pattern]) => pattern.test(model))?.[1] ?? Infinity;
      const name = isGiven(body, "max_tokens") ? "max_tokens" : "max_completion_tokens";
      const asked = asNumber(body[name]);
      if (asked <= max) return undefined;
      const message = `${name} is too large: ${asked}. This model supports at most ${max} completion tokens, whereas you provided ${asked}.`;
      return badParameter(name, message, "invalid_value");
    },
  },
  {
    source:
      "https://github.com/microsoft/agent-framework/issues/1077, https://github.com/QuantumNous/new-api/issues/847",
    models: /^o1-(?:mini|preview)/,
    refuse: ({ body }) =>
      firstRefusal(messagesOf(body), ({ at, value }) =>
        value["role"] === "system" || value["role"] === "developer"
          ? badParameter(
              `${at}.role`,
              `Unsupported value: '${at}.role' does not support '${value["role"]}' with this model.`,
              "unsupported_value",
            )
          : undefined,
      ),
  },
  {
    source:
      "https://github.com/evalstate/fast-agent/issues/279, https://github.com/langchain-ai/langchain/issues/29704",
    models: /^o\d/,
    refuse: ({ body }) => (isGiven(body, "parallel_tool_calls") ? unsupported("parallel_tool_calls") : undefined),
  },
  {
    source: "https://github.com/browser-use/web-ui/issues/274, https://github.com/vllm-project/vllm/issues/11629",
    models: /^(?:o1-mini|o3-mini|gpt-3\.5|gpt-4(?:-0|$))/,
    refuse: ({ body }) =>
      messagesOf(body).some(({ value }) => partsOf(value, "image_url").length > 0)
        ? new SimError(400, "Invalid content type. image_url is only supported by certain models.", {
            param: "messages.[0].content.[0].type",
          })
        : undefined,
  },
  {
    source: "https://github.com/google-deepmind/concordia/issues/164",
    models: /^gpt-4/,
    refuse: ({ body }) =>
      typeof body["verbosity"] === "string" && body["verbosity"] !== "medium"
        ? badParameter(
            "verbosity",
            `Unsupported value: 'verbosity' does not support '${body["verbosity"]}' with this model. Supported values are: 'medium'.`,
            "unsupported_value",
          )
        : undefined,
  },
  {
    source:
      "https://platform.openai.com/docs/guides/structured-outputs#supported-models (gpt-4o-2024-08-06 and later), https://github.com/enricoros/big-AGI/issues/947 (form)",
    models: /^(?:gpt-3\.5|gpt-4(?:-|$)|gpt-4o-2024-05-13|o1-(?:mini|preview))/,
    refuse: ({ body }) =>
      formatTypeOf(body) === "json_schema"
        ? badParameter(
            "response_format",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
          )
        : undefined,
  },
  {
    source: "https://github.com/TheR1D/shell_gpt/issues/717",
    models: /^o\d/,
    refuse: ({ body }) =>
      firstRefusal(messagesOf(body), ({ at, value }) =>
        value["role"] === "function"
          ? badParameter(
              `${at}.role`,
              `Unsupported value: '${at}.role' does not support 'function' with this model.`,
              "unsupported_value",
            )
          : undefined,
      ),
  },
  {
    source: "https://github.com/cpbotha/obsidian-ai-chat-as-md/issues/5",
    models: /^(?:gpt-[34]|chatgpt)(?!.*search)/,
    refuse: ({ body }) =>
      isGiven(body, "web_search_options")
        ? badParameter("web_search_options", "Web search options not supported with this model.")
        : undefined,
  },
  {
    source: "https://github.com/BerriAI/litellm/issues/12311",
    models: REASONING,
    refuse: ({ model, body }) =>
      isGiven(body, "web_search_options") && !/search/.test(model)
        ? badParameter("web_search_options", "Unknown parameter: 'web_search_options'.", "unknown_parameter")
        : undefined,
  },
  {
    source: "https://github.com/vercel/ai/pull/5647 (temperature), @ai-sdk/openai dist/index.js (the others)",
    models: /search-preview/,
    refuse: ({ body }) => {
      const name = SEARCH_REFUSES.find((one) => isGiven(body, one));
      if (name === undefined) return undefined;
      return new SimError(400, `Model incompatible request argument supplied: ${name}`);
    },
  },
];
