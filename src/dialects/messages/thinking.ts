import { type Call, isJson, type Json } from "../../kit/index.ts";
import { objects } from "../canonical/json.ts";
import { MARKED } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import {
  budgetOfEffort,
  type Effort,
  effortNamed,
  effortOfBudget,
  MIN_BUDGET_TOKENS,
  nearestEffort,
  UP_TO_HIGH,
} from "./efforts.ts";
import { isOff } from "../thinking.ts";
import type { ModelRules, ThinkingMode } from "./models.ts";

/*
 * One rule of thinking for every place that serves Claude and every client: what the client asks for in whichever way, as
 * the model knows it. https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
 */

interface ThinkingRequest {
  readonly body: Json;
  readonly rules: ModelRules;
  readonly maxTokens: number;
  /** The model must call a tool. */
  readonly forced: boolean;
  /** `mustHaveThought` of the conversation. */
  readonly unthought: boolean;
  /** A client of this format means by an effort how much is written, not that the model thinks. */
  readonly effortThinks: boolean;
  readonly report: Report;
}

/** What is sent; each is left out where the client does not ask or the model does not take it. */
export interface Thinking {
  readonly thinking?: Json;
  readonly effort?: Effort;
}

/** Fields of `thinking` beside its type that say how thoughts are shown and checked, not how much the model thinks. */
const SHOWN: ReadonlySet<string> = new Set(["display", "block_binding"]);

/** `thinking` and `reasoning_effort` as the model takes them. */
export function thinkingOf(request: ThinkingRequest): Thinking {
  const { body, rules, effortThinks, report } = request;
  const { thinking: asked, reasoning_effort: given } = body;
  const effort = effortNamed(given);
  const isOff = given === "none";
  if (effort === null && !isOff && given !== null && given !== undefined) report.drop("/reasoning_effort");
  if (isJson(asked)) return asAsked(asked, request);
  if (asked !== null && asked !== undefined) report.drop("/thinking");
  if (isOff) return off("/reasoning_effort", request);
  if (effort === null) return {};
  return effortThinks ? byEffort(effort, request) : withEffort({}, rules, effort, report);
}

function asAsked(asked: Json, request: ThinkingRequest): Thinking {
  const { rules } = request;
  const type = asked["type"] as ThinkingMode;
  const effort = effortNamed(request.body["reasoning_effort"]);
  switch (type) {
    case "disabled":
      return off("/thinking", request);
    case "between_tools":
      return rules.modes.has(type) ? quiet({ type }, effort, request) : off("/thinking", request);
    case "enabled":
    case "adaptive":
      return on(asked, effort, request);
    default: {
      // A mode that is newer than this table: only the client can know that the model has it.
      if (!rules.known) return withEffort({ thinking: asked }, rules, effort, request.report);
      request.report.drop("/thinking");
      return withEffort({}, rules, effort, request.report);
    }
  }
}

/** Thinking that is off, or as little of it as the model has. @param from what asks for it. */
function off(from: string, request: ThinkingRequest): Thinking {
  const { body, rules, report } = request;
  const { modes } = rules;
  const effort = effortNamed(body["reasoning_effort"]);
  const byBudget = modes.has("enabled") && !modes.has("adaptive");
  // Models that know budgets only do not think unless they are told to.
  if (modes.has("disabled")) {
    return from === "/reasoning_effort" && byBudget ? {} : quiet({ type: "disabled" }, effort, request);
  }
  if (modes.has("between_tools")) return quiet({ type: "between_tools" }, effort, request);
  if (modes.size === 0) {
    if (isJson(body["thinking"]) && body["thinking"]["type"] === "between_tools") report.drop("/thinking");
    return withEffort({}, rules, effort, report);
  }
  report.drop(from);
  return withEffort({}, rules, from === "/reasoning_effort" ? "low" : effort, report);
}

/** With an effort that goes with thinking that is off, or only between tools. */
function quiet(thinking: Json, effort: Effort | null, { rules, report }: ThinkingRequest): Thinking {
  const lowered = effort === null ? null : nearestEffort(effort, UP_TO_HIGH);
  return withEffort({ thinking }, rules, rules.offUpToHigh ? lowered : effort, report);
}

