import { isJson, type Json } from "../../kit/index.ts";
import type { ModelRules } from "./models.ts";

export interface ThinkingRequest {
  readonly body: Json;
  readonly rules: ModelRules;
  readonly maxTokens: number;
  /** A tool must be called. */
  readonly forced: boolean;
  /** The tool calls that the last results answer were made without thinking. */
  readonly unthoughtCalls: boolean;
  readonly verbatim: boolean;
  readonly lose: (pointer: string) => void;
}

export interface Thinking {
  readonly thinking?: Json;
  readonly effort?: string;
}

/** The least `budget_tokens`. */
const LEAST = 1024;
/** The most that an effort asks for by itself. */
const MOST = 32_000;

/** What share of the output an effort may think, for models that know budgets only. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** `thinking` and `reasoning_effort` as the model takes them. */
export function thinkingOf(request: ThinkingRequest): Thinking {
  const { body, rules, verbatim, lose } = request;
  const asked = isJson(body["thinking"]) ? body["thinking"] : null;
  if (asked === null && body["thinking"] !== null && body["thinking"] !== undefined) lose("/thinking");
  const given = body["reasoning_effort"];
  const effort = typeof given === "string" && (given === "none" || Object.hasOwn(EFFORTS, given)) ? given : null;
  if (effort === null && given !== null && given !== undefined) lose("/reasoning_effort");
  const byEffort = rules.thinking === "adaptive" || rules.thinking === "always";
  const thinking = asked ? asAsked(asked, effort, request) : verbatim ? null : fromEffort(effort, request);
  if (!byEffort && effort !== null && effort !== "none" && thinking?.["type"] !== "enabled") lose("/reasoning_effort");
  const level = effort === "none" && rules.thinking === "always" ? "low" : EFFORTS[effort ?? ""];
  return { ...(thinking ? { thinking } : {}), ...(byEffort && level !== undefined ? { effort: level } : {}) };
}

function asAsked(asked: Json, effort: string | null, request: ThinkingRequest): Json | null {
  const { rules, verbatim, lose } = request;
  const { type } = asked;
  if (type === "disabled") {
    if (rules.thinking === "always") lose("/thinking");
    return rules.thinking === "always" || rules.thinking === "none" ? null : asked;
  }
  if (rules.thinking === "none") {
    lose("/thinking");
    return null;
  }
  if (rules.thinking === "budget" && type !== "enabled") return budget(effort ?? "high", "/thinking", request);
  if (rules.thinking === "always" && type === "enabled") return { type: "adaptive" };
  return type === "enabled" && !verbatim ? fitted(asked, request) : asked;
}

function fromEffort(effort: string | null, request: ThinkingRequest): Json | null {
  const { rules, forced, lose } = request;
  if (effort === null) return null;
  if (effort === "none") {
    if (rules.thinking === "always") lose("/reasoning_effort");
    return rules.thinking === "adaptive" ? { type: "disabled" } : null;
  }
  if (rules.thinking === "none" || forced) return null;
  return rules.thinking === "budget" ? budget(effort, "/reasoning_effort", request) : { type: "adaptive" };
}

function budget(effort: string, from: string, request: ThinkingRequest): Json | null {
  const share = Math.floor(request.maxTokens * (SHARES[effort] ?? 0));
  return enabled(Math.max(LEAST, Math.min(share, MOST)), from, request);
}

function fitted(asked: Json, request: ThinkingRequest): Json | null {
  const { budget_tokens: tokens } = asked;
  if (typeof tokens !== "number") return asked;
  const most = request.maxTokens - 1;
  if (tokens > most) request.lose("/thinking/budget_tokens");
  const made = enabled(Math.min(tokens, most), "/thinking", request);
  return made && { ...asked, ...made };
}

/** null where the API would refuse: too little room, a forced tool, or a tool loop that began without thinking. */
function enabled(
  tokens: number,
  from: string,
  { maxTokens, forced, unthoughtCalls, verbatim, lose }: ThinkingRequest,
): Json | null {
  const refused = tokens < LEAST || tokens >= maxTokens || (!verbatim && (forced || unthoughtCalls));
  if (!refused) return { type: "enabled", budget_tokens: tokens };
  if (from !== "/reasoning_effort") lose(from);
  return null;
}
