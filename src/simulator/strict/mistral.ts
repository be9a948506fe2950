import { type Json, isJson } from "../../kit/index.ts";
import { asText, SimError } from "../fields.ts";
import { type Complaint, complaintOf } from "./pydantic.ts";
import { callsOf, firstRefusal, functionsOf, messagesOf, objects, partsOf, type Rule } from "./rule.ts";
import {
  anything,
  decimal,
  either,
  flag,
  integer,
  list,
  map,
  nullable,
  record,
  type Shape,
  tagged,
  text,
  word,
} from "./shape.ts";

/* The body of a chat as Mistral documents it: https://docs.mistral.ai/api/#tag/chat. Nothing unknown is taken. */

const CLOSED = { closed: true } as const;
const MAXIMUM_TEMPERATURE = 1.5;

const part = (type: string, value: Shape, more: Readonly<Record<string, Shape>> = {}) =>
  record({ type: text(), [type]: value, ...more }, { required: type, ...CLOSED });
const address = either(text(), record({ url: text(), detail: nullable(text()) }, { required: "url", ...CLOSED }));

const textPart = part("text", text());
const thinking = part("thinking", list(map), { closed: flag, signature: nullable(text()) });
const content = either(
  text(),
  list(
    tagged("type", {
      text: textPart,
      image_url: part("image_url", address),
      document_url: part("document_url", text(), { document_name: nullable(text()) }),
      reference: part("reference_ids", list(anything)),
      file: part("file_id", text()),
      thinking,
      input_audio: part("input_audio", either(text(), map)),
    }),
  ),
);

const call = record(
  {
    id: text(),
    type: text(),
    index: integer(),
    function: record({ name: text(), arguments: either(text(), map) }, { required: "name arguments", ...CLOSED }),
  },
  { required: "function", ...CLOSED },
);

function message(required: string, fields: Readonly<Record<string, Shape>> = {}): Shape {
  return record({ role: text(), content: nullable(content), ...fields }, { required, ...CLOSED });
}

const functionTool = record(
  { name: text(), description: text(), strict: flag, parameters: map },
  { required: "name parameters", ...CLOSED },
);

const BODY = record(
  {
    model: text(),
    messages: list(
      tagged("role", {
        system: record(
          { role: text(), content: either(text(), list(tagged("type", { text: textPart, thinking }))) },
          { required: "content", ...CLOSED },
        ),
        user: message("content"),
        assistant: message("", { tool_calls: nullable(list(call)), prefix: flag }),
        tool: message("content", { tool_call_id: nullable(text()), name: nullable(text()) }),
      }),
    ),
    temperature: nullable(decimal(0, MAXIMUM_TEMPERATURE)),
    top_p: decimal(0, 1),
    max_tokens: nullable(integer(0)),
    stream: flag,
    stream_options: nullable(record({}, CLOSED)),
    stop: nullable(either(text(), list(text()))),
    random_seed: nullable(integer(0)),
    metadata: nullable(map),
    response_format: nullable(
      record(
        {
          type: word("text json_object json_schema"),
          json_schema: nullable(
            record(
              { name: text(), description: nullable(text()), schema: map, strict: flag },
              { required: "name schema", ...CLOSED },
            ),
          ),
        },
        CLOSED,
      ),
    ),
    tools: nullable(list(record({ type: text(), function: functionTool }, { required: "function", ...CLOSED }))),
    tool_choice: either(
      word("auto none any required"),
      record({ type: text(), function: record({ name: text() }, { required: "name", ...CLOSED }) }, CLOSED),
    ),
    presence_penalty: decimal(-2, 2),
    frequency_penalty: decimal(-2, 2),
    n: nullable(integer(1)),
    prediction: nullable(record({ type: text(), content: text() }, CLOSED)),
    parallel_tool_calls: flag,
    prompt_mode: nullable(word("reasoning")),
    reasoning_effort: nullable(text()),
    safe_prompt: flag,
    guardrails: nullable(list(map)),
    prompt_cache_key: nullable(text()),
  },
  { required: "messages", ...CLOSED },
);

