import { isJson, type Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";
import { shown } from "../shown.ts";
import { formatTypeOf, functionsOf, messagesOf, objects, partsOf, refused, type Rule, textOf } from "./rule.ts";

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

function strangeRole(
  body: Json,
  roles: readonly string[],
): { readonly index: number; readonly role: string } | undefined {
  for (const [index, { value }] of messagesOf(body).entries()) {
    const role = shown(value["role"]);
    if (!roles.includes(role)) return { index, role };
  }
  return undefined;
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
      const strange = strangeRole(body, ["system", "user", "assistant", "tool", "latest_reminder"]);
      return strange
        ? refused(
            `Failed to deserialize the JSON body into the target type: messages[${strange.index}].role: unknown variant \`${strange.role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column 1`,
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
      Number(body["max_tokens"] ?? 1) > 8_192
        ? refused("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")
        : undefined,
  },
  {
    source: "https://github.com/nanbingxyz/5ire/issues/403",
    refuse: ({ body }) => {
      const bad = functionsOf(body).find(({ value }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(shown(value["name"])));
      if (!bad) return undefined;
      const message = `Invalid '${bad.at}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
      return refused(message);
    },
  },
];

function xaiError(error: string): SimError {
  return new SimError(400, error, { body: { code: "invalid-argument", error } });
}

const XAI: readonly Rule[] = [
  {
    source:
      "https://github.com/yym68686/uni-api/issues/105, https://github.com/miaoxworld/NativeTavern/issues/83, https://github.com/can1357/oh-my-pi/pull/7454, https://docs.x.ai/developers/model-capabilities/text/reasoning",
    refuse: ({ model, body }) => {
      const given = (name: string): boolean => body[name] !== undefined && body[name] !== null;
      const reasons = /^grok-(?:3-mini|4|code|build)/.test(model) && !/non-reasoning/.test(model);
      const name = given("presence_penalty")
        ? "presencePenalty"
        : given("frequency_penalty")
          ? "frequencyPenalty"
          : reasons && given("stop")
            ? "stop"
            : undefined;
      return name === undefined ? undefined : xaiError(`Model ${model} does not support parameter ${name}.`);
    },
  },
  {
    source:
      "https://github.com/NousResearch/hermes-agent/pull/23435, https://github.com/chenyme/grok2api/issues/814, https://github.com/theopenco/llmgateway/pull/3046",
    refuse: ({ model, body: { reasoning_effort: effort } }) => {
      if (effort === undefined || effort === null) return undefined;
      const known = XAI_EFFORTS.find(([pattern]) => pattern.test(model))?.[1];
      if (known === undefined) return xaiError(`Model ${model} does not support parameter reasoningEffort.`);
      return known.split(" ").includes(shown(effort))
        ? undefined
        : xaiError(`Invalid reasoning effort: ${shown(effort)}`);
    },
  },
];

const XAI_EFFORTS: readonly (readonly [RegExp, string])[] = [
  [/^grok-3-mini/, "low high"],
  [/^grok-4\.3/, "none low medium high"],
  [/^grok-4\.20-multi-agent/, "low medium high xhigh"],
  [/^grok-4\.(?:[5-9])(?!\d)/, "low medium high"],
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
      functionsOf(body).some(({ value }) => !/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(shown(value["name"])))
        ? refused(
            "Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes",
          )
        : undefined,
  },
];

const TOGETHER: readonly Rule[] = [
  {
    source:
      "https://github.com/SWE-agent/SWE-agent/issues/135, https://github.com/mozilla-ai/any-llm/issues/714, https://github.com/togethercomputer/openapi (roles, stop)",
    refuse: ({ body }) => {
      const good =
        strangeRole(body, ["system", "user", "assistant", "tool", "function"]) === undefined &&
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
        ...(["system", "user", "assistant"].includes(shown(value["role"]))
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
      const rest = begin < 0 ? [] : roles.slice(begin);
      if (rest.every((role, index) => role === (index % 2 === 0 ? "user" : "assistant"))) return undefined;
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

function alibabaError(message: string): SimError {
  return refused(`<400> InternalError.Algo.InvalidParameter: ${message}`, 400, "invalid_parameter_error");
}

const qwenThinks = (model: string, body: Json): boolean =>
  body["enable_thinking"] === true || (body["enable_thinking"] !== false && /thinking|qwq|qwen3\.[5-9]/.test(model));

const ALIBABA: readonly Rule[] = [
  {
    source: "https://github.com/proma-ai/Proma/issues/1496, https://github.com/haru/redmine_ai_helper/issues/242",
    refuse: ({ body }) => {
      const strange = strangeRole(body, ["system", "assistant", "user", "tool", "function"]);
      if (!strange) return undefined;
      const message = `${strange.role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[${strange.index}].role'`;
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

function zaiError(code: string, message: string): SimError {
  return new SimError(400, message, { body: { error: { code, message } } });
}

const ZAI: readonly Rule[] = [
  {
    source:
      "https://github.com/anomalyco/opencode/issues/2557, https://github.com/MetaGLM/zhipuai-sdk-python-v4/issues/14, https://docs.z.ai/api-reference/llm/chat-completion (roles)",
    refuse: ({ body }) =>
      strangeRole(body, ["system", "user", "assistant", "tool"]) ||
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
];

/** Vendors that pass over what they do not know. */
export const OPEN = {
  deepseek: DEEPSEEK,
  xai: XAI,
  moonshot: MOONSHOT,
  together: TOGETHER,
  perplexity: PERPLEXITY,
  alibaba: ALIBABA,
  zai: ZAI,
  openrouter: OPENROUTER,
} satisfies Readonly<Record<string, readonly Rule[]>>;
