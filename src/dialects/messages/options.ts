import { isJson, type Json } from "../../kit/index.ts";
import { outputLimit, type Report } from "../canonical/report.ts";
import { sha256 } from "../canonical/tools.ts";
import type { ModelRules } from "./models.ts";
import { VERSION } from "./place.ts";

/** Asks for more output than the model gives by itself: `output-128k-2025-02-19` (SDK @anthropic-ai/sdk, AnthropicBeta). */
const OUTPUT_BETA = /\boutput-(\d+)k-/;

interface Limits {
  readonly betas?: string | undefined;
  readonly configured?: number | undefined;
}

/**
 * The API demands a limit. One beyond what the model can write, or may write here, is lowered and reported.
 * @param more `configured`: tokens that the model is said to write at most; `betas` of the request.
 */
export function maxTokensOf(body: Json, { maxTokens, known }: ModelRules, report: Report, more: Limits = {}): number {
  const { betas = "", configured } = more;
  const own = known ? Math.max(maxTokens, Number(OUTPUT_BETA.exec(betas)?.[1] ?? 0) * 1000) : Infinity;
  const limit = Math.min(own, configured ?? Infinity);
  const asked = outputLimit(body, limit === Infinity ? null : limit, report);
  if (asked !== undefined) return asked;
  if (configured !== undefined) return known ? Math.min(configured, maxTokens) : configured;
  const { thinking } = body;
  const budget = isJson(thinking) ? thinking["budget_tokens"] : 0;
  // The budget is a part of it: what is left is for the answer.
  return known || typeof budget !== "number" ? maxTokens : maxTokens + Math.max(0, Math.ceil(budget));
}

/** Without those that the API refuses: "each stop sequence must contain non-whitespace". */
export function stopSequences(stop: unknown, report: Report): Json {
  if (stop === null || stop === undefined) return {};
  const many = Array.isArray(stop);
  const sequences = (many ? stop : [stop]).filter((sequence: unknown, index) => {
    const kept = typeof sequence === "string" && sequence.trim() !== "";
    if (!kept) report.drop(many ? `/stop/${index}` : "/stop");
    return kept;
  });
  return sequences.length > 0 ? { stop_sequences: sequences } : {};
}

/** Characters of the longest `metadata.user_id` (https://platform.claude.com/docs/en/api/messages, metadata). */
const MAX_USER_CHARACTERS = 256;

/** Who the request is for; one of two names is enough. */
export function metadataOf({ user, safety_identifier }: Json, sameFormat: boolean, report: Report): Json {
  const id = user ?? safety_identifier;
  if (id === null || id === undefined) return {};
  const isLong = !sameFormat && typeof id === "string" && id.length > MAX_USER_CHARACTERS;
  if (typeof id === "string") return { metadata: { user_id: isLong ? sha256(id) : id } };
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
  /** The model thinks first. */
  readonly thinks: boolean;
  readonly sameFormat: boolean;
  readonly report: Report;
}

const NAMES = ["temperature", "top_p", "top_k"] as const;
/** The least `top_p` that goes with thinking. */
const MIN_THINKING_TOP_P = 0.95;

/**
 * `temperature`, `top_p` and `top_k` as far as version, model and thinking allow; the API answers 400 to any other
 * (https://platform.claude.com/docs/en/build-with-claude/thinking#limits-and-feature-compatibility).
 */
export function samplingOf({ body, rules, version, thinks, sameFormat, report }: SamplingRequest): Json {
  const allowed = version <= VERSION && rules.sampling !== "none";
  // Nobody knows what a server that copies the API takes, but a client of the API itself may.
  const judgedThere = sameFormat && !rules.known;
  const kept: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = body[name];
    if (typeof value !== "number") continue;
    const isDefault = name !== "top_k" && value === 1;
    if (isDefault && !(sameFormat && allowed)) continue;
    const second = name === "top_p" && rules.sampling === "one" && kept["temperature"] !== undefined;
    const thinking = !thinks || isDefault || (name === "top_p" && value >= MIN_THINKING_TOP_P);
    if (judgedThere ? allowed : allowed && thinking && !second) kept[name] = value;
    else report.drop(`/${name}`);
  }
  const { temperature } = kept;
  if (typeof temperature === "number" && temperature > 1) {
    report.drop("/temperature");
    kept["temperature"] = 1;
  }
  return kept;
}
