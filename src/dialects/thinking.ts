import { type Call, type DialectName, EFFORTS, isJson, type Json, type Thinking } from "../kit/index.ts";
import type { UpstreamDialect } from "./dialect.ts";

/*
 * Which models think, and how much a call asks them to: their thoughts are billed as output, and many never show them. A
 * client that leaves such an answer is charged for them.
 */

interface ThinkingModels {
  /** The model's name, wherever it is served. */
  readonly match: RegExp;
  readonly source: string;
  /** It cannot be told not to think. */
  readonly always: boolean;
}

/** Where a model's name begins: a path of a proxy, or an operator's own name may stand before it. */
const model = (pattern: string): RegExp => new RegExp(`(?:^|[/:_.-])(?:${pattern})`, "i");

/** The first that matches. */
const MODELS: readonly ThinkingModels[] = [
  {
    match: model(
      String.raw`o\d+(?:-(?:mini|pro|preview|deep-research))?(?![a-z0-9.])|gpt-5-(?!chat)|gpt-5(?![a-z0-9.-])`,
    ),
    source: "https://developers.openai.com/api/docs/guides/reasoning",
    always: true,
  },
  {
    match: model(String.raw`gpt-(?:5\.\d+|[6-9](?:\.\d+)?)|codex-mini`),
    source: "https://developers.openai.com/api/docs/guides/reasoning",
    always: false,
  },
  {
    match: model(String.raw`grok-(?:3-mini|4|[5-9]|code|latest)(?!.*non-reasoning)`),
    source: "https://docs.x.ai/docs/guides/reasoning",
    always: true,
  },
  {
    match: model(String.raw`gemini-(?:2\.5-flash(?!-(?:image|lite))|2\.5-flash-lite)(?!.*(?:tts|audio|live))`),
    source: "https://ai.google.dev/gemini-api/docs/thinking",
    always: false,
  },
  {
    match: model(String.raw`gemini-(?:2\.5-pro|[3-9]|(?:pro|flash)(?:-lite)?-latest)(?!.*(?:tts|audio|live))`),
    source: "https://ai.google.dev/gemini-api/docs/thinking",
    always: true,
  },
  {
    match: model(
      String.raw`deepseek-(?:reasoner|r1)|q[wv]q|magistral|minimax-m\d|gpt-oss|(?:qwen|kimi|glm|ernie|hunyuan).*-thinking`,
    ),
    source: "https://api-docs.deepseek.com/guides/reasoning_model",
    always: true,
  },
  {
    match: model(String.raw`sonar-(?:reasoning|deep-research)`),
    source: "https://docs.perplexity.ai/api-reference/chat-completions-post",
    always: true,
  },
];

/** Whether a model of that name thinks when it is called so; undefined for a name that says nothing of it. */
export function thinksByName({ body }: Call, name: string): boolean | undefined {
  const known = MODELS.find(({ match }) => match.test(name));
  if (known === undefined) return isOff(body) ? false : hidesThoughts(body) || undefined;
  return known.always || !isOff(body);
}

/** What asks that nothing be thought. */
export function isOff({ reasoning_effort: effort, thinking, enable_thinking: enabled }: Json): boolean {
  if (isJson(thinking)) return thinking["type"] === "disabled";
  return effort === "none" || enabled === false;
}

/**
 * Whether thoughts are asked to be kept back, which are made all the same:
 * https://openrouter.ai/docs/use-cases/reasoning-tokens, https://console.groq.com/docs/reasoning
 */
function hidesThoughts({ reasoning, include_reasoning: included, reasoning_format: format }: Json): boolean {
  return (isJson(reasoning) && reasoning["exclude"] === true) || included === false || format === "hidden";
}

/** Dialects whose thoughts are all there is of them, where they are shown. Elsewhere they are summaries, or may be. */
const SHOWN_WHOLE: ReadonlySet<DialectName> = new Set(["openai", "azure", "cohere"]);
/** Names among a model's `features` that say that it thinks. */
const FEATURES = ["reasoning", "thinking"];

/** How a model thinks at a call; null where it does not, as far as is known. @param features of the model, as configured */
export function thinkingOf(
  dialect: UpstreamDialect,
  call: Call,
  name: string,
  features: readonly string[],
): Thinking | null {
  if (call.kind !== "chat") return null;
  const thinks = dialect.thinks?.(call, name) ?? FEATURES.some((feature) => features.includes(feature));
  return thinks ? { effort: effortOf(call.body), whole: SHOWN_WHOLE.has(dialect.name) } : null;
}

const MAX_BUDGET_BITS = 20;

/** Calls that ask for as much thinking; one of few words, whatever clients write. */
function effortOf({ reasoning_effort: effort, thinking }: Json): string {
  const level = EFFORTS.find((one) => one === effort) ?? "";
  if (!isJson(thinking)) return level;
  const { type, budget_tokens: budget } = thinking;
  if (typeof budget === "number" && budget >= 1)
    return `${level} budget 2^${Math.min(Math.ceil(Math.log2(budget)), MAX_BUDGET_BITS)}`;
  return type === "adaptive" || type === "enabled" || type === "between_tools" ? `${level} ${type}` : level;
}
