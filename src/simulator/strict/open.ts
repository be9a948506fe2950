import { type Json, isJson } from "../../kit/index.ts";
import { asText, SimError } from "../fields.ts";
import {
  callsOf,
  formatTypeOf,
  isGiven,
  messagesOf,
  objects,
  partsOf,
  refused,
  type Rule,
  unknownEffort,
  unknownRole,
} from "./rule.ts";

function xaiError(error: string): SimError {
  return new SimError(400, error, { body: { code: "invalid-argument", error } });
}

const XAI_EFFORTS: readonly (readonly [RegExp, string])[] = [
  [/^grok-3-mini/, "low high"],
  [/^grok-4\.3/, "none low medium high"],
  [/^grok-4\.20-multi-agent/, "low medium high xhigh"],
  [/^grok-4\.(?:[5-9])(?!\d)/, "low medium high"],
];

const XAI: readonly Rule[] = [
  {
    source:
      "https://github.com/yym68686/uni-api/issues/105, https://github.com/miaoxworld/NativeTavern/issues/83, https://github.com/can1357/oh-my-pi/pull/7454, https://docs.x.ai/developers/model-capabilities/text/reasoning",
    refuse: ({ model, body }) => {
      const reasons = /^grok-(?:3-mini|4|code|build)/.test(model) && !/non-reasoning/.test(model);
      const name = isGiven(body, "presence_penalty")
        ? "presencePenalty"
        : isGiven(body, "frequency_penalty")
          ? "frequencyPenalty"
          : reasons && isGiven(body, "stop")
            ? "stop"
            : undefined;
      return name === undefined ? undefined : xaiError(`Model ${model} does not support parameter ${name}.`);
    },
  },
  {
    source:
      "https://github.com/NousResearch/hermes-agent/pull/23435, https://github.com/chenyme/grok2api/issues/814, https://github.com/theopenco/llmgateway/pull/3046",
    refuse: ({ model, body }) => {
      if (!isGiven(body, "reasoning_effort")) return undefined;
      const known = XAI_EFFORTS.find(([pattern]) => pattern.test(model))?.[1];
      if (known === undefined) return xaiError(`Model ${model} does not support parameter reasoningEffort.`);
      const effort = unknownEffort(body, known);
      return effort === undefined ? undefined : xaiError(`Invalid reasoning effort: ${effort}`);
    },
  },
];

const TOGETHER: readonly Rule[] = [
  {
    source:
      "https://github.com/SWE-agent/SWE-agent/issues/135, https://github.com/mozilla-ai/any-llm/issues/714, https://github.com/togethercomputer/openapi (roles, stop)",
    refuse: ({ body }) => {
      const good =
        unknownRole(body, ["system", "user", "assistant", "tool", "function"]) === undefined &&
        (body["stop"] === undefined || body["stop"] === null || Array.isArray(body["stop"]));
      if (good) return undefined;
      const message = "Input validation error";
      return new SimError(400, message, {
        body: { id: "simulated", error: { message, type: "invalid_request_error", param: null, code: null } },
      });
    },
  },
];

function perplexityError(message: string): SimError {
  return new SimError(400, message, { body: { error: { message, type: "invalid_message", code: 400 } } });
}

const PERPLEXITY: readonly Rule[] = [
  {
    source: "https://github.com/BerriAI/litellm/issues/11665",
    refuse: ({ body }) => {
      const problems = messagesOf(body).flatMap(({ value }, index) => [
        ...(value["content"] === undefined || value["content"] === null
          ? [`At body -> messages -> ${index} -> content: Field required`]
          : []),
        ...(["system", "user", "assistant"].includes(asText(value["role"]))
          ? []
          : [`At body -> messages -> ${index} -> role: Input should be 'system', 'user' or 'assistant'`]),
      ]);
      if (problems.length === 0) return undefined;
      const message = JSON.stringify(problems);
      return new SimError(400, message, { body: { error: { message, type: "bad_request", code: 400 } } });
    },
  },
  {
    source:
      "https://github.com/perplexityai/api-discussion/issues/265, https://github.com/FoundationAgents/OpenManus/issues/580",
    refuse: ({ body }) => {
      const roles = messagesOf(body).map(({ value }) => value["role"]);
      const begin = roles.findIndex((role) => role !== "system");
      const conversation = begin < 0 ? [] : roles.slice(begin);
      if (conversation.every((role, index) => role === (index % 2 === 0 ? "user" : "assistant"))) return undefined;
      return perplexityError("After the (optional) system message(s), user and assistant roles should be alternating.");
    },
  },
  {
    source: "https://docs.perplexity.ai/api-reference/chat-completions-post (messages: the last is the user's)",
    refuse: ({ body }) =>
      messagesOf(body).at(-1)?.value["role"] === "user"
        ? undefined
        : perplexityError("Last message must have role `user`."),
  },
];

