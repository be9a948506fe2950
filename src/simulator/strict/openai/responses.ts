import { type Json, isJson } from "../../../kit/index.ts";
import { asText, badParameter, type SimError } from "../../fields.ts";
import { firstRefusal, isGiven, objects, type Rule, wordSet } from "../rule.ts";
import { ITEM_RULES, unknownField } from "./items.ts";
import {
  badEffort,
  badMetadata,
  badName,
  badSampling,
  looseProblem,
  REASONING,
  strictProblem,
  thinks,
  unsupported,
} from "./limits.ts";
import { RESPONSE_BODY } from "./responses-body.ts";
import { missing, shapeRefusal } from "./words.ts";

/** Fields of a request: openai resources/responses/responses.d.ts, ResponseCreateParamsBase. */
const FIELDS = wordSet(
  "access_programs background context_management conversation image include input instructions max_output_tokens " +
    "max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key " +
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream " +
    "stream_options temperature text tool_choice tools top_logprobs top_p truncation user",
);
/** Chat completions' fields, and where they have gone. */
const MOVED: Readonly<Record<string, string>> = {
  messages: "input",
  max_tokens: "max_output_tokens",
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  reasoning_effort: "reasoning.effort",
  verbosity: "text.verbosity",
};
/** What must be true of any request, whatever the model. */
export const RESPONSES_FORM: readonly Rule[] = [
  {
    source: "https://github.com/aaif-goose/goose/issues/2564, https://github.com/cline/cline/issues/5419",
    refuse: ({ body }) => {
      const name = Object.keys(MOVED).find((one) => one in body);
      if (name === undefined) return undefined;
      return badParameter(
        name,
        `Unsupported parameter: '${name}'. In the Responses API, this parameter has moved to '${MOVED[name]}'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.`,
        "unsupported_parameter",
      );
    },
  },
  {
    source: "https://github.com/BerriAI/litellm/pull/24468",
    refuse: ({ body }) => unknownField(body, FIELDS, ""),
  },
  {
    source: "fixtures openai-openapi openapi.json CreateResponse (types, required, bounds, words)",
    refuse: ({ body }) => shapeRefusal(RESPONSE_BODY, body),
  },
  ...ITEM_RULES,
  {
    source:
      "openai resources/responses/responses.d.ts, ResponseCreateParams.StreamOptions (`Only set this when you set stream: true`)",
    refuse: ({ body }) =>
      isJson(body["stream_options"]) && body["stream"] !== true
        ? badParameter("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
        : isJson(body["stream_options"])
          ? unknownField(body["stream_options"], wordSet("include_obfuscation"), "stream_options.")
          : undefined,
  },
  {
    source: "https://github.com/nanbingxyz/5ire/issues/403, https://github.com/vishalmysore/Tools4AI/issues/16",
    refuse: ({ body }) =>
      firstRefusal([...objects(body["tools"]).entries()], ([index, tool]) => badTool(tool, `tools[${index}]`)),
  },
  {
    source: "https://platform.openai.com/docs/api-reference/responses/create#responses-create-text",
    refuse: ({ body }) => badText(body),
  },
  {
    source: "https://platform.openai.com/docs/api-reference/responses/create#responses-create-metadata",
    refuse: ({ body }) => badMetadata(body),
  },
  {
    source: "https://platform.openai.com/docs/api-reference/responses/create#responses-create-input",
    refuse: ({ body }) =>
      isGiven(body, "input") || isGiven(body, "previous_response_id") || isGiven(body, "prompt")
        ? undefined
        : missing("input"),
  },
  {
    source: "https://github.com/vllm-project/vllm/pull/40399 (asked of the API itself)",
    refuse: ({ body }) => absentTool(body),
  },
  {
    source:
      "fixtures openai-openapi openapi.json CreateResponse (`previous_response_id`: not together with `conversation`; the wording of the form)",
    refuse: ({ body }) =>
      isGiven(body, "previous_response_id") && isGiven(body, "conversation")
        ? badParameter(
            "previous_response_id",
            "Mutually exclusive parameters. Ensure you are only providing one of: 'previous_response_id', 'conversation'.",
            "mutually_exclusive_parameters",
          )
        : undefined,
  },
  {
    source:
      "https://platform.openai.com/docs/guides/background#limits, https://github.com/agno-agi/agno/pull/7444 (store is required; the wording of the form)",
    refuse: ({ body }) =>
      body["background"] === true && body["store"] === false
        ? badParameter("background", "Background mode requires 'store' to be true.")
        : undefined,
  },
  {
    source:
      "https://platform.openai.com/docs/guides/structured-outputs#json-mode, https://github.com/agno-agi/agno/pull/5317 (of the other endpoint)",
    refuse: ({ body }) =>
      isJson(body["text"]) &&
      isJson(body["text"]["format"]) &&
      body["text"]["format"]["type"] === "json_object" &&
      !/json/i.test(JSON.stringify([body["input"], body["instructions"]]))
        ? badParameter(
            "input",
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
          )
        : undefined,
  },
];

/** What only some models refuse. */
export const RESPONSES_MODELS: readonly Rule[] = [
  {
    source: "https://github.com/pydantic/pydantic-ai/issues/2865, https://github.com/pydantic/pydantic-ai/issues/3326",
    refuse: ({ model, body }) =>
      !REASONING.test(model) &&
      Array.isArray(body["include"]) &&
      body["include"].includes("reasoning.encrypted_content")
        ? badParameter("include", "Encrypted content is not supported with this model.")
        : undefined,
  },
  {
    source: "https://github.com/stanfordnlp/dspy/issues/9032",
    refuse: ({ model, body: { reasoning } }) => {
      if (REASONING.test(model) || !isJson(reasoning)) return undefined;
      const name = ["effort", "summary", "generate_summary"].find((one) => isGiven(reasoning, one));
      return name === undefined ? undefined : unsupported(`reasoning.${name}`);
    },
  },
  {
    source: "https://github.com/Kilo-Org/cloud/pull/3807, https://github.com/rikkahub/rikkahub/pull/1037",
    models: REASONING,
    refuse: ({ model, body: { reasoning } }) =>
      isJson(reasoning) ? badEffort("reasoning.effort", reasoning["effort"], model) : undefined,
  },
  {
    source: "https://github.com/can1357/oh-my-pi/pull/7454, @ai-sdk/openai dist/index.js (isReasoningModel)",
    models: REASONING,
    refuse: ({ model, body }) => {
      const { reasoning } = body;
      const thinking = thinks(model, isJson(reasoning) ? reasoning["effort"] : undefined);
      return thinking && isGiven(body, "temperature") ? unsupported("temperature") : badSampling(body, thinking);
    },
  },
  {
    source: "https://github.com/enricoros/big-AGI/issues/947",
    models: /^(?:gpt-4|o\d)/,
    refuse: ({ body: { text } }) =>
      isJson(text) && isGiven(text, "verbosity") && text["verbosity"] !== "medium"
        ? badParameter(
            "text.verbosity",
            `Unsupported value: 'text.verbosity' does not support '${asText(text["verbosity"])}' with this model. Supported values are: 'medium'.`,
            "unsupported_value",
          )
        : undefined,
  },
];

/** The tool that `tool_choice` names is one of the request's; without any, none can be demanded. */
function absentTool({ tools, tool_choice: choice }: Json): SimError | undefined {
  const given = objects(tools);
  if (choice === "required" && given.length === 0)
    return badParameter("tool_choice", "Tool choice 'required' must be specified with 'tools' parameter.");
  if (!isJson(choice)) return undefined;
  const asked = choice["type"] === "allowed_tools" ? objects(choice["tools"]) : [choice];
  const absent = asked.find(
    ({ type, name }) =>
      (type === "function" || type === "custom") &&
      !given.some((tool) => tool["type"] === type && tool["name"] === name),
  );
  if (!absent) return undefined;
  return badParameter("tool_choice", `Tool choice '${asText(absent["type"])}' not found in 'tools' parameter.`);
}

function badTool(tool: Json, at: string): SimError | undefined {
  if (tool["type"] !== "function") return undefined;
  const { name, parameters, strict } = tool;
  if (typeof name !== "string")
    return badParameter(`${at}.name`, `Missing required parameter: '${at}.name'.`, "missing_required_parameter");
  const known = wordSet("type name description parameters strict defer_loading output_schema allowed_callers async");
  const unknown = unknownField(tool, known, `${at}.`) ?? badName(`${at}.name`, name);
  if (unknown) return unknown;
  const problem = strict === true ? strictProblem(parameters) : looseProblem(parameters);
  if (problem === undefined) return undefined;
  const message = `Invalid schema for function '${name}': ${problem}`;
  return badParameter(`${at}.parameters`, message, "invalid_function_parameters");
}

function badText({ text }: Json): SimError | undefined {
  if (!isJson(text)) return undefined;
  const unknown = unknownField(text, wordSet("format verbosity"), "text.");
  if (unknown) return unknown;
  const { format } = text;
  if (!isJson(format) || format["type"] !== "json_schema") return undefined;
  const { name, schema, strict } = format;
  if (typeof name !== "string")
    return badParameter(
      "text.format.name",
      "Missing required parameter: 'text.format.name'.",
      "missing_required_parameter",
    );
  const bad =
    unknownField(format, wordSet("type name schema strict description"), "text.format.") ??
    badName("text.format.name", name);
  if (bad) return bad;
  const problem = strict === true ? strictProblem(schema) : undefined;
  if (problem === undefined) return undefined;
  return badParameter(
    "text.format.schema",
    `Invalid schema for response_format '${name}': ${problem}`,
    "invalid_json_schema",
  );
}
