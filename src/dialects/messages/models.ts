import { EFFORTS, type Effort, UP_TO_HIGH } from "./efforts.ts";

/** A value of `thinking.type`. */
export type ThinkingMode = "enabled" | "adaptive" | "between_tools" | "disabled";

/** What a request for a model must keep to, because the API answers 400 to anything else. */
export interface ModelRules {
  /** The most output tokens it can be asked for, and what is asked for a client that named no limit. */
  readonly maxTokens: number;
  /** False for a model that is in no row: a client that speaks this format itself knows better what it takes. */
  readonly known: boolean;
  /** Which of `temperature` and `top_p` it accepts; `none`: no `top_k` either. */
  readonly sampling: "both" | "one" | "none";
  /** The values of `thinking.type` that it accepts; without any it does not think. */
  readonly modes: ReadonlySet<ThinkingMode>;
  /** The values of `output_config.effort` that it accepts, the lowest first. */
  readonly efforts: readonly Effort[];
  /** Accepts thinking that is off, or only between tools, up to effort `high`. */
  readonly offUpToHigh: boolean;
  /** Takes `output_config.format` and strict tools. */
  readonly structured: boolean;
  /** Can be made to call a tool. */
  readonly forcedTools: boolean;
  /** Goes on from an assistant message that ends the conversation. */
  readonly prefill: boolean;
  /** Takes messages of the role `system` behind a user's. */
  readonly systemMessages: boolean;
}

const BUDGET: ReadonlySet<ThinkingMode> = new Set(["enabled", "disabled"]);
const BOTH: ReadonlySet<ThinkingMode> = new Set(["enabled", "adaptive", "disabled"]);
const ADAPTIVE: ReadonlySet<ThinkingMode> = new Set(["adaptive", "disabled"]);
const ALWAYS: ReadonlySet<ThinkingMode> = new Set(["adaptive"]);
const BETWEEN: ReadonlySet<ThinkingMode> = new Set(["adaptive", "between_tools"]);

const NONE: readonly Effort[] = [];
const WITHOUT_XHIGH: readonly Effort[] = ["low", "medium", "high", "max"];

/** The plainest model: the first ones, which neither think nor hold to a schema. */
const FIRST: ModelRules = {
  maxTokens: 4_096,
  known: true,
  sampling: "both",
  modes: new Set(),
  efforts: NONE,
  offUpToHigh: false,
  structured: false,
  forcedTools: true,
  prefill: true,
  systemMessages: false,
};
/** Thinks with a budget, and holds to schemas. */
const FOUR: ModelRules = { ...FIRST, maxTokens: 64_000, sampling: "one", modes: BUDGET, structured: true };
/** Thinks by effort, and goes on from nobody's words. */
const FOUR_SIX: ModelRules = {
  ...FOUR,
  maxTokens: 128_000,
  modes: BOTH,
  efforts: WITHOUT_XHIGH,
  prefill: false,
};
/** Takes neither a budget nor sampling. */
const FOUR_SEVEN: ModelRules = { ...FOUR_SIX, sampling: "none", modes: ADAPTIVE, efforts: EFFORTS };
const FIVE: ModelRules = { ...FOUR_SEVEN, offUpToHigh: true, systemMessages: true };
const FABLE: ModelRules = { ...FIVE, modes: ALWAYS };

/**
 * The first that matches a model's name. Output limits, sampling, forced tools: `getModelCapabilities` of @ai-sdk/anthropic;
 * thinking: https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting (table) and
 * https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5 (`between_tools`); efforts:
 * https://platform.claude.com/docs/en/build-with-claude/effort; prefill, system messages:
 * https://platform.claude.com/docs/en/build-with-claude/working-with-messages and
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages.
 */
const RULES: readonly (readonly [RegExp, ModelRules])[] = [
  [/claude-(?:instant|v?2|3-(?:haiku|opus|sonnet))/, FIRST],
  [/claude-3-5/, { ...FIRST, maxTokens: 8_192 }],
  [/claude-3-7/, { ...FIRST, maxTokens: 64_000, modes: BUDGET }],
  [/claude-opus-4-1(?!\d)/, { ...FOUR, maxTokens: 32_000 }],
  [/claude-opus-4(?!-[2-9](?!\d))/, { ...FOUR, maxTokens: 32_000, structured: false }],
  [/claude-opus-4-[2-5](?!\d)/, { ...FOUR, efforts: UP_TO_HIGH }],
  [/claude-(?:sonnet|haiku)-4-5(?!\d)/, FOUR],
  [/claude-(?:sonnet|haiku)-4(?!-[6-9](?!\d))/, { ...FOUR, structured: false }],
  [/claude-(?:opus|sonnet)-4-6/, FOUR_SIX],
  [/claude-opus-4-7/, FOUR_SEVEN],
  [/claude-opus-4-8/, { ...FOUR_SEVEN, systemMessages: true }],
  [/claude-mythos-preview/, { ...FOUR_SEVEN, modes: new Set(["enabled", "adaptive"]), efforts: WITHOUT_XHIGH }],
  [/claude-sonnet-5-5/, { ...FIVE, modes: BETWEEN, forcedTools: false }],
  [/claude-(?:opus-5-5|(?:fable|mythos)-5-[1-9])/, { ...FABLE, forcedTools: false }],
  [/claude-(?:fable|mythos)/, FABLE],
  [/claude-sonnet-5/, FOUR_SEVEN],
  [/claude-/, FIVE],
];

/** What every model of the API and of those that copy it takes. */
const OTHERS: ModelRules = {
  ...FIRST,
  known: false,
  modes: new Set(["enabled", "adaptive", "between_tools", "disabled"]),
  efforts: EFFORTS,
  systemMessages: true,
};

export function rulesOf(model: string): ModelRules {
  return RULES.find(([pattern]) => pattern.test(model))?.[1] ?? OTHERS;
}
