import { isJson } from "../../kit/index.ts";
import { SimError } from "../fields.ts";
import { callsOf, functionsOf, messagesOf, objects, type Rule, unknownNames, wordSet } from "./rule.ts";

const FIELDS = wordSet(
  "stream model messages tools strict_tools documents citation_options response_format safety_mode max_tokens " +
    "stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs tool_choice thinking priority",
);
const MESSAGE = wordSet("role content tool_calls tool_plan tool_call_id citations");
const CALL = wordSet("id type function");
const FUNCTION = wordSet("name description parameters");

export const COHERE: readonly Rule[] = [
  {
    source:
      "https://github.com/agno-agi/agno/issues/3503, https://github.com/OpenRouterTeam/openrouter-examples/issues/71, https://github.com/BerriAI/litellm/issues/24031; fields: https://docs.cohere.com/reference/chat",
    refuse: ({ body }) => {
      const [name] = [
        ...unknownNames(body, FIELDS),
        ...messagesOf(body).flatMap(({ value }) => unknownNames(value, MESSAGE)),
        ...callsOf(body).flatMap(({ value }) => unknownNames(value, CALL)),
        ...functionsOf(body).flatMap(({ value }) => unknownNames(value, FUNCTION)),
      ];
      if (name === undefined) return undefined;
      const message = `unknown field: parameter '${name}' is not a valid field. For proper usage, please refer to https://docs.cohere.com/reference/chat`;
      return new SimError(422, message, { body: { message } });
    },
  },
  {
    source: "https://docs.cohere.com/docs/reasoning (models)",
    refuse: ({ model, body }) =>
      body["thinking"] !== undefined && !/reasoning|command-a-plus|north/.test(model)
        ? new SimError(400, `invalid request: thinking is not supported by the model '${model}'`)
        : undefined,
  },
  {
    source: "https://docs.cohere.com/docs/structured-outputs#parameter-requirements",
    refuse: ({ body }) =>
      body["response_format"] !== undefined &&
      (objects(body["tools"]).length > 0 || objects(body["documents"]).length > 0)
        ? new SimError(400, "invalid request: cannot specify 'response_format' together with 'tools' or 'documents'")
        : undefined,
  },
  {
    source: "https://docs.cohere.com/docs/structured-outputs#unsupported-schema-features",
    refuse: ({ body: { response_format: format } }) => {
      const schema = isJson(format) ? (format["json_schema"] ?? format["schema"]) : undefined;
      if (!isJson(schema) || schema["type"] !== "object") return undefined;
      const { required } = schema;
      if (Array.isArray(required) && required.length > 0) return undefined;
      return new SimError(400, "invalid request: the top level JSON schema must have at least one required field");
    },
  },
];
