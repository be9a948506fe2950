import { type Json, isJson } from "../../../kit/index.ts";
import { asText, badParameter, SimError } from "../../fields.ts";
import {
  callsOf,
  firstRefusal,
  formatTypeOf,
  functionsOf,
  isGiven,
  messagesOf,
  objects,
  type Rule,
  type StrictRequest,
  textOf,
  unknownNames,
  wordSet,
} from "../rule.ts";
import { AZURE_FIELDS, CHAT_BODY, CHAT_FIELDS } from "./chat-body.ts";
import { MODELS } from "./chat-models.ts";
import { badMetadata, badName, looseProblem, strictProblem, tooLong } from "./limits.ts";
import { MEDIA } from "./media.ts";
import { shapeRefusal } from "./words.ts";

const FIELDS = new Set(Object.keys(CHAT_FIELDS)).difference(wordSet(AZURE_FIELDS));
const MAXIMUM_CALL_ID_CHARACTERS = 40;
/** What must be true of any request, whatever the model. Unknown fields of messages are passed over. */
const FORM: readonly Rule[] = [
  {
    source:
      "https://github.com/docker/docker-agent/issues/63, https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages (content: required unless there are calls)",
    refuse: ({ body }) =>
      firstRefusal(messagesOf(body), ({ at, value }) =>
        lacksContent(value)
          ? badParameter(
              at.replace("[", ".[") + ".content",
              "Invalid value for 'content': expected a string, got null.",
            )
          : undefined,
      ),
  },
  {
    source: "fixtures openai-openapi openapi.json CreateChatCompletionRequest (types, required, bounds, words)",
    refuse: ({ body }) => shapeRefusal(CHAT_BODY, body),
  },
  ...MEDIA,
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
    source: "https://platform.openai.com/docs/api-reference/chat/create#chat-create-metadata",
    refuse: ({ body }) => badMetadata(body),
  },
  {
    source:
      "https://github.com/spiceai/spiceai/pull/5231, https://github.com/tmc/langchaingo/issues/1484 (metadata); fixtures openai-openapi openapi.json CreateChatCompletionRequest (top_logprobs)",
    refuse: ({ body }) => needed(body, "metadata", "store") ?? needed(body, "top_logprobs", "logprobs"),
  },
  {
    source: "https://github.com/langchain-ai/langgraph/issues/5943",
    refuse: ({ body }) =>
      isGiven(body, "max_tokens") && isGiven(body, "max_completion_tokens")
        ? badParameter(
            "max_tokens",
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "invalid_parameter_combination",
          )
        : undefined,
  },
  {
    source: "https://github.com/writer/writer-framework/pull/1013",
    refuse: ({ body }) =>
      onlyWith(body, "tool_choice", "tools") ??
      onlyWith(body, "parallel_tool_calls", "tools") ??
      onlyWith(body, "function_call", "functions"),
  },
  {
    source:
      "https://platform.openai.com/docs/guides/function-calling#tool-choice, https://github.com/vllm-project/vllm/pull/40399 (wording)",
    refuse: ({ body }) => absentTool(body),
  },
  {
    source: "https://platform.openai.com/docs/guides/predicted-outputs#limitations (the wording of the form)",
    refuse: ({ body }) => {
      const name = isGiven(body, "prediction") ? NOT_PREDICTED.find((one) => isAsked(body, one)) : undefined;
      if (name === undefined) return undefined;
      const message = `Unsupported parameter: '${name}' is not supported with 'prediction'.`;
      return badParameter(name, message, "unsupported_parameter");
    },
  },
  {
    source: "https://github.com/agno-agi/agno/issues/5116, https://github.com/anomalyco/opencode/issues/1211",
    refuse: ({ body }) => answeredTwice(body),
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

const unknownArguments = (fields: ReadonlySet<string>): Rule => ({
  source: "https://github.com/davidmigloz/langchain_dart/issues/712, https://github.com/BerriAI/litellm/pull/24468",
  refuse: ({ body }: StrictRequest) => {
    const unknown = unknownNames(body, fields);
    if (unknown.length === 0) return undefined;
    const s = unknown.length > 1 ? "s" : "";
    return new SimError(400, `Unrecognized request argument${s} supplied: ${unknown.join(", ")}`);
  },
});

/** Chat completions as OpenAI takes them. */
export const OPENAI_CHAT: readonly Rule[] = [unknownArguments(FIELDS), ...FORM, ...MODELS];
/** Azure has fields of its own. */
export const AZURE_CHAT: readonly Rule[] = [unknownArguments(FIELDS.union(wordSet(AZURE_FIELDS))), ...FORM, ...MODELS];

/** Calls, audio and a refusal stand for an assistant's content. */
function lacksContent({ role, content, ...message }: Json): boolean {
  if (role === "function" || (content !== null && (content !== undefined || role !== "assistant"))) return false;
  return (
    role !== "assistant" || !["tool_calls", "function_call", "audio", "refusal"].some((name) => isGiven(message, name))
  );
}

function needed(body: Json, name: string, switched: string): SimError | undefined {
  if (!isGiven(body, name) || body[switched] === true) return undefined;
  return badParameter(name, `The '${name}' parameter is only allowed when '${switched}' is enabled.`);
}

function onlyWith(body: Json, name: string, list: string): SimError | undefined {
  if (!isGiven(body, name) || objects(body[list]).length > 0) return undefined;
  return badParameter(name, `Invalid value for '${name}': '${name}' is only allowed when '${list}' are specified.`);
}

const NOT_PREDICTED = [
  "n",
  "logprobs",
  "presence_penalty",
  "frequency_penalty",
  "audio",
  "max_completion_tokens",
  "tools",
];

/** A field with more than its default. */
function isAsked(body: Json, name: string): boolean {
  const { [name]: value } = body;
  return isGiven(body, name) && value !== false && value !== (name === "n" ? 1 : 0);
}

/** Tools by type and name. */
function namesOf(tools: unknown): readonly string[] {
  return objects(tools).map((tool) => {
    const type = asText(tool["type"]);
    const { [type]: made } = tool;
    return `${type} ${isJson(made) ? asText(made["name"]) : ""}`;
  });
}

/** The tool that `tool_choice` names is one of the request's. */
function absentTool({ tools, tool_choice: choice }: Json): SimError | undefined {
  if (!isJson(choice)) return undefined;
  const { allowed_tools: allowed } = choice;
  const known = namesOf(tools);
  const asked =
    choice["type"] === "allowed_tools" ? namesOf(isJson(allowed) ? allowed["tools"] : []) : namesOf([choice]);
  const absent = asked.find((one) => !known.includes(one));
  if (absent === undefined) return undefined;
  return badParameter("tool_choice", `Tool choice '${absent.split(" ")[0]}' not found in 'tools' parameter.`);
}

function answeredTwice(body: Json): SimError | undefined {
  const places = new Map<unknown, number>();
  for (const [index, { value }] of messagesOf(body).entries()) {
    if (value["role"] === "assistant") places.clear();
    if (value["role"] !== "tool") continue;
    const { tool_call_id: id } = value;
    const before = places.get(id);
    if (before !== undefined) {
      const message = `Invalid parameter: Duplicate value for 'tool_call_id' of '${asText(id)}', in messages[${before}] and messages[${index}].`;
      return badParameter(`messages.[${index}].tool_call_id`, message);
    }
    places.set(id, index);
  }
  return undefined;
}

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
