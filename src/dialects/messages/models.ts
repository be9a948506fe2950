import { isJson, type Json } from "../../kit/index.ts";
import { mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { objects } from "../canonical/json.ts";
import { MARKED } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_MAX_OPTIONAL_PROPERTIES, CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";

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

/** How structured output is asked of a Claude model, wherever it is served. */
export interface ClaudeOutput {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** The schema for the model's own structured output; null: none. */
  readonly schema: Json | null;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/** Where a canonical body names its schema. */
export const SCHEMA_AT = "/response_format/json_schema/schema";

/**
 * What @ai-sdk/anthropic does (`structuredOutputMode: "auto"`): the model's own structured output where it has one and the
 * schema is one that it can be held to, else a tool that it must call. With a budget for thinking no call may be forced:
 * the tool is offered.
 * @param structured the model has structured output of its own.
 * @param forcedTools it can be made to call a tool.
 */
export function claudeOutput(
  body: Json,
  { structured, forcedTools }: { readonly structured: boolean; readonly forcedTools: boolean },
  report: Report,
): ClaudeOutput {
  const { response_format: format, thinking } = body;
  const schema = requestedSchema(format);
  if (schema === null) {
    // "Any JSON" has no counterpart.
    if (isJson(format) ? format["type"] !== "text" : format !== null && format !== undefined) {
      report.drop("/response_format");
    }
    return { body, schema: null, tool: null };
  }
  const fitted = fitSchema(schema, CLAUDE_SCHEMAS, report.schemaWork);
  const isHeld = structured && fitted.shaped && fitted.optional <= CLAUDE_MAX_OPTIONAL_PROPERTIES;
  if (!isHeld && forcedTools) {
    const choice = isJson(thinking) && thinking["type"] === "enabled" ? "auto" : "required";
    const asTool = fitSchema(schema, CLAUDE_TOOLS, report.schemaWork);
    const tool = withJsonTool(body, asTool.schema, choice);
    if (tool !== null) {
      report.dropWithin(asTool, SCHEMA_AT);
      if (choice === "auto") report.drop("/response_format");
      return { body: { ...tool.body, parallel_tool_calls: false }, schema: null, tool: tool.name };
    }
  }
  if (!structured) {
    if (!mustCall(body)) report.drop("/response_format");
    return { body, schema: null, tool: null };
  }
  report.dropWithin(fitted, SCHEMA_AT);
  return { body, schema: fitted.schema, tool: null };
}

/**
 * What Claude wants back word for word: it refuses any that it has not signed. Signatures of one platform are good at another
 * (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
type ClaudeReasoning = { readonly text: string; readonly signature: string } | { readonly data: string };

/** null for a detail that another provider made, or nobody signed. */
export function claudeReasoning({ type, text, signature, data, id, format }: Json): ClaudeReasoning | null {
  // OpenRouter says whose it is (https://openrouter.ai/docs/use-cases/reasoning-tokens, reasoning_details).
  if (typeof format === "string" && !format.startsWith("anthropic")) return null;
  if (type === "reasoning.text" && isOwn(signature)) return { text: typeof text === "string" ? text : "", signature };
  // One with an id is an item of OpenAI's, encrypted for OpenAI.
  return type === "reasoning.encrypted" && isOwn(data) && typeof id !== "string" ? { data } : null;
}

function isOwn(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !MARKED.test(value);
}

/**
 * Whether the last turn of the model called tools without thinking first: it may not begin to think in such a loop.
 * @param kindOf what a block of the dialect is.
 */
export function callsWithoutThinking(
  messages: readonly Json[],
  kindOf: (block: Json) => "thought" | "call" | null,
): boolean {
  const kinds = objects(messages.findLast(({ role }) => role === "assistant")?.["content"]).map(kindOf);
  return kinds.includes("call") && kinds[0] !== "thought";
}