function zaiError(code: string, message: string): SimError {
  return new SimError(400, message, { body: { error: { code, message } } });
}

const ZAI: readonly Rule[] = [
  {
    source:
      "https://github.com/anomalyco/opencode/issues/2557, https://github.com/MetaGLM/zhipuai-sdk-python-v4/issues/14, https://docs.z.ai/api-reference/llm/chat-completion (roles)",
    refuse: ({ body }) =>
      unknownRole(body, ["system", "user", "assistant", "tool"]) ||
      !messagesOf(body).some(({ value }) => value["role"] === "user")
        ? zaiError("1214", "The messages parameter is illegal. Please check the documentation.")
        : undefined,
  },
  {
    source:
      "https://github.com/cline/cline/issues/9939, https://docs.z.ai/api-reference/llm/chat-completion (tool_choice: auto alone; stop: one word)",
    refuse: ({ body: { tool_choice: choice, stop } }) =>
      (choice !== undefined && choice !== "auto" && choice !== "none") || (Array.isArray(stop) && stop.length > 1)
        ? zaiError("1210", "Invalid API parameter, please check the documentation.")
        : undefined,
  },
];

const OPENROUTER: readonly Rule[] = [
  {
    source: "https://github.com/danny-avila/LibreChat/issues/6076",
    refuse: ({ body }) =>
      body["reasoning"] !== undefined && body["reasoning_effort"] !== undefined
        ? new SimError(400, 'Only one of "reasoning" and "reasoning_effort" may be provided', {
            body: {
              error: { message: 'Only one of "reasoning" and "reasoning_effort" may be provided', code: 400 },
            },
          })
        : undefined,
  },
  {
    source: "https://github.com/omeryasirkucuk/amx/pull/66",
    refuse: ({ body: { reasoning } }) => {
      if (!isJson(reasoning) || reasoning["effort"] === undefined || reasoning["max_tokens"] === undefined)
        return undefined;
      const message = 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified';
      return new SimError(400, message, { body: { error: { message, code: 400 } } });
    },
  },
  {
    source: "https://github.com/OpenRouterTeam/ai-sdk-provider/issues/162",
    models: /claude-(?:3[.-]7|(?:opus|sonnet|haiku)-4(?:[.-][0-5])?(?![.\d-]))/,
    refuse: ({ body }) => {
      if (!unthoughtClaude(body)) return undefined;
      const message =
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).";
      return new SimError(400, message, { body: { error: { message, code: 400 } } });
    },
  },
];

/** Whether a Claude model that needs a thought at the beginning of its last calls is asked to think without one. */
function unthoughtClaude(body: Json): boolean {
  const { reasoning, reasoning_effort: effort } = body;
  const asks = (effort !== undefined && effort !== "none") || (isJson(reasoning) && reasoning["enabled"] !== false);
  const final = objects(body["messages"]).findLast(({ role }) => role === "assistant");
  const isThought = objects(final?.["reasoning_details"]).some(({ signature, data }) => Boolean(signature ?? data));
  return asks && objects(final?.["tool_calls"]).length > 0 && !isThought;
}

const OLLAMA: readonly Rule[] = [
  {
    source: "https://github.com/Gitlawb/openclaude/issues/1371, https://github.com/taketwo/llm-ollama/pull/54",
    models: /llama3|llama-3|gemma3|qwen2|mistral(?!-small)|phi/,
    refuse: ({ model, body: { reasoning_effort: effort } }) =>
      effort === undefined || effort === null || effort === "none"
        ? undefined
        : refused(`"${model}" does not support thinking`, 400, "invalid_request_error"),
  },
  {
    source: "https://github.com/ollama/ollama/issues/12561, https://github.com/open-webui/docs/pull/1394 (levels)",
    refuse: ({ body }) => {
      const effort = unknownEffort(body, "none low medium high max");
      if (effort === undefined) return undefined;
      return refused(`invalid reasoning value: '${effort}' (must be "high", "medium", "low", "max", or "none")`);
    },
  },
  {
    source: "https://docs.ollama.com/api/openai-compatibility (Vision: base64 encoded images, no URLs)",
    refuse: ({ body }) =>
      messagesOf(body).some(({ value }) =>
        partsOf(value, "image_url").some(
          ({ image_url: image }) => !asText(isJson(image) ? image["url"] : image).startsWith("data:"),
        ),
      )
        ? refused("invalid image input")
        : undefined,
  },
];

