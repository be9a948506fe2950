import { isJson, type Json } from "../../kit/index.ts";
import { outputLimit, type Report } from "../canonical/report.ts";
import type { ModelRules } from "./models.ts";
import { VERSION } from "./place.ts";

/** Asks for more output than the model gives by itself: `output-128k-2025-02-19` (SDK @anthropic-ai/sdk, AnthropicBeta). */
const OUTPUT_BETA = /\boutput-(\d+)k-/;

interface Limits {
  readonly betas?: string | undefined;
  readonly configured?: number | undefined;
}

/**
 * The API demands a limit. One beyond what the model can write asks for nothing more than that, and is reported.
 * @param more `configured`: tokens that the model is said to write at most, for a client that named no limit; `betas` of the
 * request.
 */
export function maxTokensOf(body: Json, { maxTokens, known }: ModelRules, report: Report, more: Limits = {}): number {
  const { betas = "", configured } = more;
  const limit = Math.max(maxTokens, Number(OUTPUT_BETA.exec(betas)?.[1] ?? 0) * 1000);
  const asked = outputLimit(body, known ? limit : null, report);
  if (asked !== undefined) return asked;
  if (configured !== undefined) return known ? Math.min(configured, maxTokens) : configured;
  const { thinking } = body;
  const budget = isJson(thinking) ? thinking["budget_tokens"] : 0;
  // The budget is a part of it: what is left is for the answer.
  return known || typeof budget !== "number" ? maxTokens : maxTokens + Math.max(0, Math.ceil(budget));
}

export function stopSequences(stop: unknown, sameFormat: boolean, report: Report): Json {
  if (stop === null || stop === undefined) return {};
  const many = Array.isArray(stop);
  const sequences = (many ? stop : [stop]).filter((sequence: unknown, index) => {
    // The API refuses those without a visible character.
    const kept = sameFormat || (typeof sequence === "string" && sequence.trim() !== "");
    if (!kept) report.drop(many ? `/stop/${index}` : "/stop");
    return kept;
  });
  return sequences.length > 0 || sameFormat ? { stop_sequences: sequences } : {};
}

/** Who the request is for; one of two names is enough. */
export function metadataOf({ user, safety_identifier }: Json, report: Report): Json {
  const id = user ?? safety_identifier;
  if (id === null || id === undefined) return {};
  if (typeof id === "string") return { metadata: { user_id: id } };
  report.drop(user === id ? "/user" : "/safety_identifier");
  return {};
}

/** `default` is the capacity that everyone has; what costs more or waits longer has no counterpart. */
export function serviceTier(tier: unknown, sameFormat: boolean, report: Report): Json {
  if (tier === null || tier === undefined) return {};
  if (sameFormat || tier === "auto" || tier === "standard_only") return { service_tier: tier };
  if (tier === "default") return { service_tier: "standard_only" };
  report.drop("/service_tier");
  return {};
}

interface SamplingRequest {
  readonly body: Json;
  readonly rules: ModelRules;
  readonly version: string;
  /** The model thinks first, which the API allows at its own temperature only. */
  readonly thinks: boolean;
  readonly sameFormat: boolean;
  readonly report: Report;
}

const NAMES = ["temperature", "top_p", "top_k"] as const;

/** `temperature`, `top_p` and `top_k` as far as version, model and thinking allow; the API answers 400 to any other. */
export function samplingOf({ body, rules, version, thinks, sameFormat, report }: SamplingRequest): Json {
  const allowed = version <= VERSION && rules.sampling !== "none" && (sameFormat || !thinks);
  const kept: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = body[name];
    if (typeof value !== "number") continue;
    const standard = name !== "top_k" && value === 1;
    if (standard && !(sameFormat && allowed)) continue;
    const second = !sameFormat && name === "top_p" && rules.sampling === "one" && kept["temperature"] !== undefined;
    if (!allowed || second) report.drop(`/${name}`);
    else kept[name] = value;
  }
  const { temperature } = kept;
  if (typeof temperature === "number" && temperature > 1) {
    report.drop("/temperature");
    kept["temperature"] = 1;
  }
  return kept;
}

