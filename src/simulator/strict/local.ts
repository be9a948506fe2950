import { isJson, type Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";
import { shown } from "../shown.ts";
import { callsOf, formatTypeOf, messagesOf, objects, partsOf, refused, type Rule } from "./rule.ts";

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
    refuse: ({ body: { reasoning_effort: effort } }) =>
      effort === undefined || effort === null || ["none", "low", "medium", "high", "max"].includes(shown(effort))
        ? undefined
        : refused(`invalid reasoning value: '${shown(effort)}' (must be "high", "medium", "low", "max", or "none")`),
  },
  {
    source: "https://docs.ollama.com/api/openai-compatibility (Vision: base64 encoded images, no URLs)",
    refuse: ({ body }) =>
      messagesOf(body).some(({ value }) =>
        partsOf(value, "image_url").some(
          ({ image_url: image }) => !shown(isJson(image) ? image["url"] : image).startsWith("data:"),
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
    refuse: ({ body: { reasoning_effort: effort } }) =>
      effort === undefined || effort === null || ["none", "low", "medium", "high"].includes(shown(effort))
        ? undefined
        : vllmError(
            `[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "Input should be 'none', 'low', 'medium' or 'high'", 'input': '${shown(effort)}'}]`,
          ),
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

/** Servers that people run themselves. */
export const LOCAL = {
  ollama: OLLAMA,
  vllm: VLLM,
  lmstudio: LMSTUDIO,
  llamacpp: LLAMACPP,
} satisfies Readonly<Record<string, readonly Rule[]>>;