function invalidBody({ type, loc, msg, input }: Complaint): SimError {
  const detail = { type, loc: ["body", ...loc], msg, input };
  return new SimError(422, msg, {
    body: { object: "error", message: { detail: [detail] }, type: "invalid_request_error", param: null, code: null },
  });
}

function mistralError(message: string, type: string, code: string | null): SimError {
  return new SimError(400, message, { body: { object: "error", message, type, param: null, code } });
}

const misordered = (message: string) => mistralError(message, "invalid_request_message_order", "3230");
const miscalled = (message: string) => mistralError(message, "invalid_function_call", "3280");
const misargued = (message: string) => mistralError(message, "invalid_request_invalid_args", "3051");
const invalid = (message: string) => mistralError(message, "invalid_request_error", null);

const VALIDATOR = "mistral-common src/mistral_common/protocol/instruct/validator.py";

/** Which role may follow which. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

const rolesOf = (body: Json): readonly string[] => messagesOf(body).map(({ value }) => asText(value["role"]));

/** Each call is answered before the assistant's next turn. */
function unanswered(body: Json): boolean {
  let open = 0;
  for (const [index, { value }] of messagesOf(body).entries()) {
    if (index === 0 && value["role"] !== "assistant") continue;
    if (value["role"] === "tool") open--;
    if (value["role"] !== "assistant") continue;
    if (open !== 0) return true;
    open = objects(value["tool_calls"]).length;
  }
  return open !== 0;
}