interface ThinkingRequest {
  readonly body: Json;
  readonly rules: ModelRules;
  readonly maxTokens: number;
  /** A tool must be called. */
  readonly forced: boolean;
  /** The tool calls that the last results answer were made without thinking. */
  readonly calledWithoutThinking: boolean;
  readonly sameFormat: boolean;
  readonly report: Report;
}

interface Thinking {
  readonly thinking?: Json;
  readonly effort?: string;
}

/** The least `budget_tokens`. */
const MIN_BUDGET_TOKENS = 1024;
/** The most that an effort asks for by itself. */
const MAX_EFFORT_BUDGET_TOKENS = 32_000;

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
  const { body, rules, sameFormat, report } = request;
  const asked = isJson(body["thinking"]) ? body["thinking"] : null;
  if (asked === null && body["thinking"] !== null && body["thinking"] !== undefined) report.drop("/thinking");
  const given = body["reasoning_effort"];
  const effort = typeof given === "string" && (given === "none" || Object.hasOwn(EFFORTS, given)) ? given : null;
  if (effort === null && given !== null && given !== undefined) report.drop("/reasoning_effort");
  const byEffort = rules.thinking === "adaptive" || rules.thinking === "always";
  const thinking = asked ? asAsked(asked, effort, request) : sameFormat ? null : fromEffort(effort, request);
  if (!byEffort && effort !== null && effort !== "none" && thinking?.["type"] !== "enabled")
    report.drop("/reasoning_effort");
  const level = effort === "none" && rules.thinking === "always" ? "low" : EFFORTS[effort ?? ""];
  return { ...(thinking ? { thinking } : {}), ...(byEffort && level !== undefined ? { effort: level } : {}) };
}

function asAsked(asked: Json, effort: string | null, request: ThinkingRequest): Json | null {
  const { rules, sameFormat, report } = request;
  const { type } = asked;
  if (type === "disabled") {
    if (rules.thinking === "always") report.drop("/thinking");
    return rules.thinking === "always" || rules.thinking === "none" ? null : asked;
  }
  if (rules.thinking === "none") {
    report.drop("/thinking");
    return null;
  }
  if (rules.thinking === "budget" && type !== "enabled") return budget(effort ?? "high", "/thinking", request);
  if (rules.thinking === "always" && type === "enabled") return { type: "adaptive" };
  return type === "enabled" && !sameFormat ? fitted(asked, request) : asked;
}

function fromEffort(effort: string | null, request: ThinkingRequest): Json | null {
  const { rules, forced, report } = request;
  if (effort === null) return null;
  if (effort === "none") {
    if (rules.thinking === "always") report.drop("/reasoning_effort");
    return rules.thinking === "adaptive" ? { type: "disabled" } : null;
  }
  if (rules.thinking === "none" || forced) return null;
  return rules.thinking === "budget" ? budget(effort, "/reasoning_effort", request) : { type: "adaptive" };
}

function budget(effort: string, from: string, request: ThinkingRequest): Json | null {
  const share = Math.floor(request.maxTokens * (SHARES[effort] ?? 0));
  return enabled(Math.max(MIN_BUDGET_TOKENS, Math.min(share, MAX_EFFORT_BUDGET_TOKENS)), from, request);
}

function fitted(asked: Json, request: ThinkingRequest): Json | null {
  const { budget_tokens: tokens } = asked;
  if (typeof tokens !== "number") return asked;
  const max = request.maxTokens - 1;
  if (tokens > max) request.report.drop("/thinking/budget_tokens");
  const made = enabled(Math.min(tokens, max), "/thinking", request);
  return made && { ...asked, ...made };
}

/** null where the API would refuse: too little room, a forced tool, or a tool loop that began without thinking. */
function enabled(
  tokens: number,
  from: string,
  { maxTokens, forced, calledWithoutThinking, sameFormat, report }: ThinkingRequest,
): Json | null {
  const refused =
    tokens < MIN_BUDGET_TOKENS || tokens >= maxTokens || (!sameFormat && (forced || calledWithoutThinking));
  if (!refused) return { type: "enabled", budget_tokens: tokens };
  if (from !== "/reasoning_effort") report.drop(from);
  return null;
}
