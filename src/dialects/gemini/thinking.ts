import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";
import type { Family } from "./family.ts";

/** Efforts in tokens and as levels, as Google's own OpenAI endpoint maps them (https://ai.google.dev/gemini-api/docs/openai). */
const EFFORTS: Readonly<Record<string, { readonly budget: number; readonly level: string; readonly pro: string }>> = {
  minimal: { budget: 1024, level: "MINIMAL", pro: "LOW" },
  low: { budget: 1024, level: "LOW", pro: "LOW" },
  medium: { budget: 8192, level: "MEDIUM", pro: "MEDIUM" },
  high: { budget: 24_576, level: "HIGH", pro: "HIGH" },
  // There is nothing above it.
  xhigh: { budget: 24_576, level: "HIGH", pro: "HIGH" },
  max: { budget: 24_576, level: "HIGH", pro: "HIGH" },
};
/** The first Pro of version 3 knows LOW and HIGH only. */
const TWO_LEVELS = 3;

/** `thinkingConfig` of `reasoning_effort` and `thinking`; null when neither says anything that can be said. */
export function thinkingOf(body: Json, family: Family, report: Report): Json | null {
  const effort = body["reasoning_effort"] ?? undefined;
  const thinking = isJson(body["thinking"]) ? body["thinking"] : undefined;
  if (body["thinking"] !== undefined && body["thinking"] !== null && !thinking) report.drop("/thinking");
  const off = thinking ? thinking["type"] === "disabled" : effort === "none";
  if (off && effort !== undefined && effort !== "none") report.drop("/reasoning_effort");
  if (family.thinking === "none") {
    if (off) return null;
    if (effort !== undefined && effort !== "none") report.drop("/reasoning_effort");
    if (thinking) report.drop("/thinking");
    return null;
  }
  if (off) return silenced(family, thinking ? "/thinking" : "/reasoning_effort", report);
  const budget = budgetOf(thinking, family, report);
  const amount = budget === null ? amountOf(effort, family, report) : { thinkingBudget: budget };
  if (budget !== null && effort !== undefined) report.drop("/reasoning_effort");
  if (amount === null && !thinking) return null;
  return { ...amount, includeThoughts: thinking?.["display"] !== "omitted" };
}

/** Pro models and those with levels always think: they get the least, and it is reported. */
function silenced(family: Family, pointer: string, report: Report): Json {
  if (family.thinking === "budget" && !family.pro) return { thinkingBudget: 0 };
  report.drop(pointer);
  return family.thinking === "budget" ? { thinkingBudget: least(family) } : level("minimal", family);
}

function amountOf(effort: unknown, family: Family, report: Report): Json | null {
  if (effort === undefined || effort === "none") {
    if (effort === "none") report.drop("/reasoning_effort");
    return null;
  }
  const known = typeof effort === "string" && Object.hasOwn(EFFORTS, effort) ? effort : null;
  if (known === null) report.drop("/reasoning_effort");
  if (known === null) return null;
  return family.thinking === "level" ? level(known, family) : { thinkingBudget: EFFORTS[known]!.budget };
}

function level(effort: string, { pro, version }: Family): Json {
  const levels = EFFORTS[effort]!;
  const own = pro ? levels.pro : levels.level;
  return { thinkingLevel: own === "MEDIUM" && pro && version === TWO_LEVELS ? "HIGH" : own };
}

/** What Anthropic's form says in tokens, within the model's own bounds; models with levels take it as well. */
function budgetOf(thinking: Json | undefined, family: Family, report: Report): number | null {
  if (!thinking) return null;
  const { type, budget_tokens: tokens } = thinking;
  if (type !== "enabled" && type !== "adaptive") report.drop("/thinking/type");
  if (typeof tokens !== "number" || !Number.isFinite(tokens)) return null;
  return Math.round(Math.min(Math.max(tokens, least(family)), family.pro ? 32_768 : 24_576));
}

/** Tokens (https://ai.google.dev/gemini-api/docs/thinking). */
function least({ pro, lite }: Family): number {
  return pro ? 128 : lite ? 512 : 1;
}