export const MISTRAL: readonly Rule[] = [
  {
    source:
      "https://github.com/editor-code-assistant/eca/issues/231, https://github.com/charmbracelet/crush/issues/1590, https://github.com/BerriAI/litellm/issues/30835, https://github.com/crewAIInc/crewAI/issues/60, https://github.com/vegu-ai/talemate/issues/102 (bounds); fields: https://docs.mistral.ai/api/#tag/chat",
    refuse: ({ body }) => {
      const complaint = complaintOf(BODY, body);
      return complaint && invalidBody(complaint);
    },
  },
  {
    source: "https://github.com/partITech/php-mistral/issues/76",
    refuse: ({ body }) =>
      Array.isArray(body["tools"]) && body["tools"].length === 0
        ? invalidBody({ type: "extra_forbidden", loc: ["tools"], msg: "Extra inputs are not permitted", input: [] })
        : undefined,
  },
  {
    source: `${VALIDATOR}, _validate_message_list_structure`,
    refuse: ({ body }) => {
      const roles = rolesOf(body);
      if (roles.length === 0) return misordered("Conversation must have at least one message");
      const [only] = roles;
      return roles.length === 1 && only !== "user" && only !== "system"
        ? misordered("Conversation must start with a user message or system message")
        : undefined;
    },
  },
  {
    source: `${VALIDATOR}, _validate_last_message; https://github.com/langchain-ai/langchain/pull/24668`,
    refuse: ({ body }) => {
      const last = messagesOf(body).at(-1)?.value;
      if (!last || last["role"] !== "assistant" || last["prefix"] === true) return undefined;
      return misordered(
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
      );
    },
  },
  {
    source: `${VALIDATOR}, _validate_message_order; https://github.com/onyx-dot-app/onyx/issues/6458, https://github.com/datapizza-labs/datapizza-ai/issues/98`,
    refuse: ({ body }) => {
      const roles = rolesOf(body);
      const index = roles.findIndex((role, at) => at > 0 && !NEXT[roles[at - 1] ?? ""]?.includes(role));
      return index < 0 ? undefined : misordered(`Unexpected role '${roles[index]}' after role '${roles[index - 1]}'`);
    },
  },
  {
    source: `${VALIDATOR}, _validate_tool_calls_followed_by_tool_messages; https://github.com/mistralai/client-ts/issues/106, https://github.com/camel-ai/camel/issues/1467`,
    refuse: ({ body }) =>
      unanswered(body) ? misordered("Not the same number of function calls and responses") : undefined,
  },
  {
    source: `${VALIDATOR}, _validate_function, _validate_function_call`,
    refuse: ({ body }) => {
      const called = callsOf(body).map(({ value }) =>
        isJson(value["function"]) ? value["function"]["name"] : undefined,
      );
      const names = [...functionsOf(body).map(({ value }) => value["name"]), ...called];
      const bad = names.find((name) => name !== undefined && !/^[a-zA-Z0-9_-]{1,64}$/.test(asText(name)));
      if (bad === undefined) return undefined;
      return miscalled(
        `Function name was ${asText(bad)} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
      );
    },
  },
  {
    source: "https://github.com/editor-code-assistant/eca/issues/233, https://github.com/nearai/ironclaw/issues/1241",
    refuse: ({ body }) => {
      const ids = [
        ...callsOf(body).map(({ value }) => value["id"]),
        ...messagesOf(body).map(({ value }) => value["tool_call_id"]),
      ];
      const bad = ids.find((id) => id !== undefined && id !== null && !/^[a-zA-Z0-9]{9}$/.test(asText(id)));
      if (bad === undefined) return undefined;
      return miscalled(`Tool call id was ${asText(bad)} but must be a-z, A-Z, 0-9, with a length of 9.`);
    },
  },
  {
    source: `${VALIDATOR}, MistralRequestValidatorV3._validate_tool_message, _validate_tool_call`,
    refuse: ({ body }) =>
      firstRefusal(messagesOf(body), ({ value }) =>
        value["role"] === "tool" && typeof value["tool_call_id"] !== "string"
          ? invalid("Tool call id has to be defined.")
          : undefined,
      ) ??
      firstRefusal(callsOf(body), ({ value }) =>
        value["id"] === undefined ? miscalled("Tool call id has to be defined in serving mode.") : undefined,
      ),
  },
  {
    source: "https://github.com/OpenHands/OpenHands/issues/8685, https://github.com/solbrowse/extension/issues/16",
    refuse: ({ body }) =>
      messagesOf(body).some(
        ({ value }) =>
          value["role"] === "assistant" && isEmpty(value["content"]) && objects(value["tool_calls"]).length === 0,
      )
        ? invalid("Assistant message must have either content or tool_calls, but not none.")
        : undefined,
  },
  {
    source:
      "https://github.com/langchain-ai/langchain/issues/21196, https://github.com/mistralai/mistral-common/issues/186",
    models: /^(?:open-|mistral-tiny)/,
    refuse: ({ body }) =>
      messagesOf(body).some(
        ({ value }) =>
          value["role"] === "assistant" && !isEmpty(value["content"]) && objects(value["tool_calls"]).length > 0,
      )
        ? invalid("Assistant message must have either content or tool_calls, but not both.")
        : undefined,
  },
  {
    source: `${VALIDATOR}, _validate_assistant_message`,
    refuse: ({ body }) =>
      messagesOf(body)
        .slice(0, -1)
        .some(({ value }) => value["prefix"] === true)
        ? invalid("Assistant message with prefix True must be last message")
        : undefined,
  },
  {
    source: "https://docs.mistral.ai/capabilities/vision (models that see; the wording of the next rule)",
    models: /^(?:codestral|open-mistral-7b|open-mixtral|mistral-tiny)/,
    refuse: ({ body }) =>
      messagesOf(body).some(({ value }) => partsOf(value, "image_url").length > 0)
        ? misargued("Image input is not enabled for this model")
        : undefined,
  },
  {
    source:
      "https://github.com/anomalyco/models.dev/pull/1986, https://github.com/architects-toolkit/SmartHopper/issues/647",
    models: /^(?:mistral-small|magistral|mistral-medium)/,
    refuse: ({ body: { reasoning_effort: effort } }) => {
      if (effort === undefined || effort === null || effort === "none" || effort === "high") return undefined;
      return misargued(
        `reasoning_effort='${asText(effort)}' is not supported for this model. Must be one of (<ReasoningEffort.none: 'none'>, <ReasoningEffort.high: 'high'>)`,
      );
    },
  },
  {
    source: "https://github.com/NousResearch/hermes-agent/issues/11243",
    models: /^(?:mistral-large|codestral|devstral|ministral|pixtral|open-)/,
    refuse: ({ body: { reasoning_effort: effort } }) =>
      effort === undefined || effort === null ? undefined : misargued("Reasoning effort is not enabled for this model"),
  },
];

function isEmpty(content: unknown): boolean {
  return (
    content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0)
  );
}