function on(asked: Json, effort: Effort | null, request: ThinkingRequest): Thinking {
  const { body, rules, maxTokens, report } = request;
  const { modes } = rules;
  const { type, budget_tokens: tokens } = asked;
  const budget = type === "enabled" && typeof tokens === "number" ? tokens : null;
  const shown = Object.fromEntries(Object.entries(asked).filter(([name]) => SHOWN.has(name)));
  const becomesAdaptive = rules.known && (!modes.has("enabled") || barredBudget(budget, request));
  if (modes.has("adaptive") && (type === "adaptive" || becomesAdaptive)) {
    const level = effort ?? (budget === null ? null : effortOfBudget(budget));
    const kept = type === "adaptive" ? asked : { type: "adaptive", ...shown };
    return withEffort({ thinking: kept }, rules, level, report);
  }
  if (!modes.has("enabled")) {
    report.drop("/thinking");
    return withEffort({}, rules, effort, report);
  }
  const most = maxTokens - 1;
  if (budget !== null && budget > most) report.drop("/thinking/budget_tokens");
  const wanted = budget === null ? budgetOfEffort(body["reasoning_effort"], maxTokens) : Math.min(budget, most);
  if (barredBudget(wanted, request)) {
    report.drop("/thinking");
    return withEffort({}, rules, effort, report);
  }
  const thinking = { ...shown, type: "enabled", budget_tokens: wanted };
  // The budget says what the effort would.
  return rules.efforts.length === 0 ? { thinking } : withEffort({ thinking }, rules, effort, report);
}

/** A client of another format that names an effort wants the model to think. */
function byEffort(effort: Effort, request: ThinkingRequest): Thinking {
  const { body, rules, maxTokens, forced, report } = request;
  const { modes } = rules;
  if (modes.has("adaptive")) return withEffort(forced ? {} : { thinking: { type: "adaptive" } }, rules, effort, report);
  const tokens = budgetOfEffort(body["reasoning_effort"], maxTokens);
  const thinks = modes.has("enabled") && !barredBudget(tokens, request);
  if (!thinks) return withEffort({}, rules, effort, report);
  return { thinking: { type: "enabled", budget_tokens: tokens } };
}

/** Where the API refuses a budget: too little room, a forced tool, or a turn that began without a thought. */
function barredBudget(tokens: number | null, { maxTokens, forced, unthought }: ThinkingRequest): boolean {
  return forced || unthought || tokens === null || tokens < MIN_BUDGET_TOKENS || tokens >= maxTokens;
}

function withEffort(sent: Thinking, { efforts }: ModelRules, effort: Effort | null, report: Report): Thinking {
  const level = effort === null ? null : nearestEffort(effort, efforts);
  if (effort !== null && level === null) report.drop("/reasoning_effort");
  return level === null ? sent : { ...sent, effort: level };
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

/** What a block of the dialect is, as far as thinking goes. */
export type KindOf = (block: Json) => "thought" | "call" | null;

/**
 * True if a budget is refused for lack of a thought: "When `thinking` is enabled, a final `assistant` message must start with
 * a thinking block" (https://github.com/anomalyco/opencode/issues/3077). So it is in a tool loop in which another model, or
 * this one without thinking, made the last calls, and where the conversation ends with the assistant's own words.
 */
export function mustHaveThought(messages: readonly Json[], kindOf: KindOf): boolean {
  const final = messages.findLast(({ role }) => role === "assistant");
  if (final === undefined) return false;
  const kinds = objects(final["content"]).map(kindOf);
  return kinds[0] !== "thought" && (kinds.includes("call") || final === messages.at(-1));
}

/**
 * The conversation without thoughts that the request may not have: "When thinking is disabled, an `assistant` message in
 * the final position cannot contain `thinking`" (https://github.com/tailcallhq/forgecode/issues/1853). A model that never
 * thinks takes none at all.
 * @param drop reports a block.
 */
export function withFitThoughts(
  messages: readonly Json[],
  { modes, known }: ModelRules,
  { thinks, kindOf, drop }: { readonly thinks: boolean; readonly kindOf: KindOf; readonly drop: (block: Json) => void },
): readonly Json[] {
  if (!known || thinks || modes.has("adaptive")) return messages;
  const final = messages.at(-1);
  return messages.flatMap((message) => {
    if (message["role"] !== "assistant" || (modes.size > 0 && message !== final)) return [message];
    const blocks = objects(message["content"]);
    const kept = blocks.filter((block) => kindOf(block) !== "thought");
    if (kept.length === blocks.length) return [message];
    for (const block of blocks) if (kindOf(block) === "thought") drop(block);
    return kept.length === 0 ? [] : [{ ...message, content: kept }];
  });
}

/** Whether Claude thinks when it is called so; undefined where nothing in the call says so. */
export function claudeThinks({ body, dialect }: Call, { modes, known }: ModelRules): boolean | undefined {
  if (modes.size === 0) return false;
  if (known && !modes.has("disabled")) return true;
  if (isOff(body)) return false;
  // A client of another format that names an effort wants the model to think.
  const isAsked =
    isJson(body["thinking"]) || (dialect !== "messages" && effortNamed(body["reasoning_effort"]) !== null);
  return isAsked || undefined;
}
