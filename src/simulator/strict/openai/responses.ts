import { type Json, isJson } from "../../../kit/index.ts";
import { isSigned } from "../../answer.ts";
import { asText, badParameter, SimError } from "../../fields.ts";
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
} from "./limits.ts";
import { firstRefusal, isGiven, type LocatedJson, objects, type Rule, unknownNames, wordSet } from "../rule.ts";

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
/** Fields of the items that a client can bring: openai resources/responses/responses.d.ts, ResponseInputItem. */
const ITEMS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: wordSet("type role content status id phase"),
  function_call: wordSet("type id call_id name arguments status namespace caller async"),
  function_call_output: wordSet("type id call_id output status caller name namespace"),
  reasoning: wordSet("type id summary content encrypted_content"),
};
/** How ids begin that the provider gives to items of a type. */
const PREFIXES: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" };
const MAXIMUM_ID_CHARACTERS = 64;
const MAXIMUM_CALL_ID_CHARACTERS = 64;
const MINIMUM_OUTPUT_TOKENS = 16;
const PARTS: Readonly<Record<string, readonly string[]>> = {
  assistant: ["output_text", "refusal"],
  user: ["input_text", "input_image", "input_file"],
};
const PART_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  output_text: wordSet("type text annotations logprobs"),
  refusal: wordSet("type refusal"),
  input_text: wordSet("type text prompt_cache_breakpoint"),
  input_image: wordSet("type image_url file_id detail prompt_cache_breakpoint"),
  input_file: wordSet("type file_data file_id file_url filename detail prompt_cache_breakpoint"),
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
    source: "https://github.com/Soju06/codex-lb/pull/637, https://github.com/BerriAI/litellm/issues/13420",
    refuse: ({ body }) => firstRefusal(itemsOf(body), badItem),
  },
  {
    source: "https://github.com/james-6-23/codex2api/issues/414, https://github.com/continuedev/continue/pull/11785",
    refuse: ({ body }) => unpaired(itemsOf(body)),
  },
  {
    source: "https://github.com/continuedev/continue/pull/11785",
    refuse: ({ body }) => lonelyReasoning(itemsOf(body)),
  },
  {
    source: "https://github.com/can1357/oh-my-pi/pull/50",
    refuse: ({ body }) =>
      firstRefusal(itemsOf(body), ({ value }) =>
        body["store"] === false && value["type"] === "reasoning" && typeof value["encrypted_content"] !== "string"
          ? new SimError(
              404,
              `Item with id '${asText(value["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
              { param: "input" },
            )
          : undefined,
      ),
  },
  {
    source: "https://github.com/openai/codex/issues/8145, https://github.com/Wei-Shaw/sub2api/issues/2863",
    refuse: ({ body }) => firstRefusal(itemsOf(body), ({ value }) => foreignReasoning(value)),
  },
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
    refuse: ({ body }) => {
      const many = manyItems("tools", body["tools"], 128);
      if (many) return many;
      return firstRefusal([...objects(body["tools"]).entries()], ([index, tool]) => badTool(tool, `tools[${index}]`));
    },
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
    source: "https://github.com/maximhq/bifrost/pull/1000",
    refuse: ({ body }) => tooLong("user", body["user"], MAXIMUM_USER_CHARACTERS),
  },
  {
    source:
      "https://github.com/decolua/9router/pull/1672 (a least number), https://platform.openai.com/docs/api-reference/responses/create#responses-create-max_output_tokens",
    refuse: ({ body }) => {
      const { max_output_tokens: maximum } = body;
      if (typeof maximum !== "number" || maximum >= MINIMUM_OUTPUT_TOKENS) return undefined;
      const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${MINIMUM_OUTPUT_TOKENS}, but got ${maximum} instead.`;
      return badParameter("max_output_tokens", message, "integer_below_min_value");
    },
  },
  {
    source: "https://platform.openai.com/docs/api-reference/responses/create#responses-create-input",
    refuse: ({ body }) =>
      isGiven(body, "input") || isGiven(body, "previous_response_id") || isGiven(body, "prompt")
        ? undefined
        : badParameter("input", "Missing required parameter: 'input'.", "missing_required_parameter"),
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
    refuse: ({ model, body: { reasoning } }) =>
      !REASONING.test(model) && isJson(reasoning) && isGiven(reasoning, "effort")
        ? unsupported("reasoning.effort")
        : undefined,
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

function unknownField(value: Json, known: ReadonlySet<string>, at: string): SimError | undefined {
  const [name] = unknownNames(value, known);
  if (name === undefined) return undefined;
  return badParameter(`${at}${name}`, `Unknown parameter: '${at}${name}'.`, "unknown_parameter");
}

function itemsOf({ input }: Json): readonly LocatedJson[] {
  return objects(input).map((value, index) => ({ at: `input[${index}]`, value }));
}

function typeOf({ type, role }: Json): string {
  return asText(type ?? (role === undefined ? "" : "message"));
}

function badItem({ at, value }: LocatedJson): SimError | undefined {
  const type = typeOf(value);
  const known = ITEMS[type];
  if (!known) {
    if (type !== "") return undefined;
    return badParameter(`${at}.type`, `Missing required parameter: '${at}.type'.`, "missing_required_parameter");
  }
  const unknown = unknownField(value, known, `${at}.`);
  if (unknown) return unknown;
  const prefix = PREFIXES[type];
  const { id } = value;
  if (prefix !== undefined && typeof id === "string") {
    if (!id.startsWith(prefix)) {
      const message = `Invalid '${at}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
      return badParameter(`${at}.id`, message, "invalid_value");
    }
    const long = tooLong(`${at}.id`, id, MAXIMUM_ID_CHARACTERS);
    if (long) return long;
  }
  const long = tooLong(`${at}.call_id`, value["call_id"], MAXIMUM_CALL_ID_CHARACTERS);
  if (long) return long;
  if (type === "function_call") return badName(`${at}.name`, value["name"]);
  if (type === "reasoning" && !Array.isArray(value["summary"]))
    return badParameter(`${at}.summary`, `Missing required parameter: '${at}.summary'.`, "missing_required_parameter");
  return type === "message" ? badMessage(at, value) : undefined;
}

function badMessage(at: string, { role, content }: Json): SimError | undefined {
  const roles = ["assistant", "system", "developer", "user"];
  if (!roles.includes(asText(role))) {
    const message = `Invalid value: '${asText(role)}'. Supported values are: ${roles.map((one) => `'${one}'`).join(", ")}.`;
    return badParameter(`${at}.role`, message, "invalid_value");
  }
  const allowed = PARTS[role === "assistant" ? "assistant" : "user"] ?? [];
  for (const [index, part] of objects(content).entries()) {
    const type = asText(part["type"]);
    const place = `${at}.content[${index}]`;
    if (!allowed.includes(type)) {
      const values = allowed.map((one) => `'${one}'`);
      const last = values.pop();
      const message = `Invalid value: '${type}'. Supported values are: ${values.join(", ")}${values.length > 1 ? "," : ""} and ${last}.`;
      return badParameter(place, message, "invalid_value");
    }
    const unknown = unknownField(part, PART_FIELDS[type] ?? new Set(), `${place}.`);
    if (unknown) return unknown;
  }
  return undefined;
}

/** Calls and outputs belong together by `call_id`, wherever they stand. */
function unpaired(items: readonly LocatedJson[]): SimError | undefined {
  const idsOf = (type: string) =>
    items.filter(({ value }) => value["type"] === type).map(({ value }) => asText(value["call_id"]));
  const calls = idsOf("function_call");
  const outputs = idsOf("function_call_output");
  const stray = outputs.find((id) => !calls.includes(id));
  if (stray !== undefined)
    return badParameter("input", `No tool call found for function call output with call_id ${stray}.`);
  const open = calls.find((id) => !outputs.includes(id));
  return open === undefined ? undefined : badParameter("input", `No tool output found for function call ${open}.`);
}

/** Reasoning is followed by what it led to. */
function lonelyReasoning(items: readonly LocatedJson[]): SimError | undefined {
  for (const [index, { value }] of items.entries()) {
    if (value["type"] !== "reasoning") continue;
    const next = items[index + 1]?.value;
    const follows =
      next && (next["role"] === "assistant" || !["message", "function_call_output"].includes(typeOf(next)));
    if (follows) continue;
    const message = `Item '${asText(value["id"])}' of type 'reasoning' was provided without its required following item.`;
    return badParameter("input", message);
  }
  return undefined;
}

function foreignReasoning({ type, encrypted_content: sealed }: Json): SimError | undefined {
  if (type !== "reasoning" || typeof sealed !== "string" || isSigned("openai", sealed, "reasoning")) return undefined;
  const short = `${sealed.slice(0, 4)}...${sealed.slice(-4)}`;
  const message = `The encrypted content ${short} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  return new SimError(400, message, { code: "invalid_encrypted_content" });
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
