import { isJson, type Json } from "../../kit/index.ts";
import type { Family } from "./family.ts";
import { numberAt, stopsOf } from "./options.ts";
import type { Translation } from "./translation.ts";

/** Efforts as families with three levels know them. */
const THREE: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

/** Where Claude says which stop sequence ended an answer, in a stream and in a whole one. */
export function responsePaths(body: Json, translation: Translation): Json {
  if (translation.family !== "anthropic" || stopsOf(body, translation) === undefined) return {};
  return { additionalModelResponseFieldPaths: ["/stop_sequence", "/delta/stop_sequence"] };
}

/** Converse has no field for it: the model's own. */
export function topK(body: Json, translation: Translation): Json {
  const k = numberAt(body, "top_k", translation);
  if (k === undefined) return {};
  switch (translation.family) {
    case "anthropic":
    case "mistral":
      return { top_k: k };
    case "cohere":
      return { k };
    case "nova":
      return { inferenceConfig: { topK: k } };
    default:
      translation.report.drop("/top_k");
      return {};
  }
}

/** How a model of another family than Claude's thinks, as far as it can be told. */
export function reasoningFields(body: Json, model: string, { family, report }: Translation): Json {
  const effort = body["reasoning_effort"] ?? undefined;
  const thinking = body["thinking"] ?? undefined;
  const kept = family === "unknown" && isJson(thinking) ? { thinking } : {};
  if (thinking !== undefined && !("thinking" in kept) && !isOff(thinking)) report.drop("/thinking");
  if (effort === undefined) return kept;
  const own = effortOf(effort, family, model);
  // Nearly what was asked is not what was asked.
  const contradicted = effort === "none" && "thinking" in kept && !isOff(thinking);
  if (contradicted || (own === null ? effort !== "none" : own.level !== effort)) report.drop("/reasoning_effort");
  return { ...own?.fields, ...kept };
}

function isOff(thinking: unknown): boolean {
  return isJson(thinking) && thinking["type"] === "disabled";
}

/** The fields for an effort and what they amount to; null where there are none. */
function effortOf(
  effort: unknown,
  family: Family,
  model: string,
): { readonly fields: Json; readonly level: string } | null {
  if (typeof effort !== "string") return null;
  switch (family) {
    case "gpt-oss":
      return levelled(THREE, effort, (level) => ({ reasoning_effort: level }));
    case "openai":
      return { fields: { reasoning: { effort } }, level: effort };
    case "nova": {
      // Earlier ones do not reason and refuse the field.
      if (!/nova-2/i.test(model)) return null;
      if (effort === "none") return { fields: { reasoningConfig: { type: "disabled" } }, level: "none" };
      return levelled(THREE, effort, (level) => ({ reasoningConfig: { type: "enabled", maxReasoningEffort: level } }));
    }
    default:
      return null;
  }
}

function levelled(
  levels: Readonly<Record<string, string>>,
  effort: string,
  fields: (level: string) => Json,
): { readonly fields: Json; readonly level: string } | null {
  const level = Object.hasOwn(levels, effort) ? levels[effort] : undefined;
  return level === undefined ? null : { fields: fields(level), level };
}