const VLLM: readonly Rule[] = [
  {
    source:
      "https://github.com/vllm-project/vllm vllm/entrypoints/openai/chat_completion/protocol.py (reasoning_effort)",
    refuse: ({ body }) => {
      const effort = unknownEffort(body, "none low medium high");
      if (effort === undefined) return undefined;
      return vllmError(
        `[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "Input should be 'none', 'low', 'medium' or 'high'", 'input': '${effort}'}]`,
      );
    },
  },
  {
    source:
      "https://github.com/vllm-project/vllm vllm/entrypoints/openai/chat_completion/protocol.py (check_tool_usage)",
    refuse: ({ body }) => {
      const { tool_choice: choice, tools } = body;
      if (choice === undefined || choice === null || choice === "none" || objects(tools).length > 0) return undefined;
      return vllmError("When using `tool_choice`, `tools` must be set.");
    },
  },
  {
    source: "https://github.com/ggml-org/llama.cpp/pull/20215 (Qwen's template)",
    models: /qwen3\.[5-9]/i,
    refuse: ({ body }) => (lateSystem(body) ? vllmError("System message must be at the beginning.") : undefined),
  },
];

function vllmError(message: string): SimError {
  return new SimError(400, message, {
    body: { error: { message, type: "BadRequestError", param: null, code: 400 } },
  });
}

function lateSystem(body: Json): boolean {
  return messagesOf(body).some(({ value }, index) => index > 0 && value["role"] === "system");
}

const LMSTUDIO: readonly Rule[] = [
  {
    source:
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189, https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/307",
    refuse: ({ body }) => {
      const type = formatTypeOf(body);
      if (type === undefined || type === "json_schema" || type === "text") return undefined;
      const error = "'response_format.type' must be 'json_schema' or 'text'";
      return new SimError(400, error, { body: { error } });
    },
  },
  {
    source:
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670, https://github.com/antropia-studio/linguito/issues/21",
    refuse: ({ body }) => {
      if (!isJson(body["tool_choice"])) return undefined;
      const error = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
      return new SimError(400, error, { body: { error } });
    },
  },
];

function llamaError(message: string): SimError {
  return new SimError(400, message, { body: { error: { code: 400, message, type: "invalid_request_error" } } });
}

const LLAMACPP: readonly Rule[] = [
  {
    source: "https://github.com/ggml-org/llama.cpp/issues/20861, https://github.com/ggml-org/llama.cpp/pull/15404",
    models: /qwen3|gpt-oss|granite-3/i,
    refuse: ({ body }) =>
      messagesOf(body).at(-1)?.value["role"] === "assistant"
        ? llamaError("Assistant response prefill is incompatible with enable_thinking.")
        : undefined,
  },
  {
    source: "https://github.com/ggml-org/llama.cpp/issues/17040",
    models: /gpt-oss/,
    refuse: ({ body }) =>
      callsOf(body).length > 0 &&
      messagesOf(body).some(
        ({ value }) =>
          objects(value["tool_calls"]).length > 0 && value["content"] && typeof value["reasoning_content"] === "string",
      )
        ? llamaError(
            "Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the other, but not both.",
          )
        : undefined,
  },
  {
    source: "https://github.com/ggml-org/llama.cpp/pull/20215",
    models: /qwen3\.[5-9]/i,
    refuse: ({ body }) => (lateSystem(body) ? llamaError("System message must be at the beginning.") : undefined),
  },
];

/** Vendors that pass over what they do not know, servers that people run themselves among them. */
export const OPEN = {
  xai: XAI,
  together: TOGETHER,
  perplexity: PERPLEXITY,
  zai: ZAI,
  openrouter: OPENROUTER,
  ollama: OLLAMA,
  vllm: VLLM,
  lmstudio: LMSTUDIO,
  llamacpp: LLAMACPP,
} satisfies Readonly<Record<string, readonly Rule[]>>;
