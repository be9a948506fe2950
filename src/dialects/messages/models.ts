/** What a request for a model must keep to, because the API answers 400 to anything else. */
export interface ModelRules {
  /** The most output tokens it can be asked for, and what is asked for a client that named no limit. */
  readonly maxTokens: number;
  /** Whether `maxTokens` is known to be the model's own limit, not only a cautious default. */
  readonly known: boolean;
  /** Which of `temperature` and `top_p` it accepts; `none`: no `top_k` either. */
  readonly sampling: "both" | "one" | "none";
  /** `budget`: by `budget_tokens`, without `effort`. `adaptive`: by `effort`. `always`: the same, and never off. */
  readonly thinking: "none" | "budget" | "adaptive" | "always";
  /** Takes `output_config.format` and strict tools (`supportsStructuredOutput`). */
  readonly structured: boolean;
  /** Can be made to call a tool (`rejectsForcedToolUse`). */
  readonly forcedTools: boolean;
}

/** The first that matches a model's name, as the providers' own SDKs tell them apart (@ai-sdk/anthropic). */
const RULES: readonly (readonly [RegExp, ModelRules])[] = [
  [/claude-(?:instant|v?2|3-(?:haiku|opus|sonnet))/, rules(4_096, "both", "none", "tool")],
  [/claude-3-5/, rules(8_192, "both", "none", "tool")],
  [/claude-3-7/, rules(64_000, "both", "budget", "tool")],
  [/claude-opus-4-1(?!\d)/, rules(32_000, "one", "budget")],
  [/claude-opus-4(?!-[2-9](?!\d))/, rules(32_000, "one", "budget", "tool")],
  [/claude-opus-4-[2-5](?!\d)/, rules(64_000, "one", "budget")],
  [/claude-(?:sonnet|haiku)-4-5(?!\d)/, rules(64_000, "one", "budget")],
  [/claude-(?:sonnet|haiku)-4(?!-[6-9](?!\d))/, rules(64_000, "one", "budget", "tool")],
  [/claude-(?:opus|sonnet)-4-6/, rules(128_000, "one", "adaptive")],
  [/claude-(?:(?:opus|sonnet)-5-5|fable-5-1)/, rules(128_000, "none", "always", "native")],
  [/claude-fable/, rules(128_000, "none", "always")],
  [/claude-/, rules(128_000, "none", "adaptive")],
];

/** What every model of the API and of those that copy it takes. */
const OTHERS: ModelRules = {
  maxTokens: 4_096,
  known: false,
  sampling: "both",
  thinking: "adaptive",
  structured: false,
  forcedTools: true,
};

/** @param output how structured output is asked for: only as a tool's call, only by itself, or either. */
function rules(
  maxTokens: number,
  sampling: ModelRules["sampling"],
  thinking: ModelRules["thinking"],
  output: "tool" | "native" | "either" = "either",
): ModelRules {
  return {
    maxTokens,
    known: true,
    sampling,
    thinking,
    structured: output !== "tool",
    forcedTools: output !== "native",
  };
}

export function rulesOf(model: string): ModelRules {
  return RULES.find(([pattern]) => pattern.test(model))?.[1] ?? OTHERS;
}
