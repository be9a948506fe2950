import { type Json, isJson } from "../../kit/index.ts";
import { asText, SimError } from "../fields.ts";
import { MISTRAL } from "./mistral.ts";
import { formatTypeOf, isGiven, messagesOf, objects, type Rule, unknownEffort, unknownNames, wordSet } from "./rule.ts";

/** What a vendor knows; anything else is refused. */
interface Known {
  readonly body: string;
  /** Fields of messages by role; a role that is not here is refused too. */
  readonly messages: Readonly<Record<string, string>>;
}

type Path = readonly (string | number)[];

/** The rule of a vendor that takes nothing it does not know. */
function closed(source: string, known: Known, refuse: (body: Json, path: Path) => SimError): Rule {
  return {
    source,
    refuse: ({ body }) => {
      const path = firstUnknown(known, body);
      return path && refuse(body, path);
    },
  };
}

/** The first place that a vendor does not know, as steps from the body. */
function firstUnknown({ body: fields, messages }: Known, body: Json): Path | undefined {
  const [name] = unknownNames(body, wordSet(fields));
  if (name !== undefined) return [name];
  for (const [index, { value }] of messagesOf(body).entries()) {
    const known = messages[asText(value["role"])];
    if (known === undefined) return ["messages", index, "role"];
    const [unknown] = unknownNames(value, wordSet(known));
    if (unknown !== undefined) return ["messages", index, unknown];
  }
  return undefined;
}

function at(body: Json, path: Path): unknown {
  return path.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return (value as readonly unknown[])[Number(step)];
    return isJson(value) ? value[step] : undefined;
  }, body);
}

const roleOf = (body: Json, index: unknown): string => asText(objects(body["messages"])[Number(index)]?.["role"]);

const GROQ: Known = {
  body:
    "messages model citation_options compound_custom disable_tool_validation documents exclude_domains " +
    "frequency_penalty function_call functions include_domains include_reasoning logit_bias logprobs " +
    "max_completion_tokens max_tokens metadata n parallel_tool_calls presence_penalty reasoning_effort " +
    "reasoning_format response_format search_settings seed service_tier stop store stream stream_options " +
    "temperature tool_choice tools top_logprobs top_p user",
  messages: {
    system: "role content",
    developer: "role content",
    user: "role content",
    assistant: "role content tool_calls reasoning function_call",
    tool: "role content tool_call_id",
    function: "role content name",
  },
};

function groqError(message: string): SimError {
  return new SimError(400, message, { body: { error: { message, type: "invalid_request_error" } } });
}

const GROQ_THINKS = /gpt-oss|qwen3|qwen-3|deepseek-r1/;

const GROQ_RULES: readonly Rule[] = [
  closed(
    "https://github.com/janhq/jan/issues/8136, https://github.com/tashfeenahmed/freellmapi/issues/1070, https://github.com/musistudio/claude-code-router/pull/1204; fields: https://console.groq.com/docs/api-reference#chat-create",
    GROQ,
    (body, path) => {
      const [name, index, field] = path;
      if (index === undefined) return groqError(`property '${name}' is unsupported`);
      const place = `messages.${index}`;
      return groqError(
        `'${place}' : for 'role:${roleOf(body, index)}' the following must be satisfied[('${place}' : property '${field}' is unsupported)]`,
      );
    },
  ),
  {
    source: "https://console.groq.com/docs/openai#currently-unsupported-openai-features",
    refuse: ({ body }) => {
      const name = ["logprobs", "logit_bias", "top_logprobs"].find((one) => body[one] !== undefined);
      if (name !== undefined) return groqError(`\`${name}\` is not supported with this model`);
      return body["n"] !== undefined && body["n"] !== 1 ? groqError("'n' : number must be at most 1") : undefined;
    },
  },
  {
    source: "https://github.com/vercel/ai/pull/8057, https://github.com/karthink/gptel/issues/774",
    refuse: ({ model, body }) => {
      const index = messagesOf(body).findIndex(({ value }) => value["reasoning"] !== undefined);
      if (index < 0 || GROQ_THINKS.test(model)) return undefined;
      return groqError(`messages[${index}].reasoning: reasoning is not supported with this model`);
    },
  },
  {
    source: "https://github.com/iamsrikanthnani/pluely/pull/219, https://console.groq.com/docs/reasoning",
    refuse: ({ model, body }) => {
      if (!isGiven(body, "reasoning_effort")) return undefined;
      if (!GROQ_THINKS.test(model)) return groqError("`reasoning_effort` is not supported with this model");
      const known = /gpt-oss/.test(model) ? "low medium high" : "none default";
      if (unknownEffort(body, known) === undefined) return undefined;
      const efforts = known.split(" ").map((word) => `\`${word}\``);
      const last = efforts.pop();
      return groqError(`\`reasoning_effort\` must be one of ${efforts.join(", ")} or ${last}`);
    },
  },
  {
    source: "https://github.com/vercel/ai/pull/16540, https://github.com/agno-agi/agno/issues/1065",
    refuse: ({ body }) =>
      objects(body["tools"]).length > 0 && ["json_object", "json_schema"].includes(asText(formatTypeOf(body)))
        ? groqError("json mode cannot be combined with tool/function calling")
        : undefined,
  },
  {
    source:
      "https://github.com/ItzCrazyKns/Vane/issues/980, https://console.groq.com/docs/structured-outputs#supported-models",
    models: /llama-3|llama3|qwen|gemma/,
    refuse: ({ body }) =>
      formatTypeOf(body) === "json_schema"
        ? groqError(
            "This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models",
          )
        : undefined,
  },
];

