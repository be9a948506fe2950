import { isJson, type Json } from "../../kit/index.ts";
import { numberAt, stopsOf } from "../canonical/report.ts";
import { callsWithoutThinking, rulesOf } from "../messages/models.ts";
import { maxTokensOf, samplingOf, thinkingOf } from "../messages/options.ts";
import { VERSION } from "../messages/place.ts";
import type { Family, Translation } from "./translation.ts";

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
  if (translation.family !== "anthropic" || stopsOf(body, translation.report) === undefined) return {};
  return { additionalModelResponseFieldPaths: ["/stop_sequence", "/delta/stop_sequence"] };
}

/** Converse has no field for it: the model's own. */
export function topK(body: Json, translation: Translation): Json {
  const k = numberAt(body, "top_k", translation.report);
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

interface Asked {
  /** Converse's id for the model. */
  readonly model: string;
  /** The conversation in Converse's form. */
  readonly turns: readonly Json[];
  /** A tool must be called. */
  readonly forced: boolean;
}

interface ClaudeFields {
  /** The canonical body, its sampling as the model takes it. */
  readonly body: Json;
  /** `additionalModelRequestFields`. */
  readonly fields: Json;
}

/**
 * How a Claude model thinks and samples: by the rules of its generation, the same wherever it is served. One that is told
 * what it does not know refuses the request.
 * @throws GatewayError for a value of the wrong type.
 */
export function claudeFields(body: Json, { model, turns, forced }: Asked, translation: Translation): ClaudeFields {
  const rules = rulesOf(model.toLowerCase());
  const { report } = translation;
  const maxTokens = maxTokensOf(body, rules, report);
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    forced,
    unthoughtCalls: callsWithoutThinking(turns, kindOf),
    sameFormat: false,
    report,
  });
  for (const name of SAMPLING) numberAt(body, name, report);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const sampling = samplingOf({ body, rules, version: VERSION, thinks, sameFormat: false, report });
  const others = Object.entries(body).filter(([name]) => !SAMPLING.includes(name));
  return {
    body: { ...Object.fromEntries(others), ...limitOf(body, maxTokens), ...sampling },
    fields: {
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    },
  };
}

/** The client's own limit, as far as the model can write so much; none where it named none. */
function limitOf(body: Json, maxTokens: number): Json {
  const name = ["max_completion_tokens", "max_tokens"].find((name) => typeof body[name] === "number");
  return name === undefined ? {} : { [name]: maxTokens };
}

const SAMPLING: readonly string[] = ["temperature", "top_p", "top_k"];

function kindOf(block: Json): "thought" | "call" | null {
  if ("reasoningContent" in block) return "thought";
  return "toolUse" in block ? "call" : null;
}
