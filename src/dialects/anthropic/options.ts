import { isJson, type Json } from "../../kit/index.ts";
import type { ModelRules } from "./models.ts";

type Lose = (pointer: string) => void;

/**
 * The API demands one. A limit beyond what the model can write asks for nothing more than that.
 * @param configured tokens that the model is said to write at most, for a client that named no limit.
 */
export function maxTokensOf(body: Json, { maxTokens, known }: ModelRules, configured?: number): number {
  const asked = body["max_completion_tokens"] ?? body["max_tokens"];
  if (typeof asked === "number") return known ? Math.min(asked, maxTokens) : asked;
  if (configured !== undefined) return known ? Math.min(configured, maxTokens) : configured;
  const { thinking } = body;
  const budget = isJson(thinking) ? thinking["budget_tokens"] : 0;
  // The budget is a part of it: what is left is for the answer.
  return known || typeof budget !== "number" ? maxTokens : maxTokens + Math.max(0, Math.ceil(budget));
}

/** `{format}`, or nothing. */
export function outputFormat(format: unknown, lose: Lose): Json | null {
  if (format === null || format === undefined) return null;
  const { type, json_schema } = isJson(format) ? format : {};
  if (type === "text") return null;
  const schema = isJson(json_schema) ? json_schema["schema"] : null;
  if (type === "json_schema" && isJson(schema)) return { format: { type: "json_schema", schema } };
  // "Any JSON" has no counterpart.
  lose("/response_format");
  return null;
}

export function stopSequences(stop: unknown, verbatim: boolean, lose: Lose): Json {
  if (stop === null || stop === undefined) return {};
  const many = Array.isArray(stop);
  const sequences = (many ? stop : [stop]).filter((sequence: unknown, index) => {
    // The API refuses those without a visible character.
    const kept = verbatim || (typeof sequence === "string" && sequence.trim() !== "");
    if (!kept) lose(many ? `/stop/${index}` : "/stop");
    return kept;
  });
  return sequences.length > 0 || verbatim ? { stop_sequences: sequences } : {};
}

/** Who the request is for; one of two names is enough. */
export function metadataOf({ user, safety_identifier }: Json, lose: Lose): Json {
  const id = user ?? safety_identifier;
  if (id === null || id === undefined) return {};
  if (typeof id === "string") return { metadata: { user_id: id } };
  lose(user === id ? "/user" : "/safety_identifier");
  return {};
}

/** `default` is the capacity that everyone has; what costs more or waits longer has no counterpart. */
export function serviceTier(tier: unknown, verbatim: boolean, lose: Lose): Json {
  if (tier === null || tier === undefined) return {};
  if (verbatim || tier === "auto" || tier === "standard_only") return { service_tier: tier };
  if (tier === "default") return { service_tier: "standard_only" };
  lose("/service_tier");
  return {};
}
