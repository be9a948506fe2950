import { isJson, type Json } from "../../../kit/index.ts";
import { asNumber, asText, SimError } from "../../fields.ts";
import { objects, type Rule } from "../rule.ts";
import { claudeOf } from "./models.ts";

/* What Converse refuses of a conversation, of its tools and its cache points, by the model behind it. */

function extrasOf({ additionalModelRequestFields: extras }: Json): Json {
  return isJson(extras) ? extras : {};
}

function choiceOf({ toolConfig: config }: Json): Json | undefined {
  const choice = isJson(config) ? config["toolChoice"] : undefined;
  return isJson(choice) ? choice : undefined;
}

function refusedByModel(message: string): SimError {
  return new SimError(400, `The model returned the following errors: ${message}`);
}

/** Cache points in the order in which they are read. */
function pointsOf({ toolConfig: config, system, messages }: Json): readonly Json[] {
  const blocks = [
    ...(isJson(config) ? objects(config["tools"]) : []),
    ...objects(system),
    ...objects(messages).flatMap(({ content }) => objects(content)),
  ];
  return blocks.flatMap(({ cachePoint: point }) => (isJson(point) ? [point] : []));
}

const MAXIMUM_POINTS = 4;

/** A budget for thinking, and what does not go with one. */
function budgetProblem(body: Json): string | undefined {
  const { thinking, tool_choice: own } = extrasOf(body);
  if (!isJson(thinking) || thinking["type"] !== "enabled") return undefined;
  const { budget_tokens: budget } = thinking;
  const config = isJson(body["inferenceConfig"]) ? body["inferenceConfig"] : {};
  if (asNumber(budget) < 1_024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (config["maxTokens"] !== undefined && asNumber(config["maxTokens"]) <= asNumber(budget))
    return "`max_tokens` must be greater than `thinking.budget_tokens`.";
  const choice = choiceOf(body);
  const ownType = isJson(own) ? own["type"] : undefined;
  if (choice?.["any"] !== undefined || choice?.["tool"] !== undefined || ownType === "any" || ownType === "tool")
    return "Thinking may not be enabled when tool_choice forces tool use.";
  return unthought(body);
}

/** The running tool loop, or the words to go on from, begin with a thought. */
function unthought({ messages }: Json): string | undefined {
  const turns = objects(messages);
  const index = turns.findLastIndex(({ role }) => role === "assistant");
  const blocks = objects(turns[index]?.["content"]);
  const [first] = blocks;
  const isBound = index === turns.length - 1 || blocks.some((block) => "toolUse" in block);
  if (first === undefined || !isBound || "reasoningContent" in first) return undefined;
  const kind = "toolUse" in first ? "tool_use" : "text";
  return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${kind}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
}

export const CONVERSE: readonly Rule[] = [
  {
    source:
      "https://github.com/anomalyco/opencode/issues/3077, https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html",
    models: /claude/,
    refuse: ({ body }) => {
      const problem = budgetProblem(body);
      return problem === undefined ? undefined : refusedByModel(problem);
    },
  },
  {
    source: "https://platform.claude.com/docs/en/build-with-claude/thinking#limits-and-feature-compatibility",
    models: /claude/,
    refuse: ({ body }) => {
      const { thinking, top_k: topK } = extrasOf(body);
      const config = isJson(body["inferenceConfig"]) ? body["inferenceConfig"] : {};
      if (!isJson(thinking) || thinking["type"] === "disabled") return undefined;
      if (config["temperature"] !== undefined && config["temperature"] !== 1)
        return refusedByModel("`temperature` may only be set to 1 when thinking is enabled.");
      return topK === undefined ? undefined : refusedByModel("`top_k` must be unset when thinking is enabled.");
    },
  },
  {
    source:
      "https://github.com/strands-agents/harness-sdk/issues/3758, https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html",
    refuse: ({ model, body }) => {
      const points = pointsOf(body);
      if (points.length > MAXIMUM_POINTS)
        return refusedByModel(
          `A maximum of ${MAXIMUM_POINTS} blocks with cache_control may be provided. Found ${points.length}.`,
        );
      if (points.length > 0 && !/claude|nova/.test(model))
        return new SimError(400, "You invoked an unsupported model or your request did not allow prompt caching.");
      const ttls = points.map(({ ttl }) => ttl ?? "5m");
      const late = ttls.findIndex((ttl, index) => ttl === "1h" && ttls.slice(0, index).includes("5m"));
      return late < 0
        ? undefined
        : refusedByModel("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
    },
  },
  {
    source:
      "https://github.com/strands-agents/sdk-python/issues/1241, https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html",
    models: /^(?!.*(?:claude|nova))/,
    refuse: ({ model, body }) => {
      const choice = choiceOf(body) ?? {};
      const taken = model.includes("mistral") ? ["auto", "any"] : ["auto"];
      const name = Object.keys(choice).find((one) => !taken.includes(one));
      return name === undefined
        ? undefined
        : new SimError(
            400,
            `This model doesn't support the toolConfig.toolChoice.${name} field. Remove toolConfig.toolChoice.${name} and try again.`,
          );
    },
  },
  {
    source:
      "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    models: /amazon\.titan|mistral-7b|mixtral-8x7b|cohere\.command-(?:text|light)/,
    refuse: ({ body }) =>
      objects(body["system"]).length > 0
        ? new SimError(
            400,
            "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
          )
        : undefined,
  },
  {
    source:
      "https://github.com/langchain-ai/langchain-aws/pull/599, https://platform.claude.com/docs/en/api/messages (stop_sequences)",
    models: /claude/,
    refuse: ({ model, body }) => {
      const config = isJson(body["inferenceConfig"]) ? body["inferenceConfig"] : {};
      const { stopSequences: stops } = config;
      const isBlank = Array.isArray(stops) && stops.some((stop) => asText(stop).trim() === "");
      return isBlank && claudeOf(model) !== undefined
        ? refusedByModel("stop_sequences: each stop sequence must contain non-whitespace")
        : undefined;
    },
  },
];
