import { type Json, isJson } from "../../kit/index.ts";
import { asNumber, asText, type SimError } from "../fields.ts";
import {
  formatTypeOf,
  functionsOf,
  messagesOf,
  objects,
  partsOf,
  refused,
  type Rule,
  textOf,
  unknownRole,
} from "./rule.ts";

const forcesTool = ({ tool_choice: choice }: Json): boolean => choice === "required" || isJson(choice);
const thinkingOff = ({ thinking }: Json): boolean => isJson(thinking) && thinking["type"] === "disabled";

/** An assistant's message with calls that does not bring back the reasoning it came with. */
function unreasonedCall(body: Json): number | undefined {
  const index = messagesOf(body).findIndex(
    ({ value }) =>
      value["role"] === "assistant" &&
      objects(value["tool_calls"]).length > 0 &&
      typeof value["reasoning_content"] !== "string",
  );
  return index < 0 ? undefined : index;
}

const DEEPSEEK_THINKS = /reasoner|v4/;

const DEEPSEEK: readonly Rule[] = [
  {
    source:
      "https://api-docs.deepseek.com/quick_start/error_codes, https://github.com/deepseek-ai/DeepSeek-V3/issues/337 (wording of the form)",
    models: /^(?!deepseek-)/,
    refuse: () => refused("Model Not Exist"),
  },
  {
    source:
      "https://github.com/langgenius/dify/issues/12868, https://github.com/cline/cline/issues/230, https://api-docs.deepseek.com/api/create-chat-completion (roles)",
    refuse: ({ body }) => {
      const unknown = unknownRole(body, ["system", "user", "assistant", "tool", "latest_reminder"]);
      return unknown
        ? refused(
            `Failed to deserialize the JSON body into the target type: messages[${unknown.index}].role: unknown variant \`${unknown.role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column 1`,
            422,
          )
        : undefined;
    },
  },
  {
    source: "https://github.com/1jehuang/jcode/issues/310, https://github.com/esengine/DeepSeek-Reasonix/issues/7859",
    refuse: ({ body }) => {
      const index = messagesOf(body).findIndex(
        ({ value }) => partsOf(value, "image_url", "file", "input_audio").length > 0,
      );
      if (index < 0) return undefined;
      const message = `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`image_url\`, expected \`text\` at line 1 column 1`;
      return refused(message);
    },
  },
  {
    source: "https://github.com/browser-use/browser-use/pull/215, https://api-docs.deepseek.com/guides/json_mode",
    refuse: ({ body }) => {
      const type = formatTypeOf(body);
      if (type === "json_schema") return refused("This response_format type is unavailable now");
      return type === "json_object" && !/json/i.test(textOf(body))
        ? refused("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.")
        : undefined;
    },
  },
  {
    source:
      "https://github.com/earendil-works/pi/issues/3636, https://github.com/JohnnyZ93/oai-compatible-copilot/issues/215, https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    models: DEEPSEEK_THINKS,
    refuse: ({ body }) =>
      !thinkingOff(body) && unreasonedCall(body) !== undefined
        ? refused("The `reasoning_content` in the thinking mode must be passed back to the API.")
        : undefined,
  },
  {
    source: "https://github.com/XiaomiMiMo/MiMo-Code/issues/2068, https://github.com/cloudwego/eino/issues/994",
    models: DEEPSEEK_THINKS,
    refuse: ({ body }) =>
      !thinkingOff(body) && forcesTool(body) ? refused("Thinking mode does not support this tool_choice") : undefined,
  },
  {
    source: "https://github.com/we0-dev/we0/issues/56",
    models: /^deepseek-chat$/,
    refuse: ({ body }) =>
      asNumber(body["max_tokens"]) > 8_192
        ? refused("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")
        : undefined,
  },
  {
    source: "https://github.com/nanbingxyz/5ire/issues/403",
    refuse: ({ body }) => {
      const bad = functionsOf(body).find(({ value }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(asText(value["name"])));
      if (!bad) return undefined;
      const message = `Invalid '${bad.at}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
      return refused(message);
    },
  },
];

const KIMI_THINKS = /thinking|k2[.-][5-9]|k[3-9]/;

const MOONSHOT: readonly Rule[] = [
  {
    source:
      "https://github.com/mastra-ai/mastra/issues/12592, https://github.com/n8n-io/n8n/issues/29142, https://github.com/spacedriveapp/spacebot/pull/364",
    models: KIMI_THINKS,
    refuse: ({ body }) => {
      const index = thinkingOff(body) ? undefined : unreasonedCall(body);
      return index === undefined
        ? undefined
        : refused(
            `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
          );
    },
  },
  {
    source: "https://github.com/theopenco/llmgateway/pull/2090, https://github.com/can1357/oh-my-pi/issues/1077",
    models: KIMI_THINKS,
    refuse: ({ body }) => {
      if (thinkingOff(body) || !forcesTool(body)) return undefined;
      return refused(
        body["tool_choice"] === "required"
          ? "tool_choice 'required' is incompatible with thinking enabled"
          : "tool_choice 'specified' is incompatible with thinking enabled",
      );
    },
  },
  {
    source: "https://github.com/HKUDS/nanobot/issues/3939",
    refuse: ({ body }) =>
      isJson(body["thinking"]) && body["reasoning_effort"] !== undefined
        ? refused("cannot specify both 'thinking' and 'reasoning_effort'")
        : undefined,
  },
  {
    source:
      "https://github.com/ThinkInAIXYZ/deepchat/pull/1507, https://platform.moonshot.ai/docs/guide/kimi-k2-6-quickstart",
    models: /k2[.-][5-9]/,
    refuse: ({ body }) => {
      const { temperature } = body;
      const only = thinkingOff(body) ? 0.6 : 1;
      return temperature === undefined || temperature === null || temperature === only
        ? undefined
        : refused(`invalid temperature: only ${only} is allowed for this model`);
    },
  },
  {
    source: "https://platform.moonshot.ai/docs/api/chat#fields-description (name of a function)",
    refuse: ({ body }) =>
      functionsOf(body).some(({ value }) => !/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(asText(value["name"])))
        ? refused(
            "Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes",
          )
        : undefined,
  },
];

