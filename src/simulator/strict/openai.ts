import { type Json, isJson } from "../../kit/index.ts";
import { asNumber, asText, badParameter, SimError } from "../fields.ts";
import {
  badEffort,
  badMetadata,
  badName,
  badSampling,
  looseProblem,
  manyItems,
  REASONING,
  strictProblem,
  thinks,
  tooLong,
  unsupported,
  MAXIMUM_USER_CHARACTERS,
} from "./openai-limits.ts";
import {
  callsOf,
  firstRefusal,
  formatTypeOf,
  functionsOf,
  isGiven,
  messagesOf,
  objects,
  partsOf,
  type Rule,
  textOf,
  unknownNames,
  wordSet,
} from "./rule.ts";

/** Fields of a chat completion: openai resources/chat/completions/completions.d.ts, ChatCompletionCreateParamsBase. */
const FIELDS = wordSet(
  "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens " +
    "max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key " +
    "prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed " +
    "service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity " +
    "web_search_options",
);
const MAXIMUM_STOPS = 4;
const MAXIMUM_TOOLS = 128;
const MAXIMUM_CALL_ID_CHARACTERS = 40;
const PLAIN = /^(?:gpt-(?:3|4)|chatgpt|gpt-5(?:\.\d)?-chat)/;
/** Only at `/v1/responses`. */
const RESPONSES_ONLY = /^(?:o1-pro|o3-pro|gpt-5[^ ]*-(?:pro|codex)|codex-|computer-use)/;

/** What must be true of any request, whatever the model. Unknown fields of messages are passed over. */
const FORM: readonly Rule[] = [
  {
    source: "https://github.com/davidmigloz/langchain_dart/issues/712, https://github.com/BerriAI/litellm/pull/24468",
    refuse: ({ body }) => {
      const unknown = unknownNames(body, FIELDS);
      if (unknown.length === 0) return undefined;
      const s = unknown.length > 1 ? "s" : "";
      return new SimError(400, `Unrecognized request argument${s} supplied: ${unknown.join(", ")}`);
    },
  },
  {
    source: "https://github.com/maximhq/bifrost/pull/1000, https://github.com/looplj/axonhub/issues/1669",
    refuse: ({ body }) => tooLong("user", body["user"], MAXIMUM_USER_CHARACTERS),
  },
  {
    source: "https://github.com/nanbingxyz/5ire/issues/403",
    refuse: ({ body }) =>
      firstRefusal([...functionsOf(body), ...callsOf(body).map(calledFunction)], ({ at, value }) =>
        badName(`${at}.name`, value["name"]),
      ),
  },
  {
    source: "https://github.com/vercel/ai/issues/5171",
    refuse: ({ body }) =>
      firstRefusal(callsOf(body), ({ at, value }) => tooLong(`${at}.id`, value["id"], MAXIMUM_CALL_ID_CHARACTERS)) ??
      firstRefusal(messagesOf(body), ({ at, value }) =>
        tooLong(`${at}.tool_call_id`, value["tool_call_id"], MAXIMUM_CALL_ID_CHARACTERS),
      ),
  },
  {
    source: "https://github.com/continuedev/continue/issues/2461, https://github.com/BerriAI/litellm/issues/18921",
    refuse: ({ body }) => manyItems("stop", body["stop"], MAXIMUM_STOPS),
  },
  {
    source: "https://github.com/vishalmysore/Tools4AI/issues/16",
    refuse: ({ body }) => manyItems("tools", body["tools"], MAXIMUM_TOOLS),
  },
  {
    source: "https://github.com/baptisteArno/typebot.io/issues/1205",
    refuse: ({ body }) =>
      Array.isArray(body["tools"]) && body["tools"].length === 0
        ? badParameter(
            "tools",
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "empty_array",
          )
        : undefined,
  },
  {
    source: "https://platform.openai.com/docs/api-reference/chat/create#chat-create-metadata",
    refuse: ({ body }) => badMetadata(body),
  },
  {
    source: "https://github.com/writer/writer-framework/pull/1013",
    refuse: ({ body }) => {
      if (objects(body["tools"]).length > 0) return undefined;
      const name = ["tool_choice", "parallel_tool_calls"].find((one) => body[one] !== undefined && body[one] !== null);
      if (name === undefined) return undefined;
      const message = `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`;
      return badParameter(name, message);
    },
  },
  {
    source: "https://github.com/miurla/morphic/issues/136, https://github.com/microsoft/promptflow/pull/3130",
    refuse: ({ body }) => badToolTurns(body),
  },
  {
    source: "https://github.com/agno-agi/agno/pull/5317",
    refuse: ({ body }) =>
      formatTypeOf(body) === "json_object" && !/json/i.test(textOf(body))
        ? badParameter(
            "messages",
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
          )
        : undefined,
  },
  {
    source: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    refuse: ({ body }) => badFormat(body),
  },
  {
    source:
      "https://github.com/modelscope/ms-agent/pull/610, https://platform.openai.com/docs/guides/function-calling#strict-mode",
    refuse: ({ body }) =>
      firstRefusal(functionsOf(body), ({ at, value }) => {
        const { parameters, strict, name } = value;
        const problem = strict === true ? strictProblem(parameters) : looseProblem(parameters);
        if (problem === undefined) return undefined;
        const message = `Invalid schema for function '${asText(name)}': ${problem}`;
        return badParameter(`${at}.parameters`, message, "invalid_function_parameters");
      }),
  },
];

/** What only some models refuse. */
const MODELS: readonly Rule[] = [
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
    source: "https://github.com/enoch3712/ExtractThinker/issues/346, https://platform.openai.com/docs/models/gpt-4o",
    models: /^gpt-4/,
    refuse: ({ model, body }) => {
      const max = model.startsWith("gpt-4.1") ? 32_768 : model.startsWith("gpt-4o") ? 16_384 : 4_096;
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
];

/** Chat completions as OpenAI takes them. */
export const OPENAI_CHAT: readonly Rule[] = [...FORM, ...MODELS];

function calledFunction({ at, value }: { readonly at: string; readonly value: Json }): {
  readonly at: string;
  readonly value: Json;
} {
  return { at: `${at}.function`, value: isJson(value["function"]) ? value["function"] : {} };
}

function badFormat({ response_format: format }: Json): SimError | undefined {
  if (!isJson(format) || format["type"] !== "json_schema" || !isJson(format["json_schema"])) return undefined;
  const { name, schema, strict } = format["json_schema"];
  const at = "response_format.json_schema";
  if (typeof name !== "string")
    return badParameter(`${at}.name`, `Missing required parameter: '${at}.name'.`, "missing_required_parameter");
  const misnamed = badName(`${at}.name`, name);
  if (misnamed) return misnamed;
  const problem = strict === true ? strictProblem(schema) : undefined;
  if (problem === undefined) return undefined;
  return badParameter("response_format", `Invalid schema for response_format '${name}': ${problem}`);
}

/** Each call is answered right behind it, and nothing is answered that was not called. */
function badToolTurns(body: Json): SimError | undefined {
  let open: string[] = [];
  for (const [index, { value }] of messagesOf(body).entries()) {
    if (value["role"] === "tool") {
      const id = asText(value["tool_call_id"]);
      if (!open.includes(id)) {
        return badParameter(
          `messages.[${index}].role`,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        );
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) return unanswered(index, open);
    open = objects(value["tool_calls"]).map(({ id }) => asText(id));
  }
  return open.length > 0 ? unanswered(messagesOf(body).length, open) : undefined;
}

function unanswered(index: number, ids: readonly string[]): SimError {
  return badParameter(
    `messages.[${index}].role`,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
  );
}