/** Fields of messages at vendors that take names; the assistant's differ. */
const NAMED_ROLES = {
  system: "role content name",
  developer: "role content name",
  user: "role content name",
  tool: "role content name tool_call_id",
};

const CEREBRAS: Known = {
  body:
    "messages model clear_thinking disable_reasoning logprobs max_completion_tokens max_tokens min_tokens n " +
    "parallel_tool_calls prediction reasoning_effort reasoning_format response_format seed service_tier stop stream " +
    "stream_options temperature tool_choice tools top_logprobs top_p user prompt_cache_key queue_threshold",
  messages: {
    ...NAMED_ROLES,
    assistant: "role content name tool_calls reasoning",
  },
};

const CEREBRAS_RULES: readonly Rule[] = [
  closed(
    "https://github.com/Kilo-Org/kilocode/issues/10375, https://github.com/proxysoul/Empryo/pull/209, https://github.com/QwenLM/qwen-code/issues/11045, https://github.com/belingud/yaicli/pull/35; fields: https://inference-docs.cerebras.ai/api-reference/chat-completions",
    CEREBRAS,
    (body, path) => {
      const [name, index, field] = path;
      const place = index === undefined ? `body.${name}` : `messages.${index}.${roleOf(body, index)}.${field}`;
      const message = `${place}: property '${place}' is unsupported`;
      const refusal = { message, type: "invalid_request_error", param: "validation_error", code: "wrong_api_format" };
      return new SimError(400, message, { body: refusal });
    },
  ),
];

const FIREWORKS: Known = {
  body:
    "model messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens prompt_truncate_len " +
    "temperature top_p top_k frequency_penalty presence_penalty repetition_penalty mirostat_target mirostat_lr n " +
    "ignore_eos stop response_format reasoning_effort reasoning_history thinking stream stream_options " +
    "context_length_exceeded_behavior user metadata logprobs top_logprobs logit_bias echo echo_last raw_output " +
    "perf_metrics_in_response seed min_p typical_p prompt_cache_isolation_key prompt_cache_key service_tier " +
    "functions function_call return_token_ids prediction speculation safe_tokenization",
  messages: {
    ...NAMED_ROLES,
    assistant: "role content name tool_calls function_call reasoning_content",
    function: "role content name",
  },
};

const FIREWORKS_RULES: readonly Rule[] = [
  closed(
    "https://github.com/earendil-works/pi/issues/4514, https://github.com/web-infra-dev/midscene/issues/1322; fields: https://docs.fireworks.ai/api-reference/post-chatcompletions",
    FIREWORKS,
    (body, path) => {
      const [name, index, field] = path;
      const place = index === undefined ? asText(name) : `messages[${index}].${field}`;
      const message = `Extra inputs are not permitted, field: '${place}', value: ${asText(at(body, path))}`;
      const error = { object: "error", type: "invalid_request_error", code: "invalid_request_error", message };
      return new SimError(400, message, { body: { error } });
    },
  ),
];

const NVIDIA: Known = {
  body:
    "messages model frequency_penalty logit_bias logprobs top_logprobs max_tokens max_completion_tokens n " +
    "presence_penalty response_format seed stop stream stream_options temperature top_p tools tool_choice " +
    "parallel_tool_calls user reasoning_effort nvext chat_template_kwargs min_tokens ignore_eos repetition_penalty " +
    "top_k min_p guided_json guided_regex guided_choice guided_grammar include_reasoning",
  messages: {
    ...NAMED_ROLES,
    assistant: "role content name tool_calls reasoning_content refusal reasoning",
  },
};

const NVIDIA_RULES: readonly Rule[] = [
  closed(
    "https://github.com/sipeed/picoclaw/issues/1019, https://github.com/NVIDIA/garak/issues/748; fields: https://docs.nvidia.com/nim/large-language-models/latest/reference/api-reference.html",
    NVIDIA,
    (body, path) => {
      const place = path.map((step) => (typeof step === "number" ? String(step) : `'${step}'`)).join(", ");
      const message = `[{'type': 'extra_forbidden', 'loc': ('body', ${place}), 'msg': 'Extra inputs are not permitted', 'input': ${asText(at(body, path))}}]`;
      return new SimError(400, message, { body: { error: message } });
    },
  ),
];

/** Vendors that refuse what they do not know. */
export const CLOSED = {
  mistral: MISTRAL,
  groq: GROQ_RULES,
  cerebras: CEREBRAS_RULES,
  fireworks: FIREWORKS_RULES,
  nvidia: NVIDIA_RULES,
} satisfies Readonly<Record<string, readonly Rule[]>>;