function alibabaError(message: string): SimError {
  return refused(`<400> InternalError.Algo.InvalidParameter: ${message}`, 400, "invalid_parameter_error");
}

const qwenThinks = (model: string, body: Json): boolean =>
  body["enable_thinking"] === true || (body["enable_thinking"] !== false && /thinking|qwq|qwen3\.[5-9]/.test(model));

const ALIBABA: readonly Rule[] = [
  {
    source: "https://github.com/proma-ai/Proma/issues/1496, https://github.com/haru/redmine_ai_helper/issues/242",
    refuse: ({ body }) => {
      const unknown = unknownRole(body, ["system", "assistant", "user", "tool", "function"]);
      if (!unknown) return undefined;
      const message = `${unknown.role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[${unknown.index}].role'`;
      return refused(message);
    },
  },
  {
    source: "https://github.com/cloudwego/eino/issues/994, https://github.com/can1357/oh-my-pi/issues/886",
    refuse: ({ model, body }) =>
      qwenThinks(model, body) && forcesTool(body)
        ? alibabaError("The tool_choice parameter does not support being set to required or object in thinking mode")
        : undefined,
  },
  {
    source: "https://github.com/agno-agi/agno/pull/5317",
    refuse: ({ body }) =>
      formatTypeOf(body) === "json_object" && !/json/i.test(textOf(body))
        ? alibabaError(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
          )
        : undefined,
  },
  {
    source: "https://github.com/presenton/presenton/issues/184",
    refuse: ({ body }) =>
      body["enable_thinking"] === true && formatTypeOf(body) === "json_object"
        ? alibabaError("Json mode response is not supported when enable_thinking is true")
        : undefined,
  },
];

/** Vendors whose models think, and want back or refuse what goes with that. */
export const THINKING = {
  deepseek: DEEPSEEK,
  moonshot: MOONSHOT,
  alibaba: ALIBABA,
} satisfies Readonly<Record<string, readonly Rule[]>>;
