import { type Call, isJson, type Json } from "../../kit/index.ts";
import { numberAt, Report, stopsOf } from "../canonical/report.ts";
import { stripSignature } from "../canonical/tools.ts";
import { dropOrigin, type Origins } from "../messages/cache.ts";
import { type ModelRules, rulesOf } from "../messages/models.ts";
import { maxTokensOf, samplingOf } from "../messages/options.ts";
import { VERSION } from "../messages/place.ts";
import { type KindOf, mustHaveThought, thinkingOf, withFitThoughts } from "../messages/thinking.ts";
import { documentNames } from "./media.ts";

/** What the parts of one request's translation share. */
export interface Translation {
  readonly family: Family;
  /** What a model of Claude's takes, wherever it is served; null for another's. */
  readonly claude: ModelRules | null;
  /** Whether calls of strict tools are held to their schemas. */
  readonly strictTools: boolean;
  readonly report: Report;
  /** The same for a call and its result. */
  readonly toolId: (id: string) => string;
  readonly documentName: (title: string) => string;
  /** Where cache points and thoughts came from. */
  readonly origins: Origins;
  /** What a tool gave: a part that stays behind leaves a text. */
  readonly isResult?: boolean;
}

export function translationOf(call: Call, model: string): Translation {
  const family = familyOf(model);
  return {
    family,
    claude: family === "anthropic" ? bedrockRules(model) : null,
    strictTools: hasStructuredOutput(model),
    report: new Report(call),
    toolId: toolIds(family),
    documentName: documentNames(),
    origins: new Map(),
  };
}

/** Opus 4.5 knows efforts at Anthropic's API, and here by a beta alone. */
function bedrockRules(model: string): ModelRules {
  const name = model.toLowerCase();
  const rules = rulesOf(name);
  return /opus-4-5(?!\d)/.test(name) ? { ...rules, efforts: [] } : rules;
}

const VALID = /^[\w-]{1,64}$/;
/** Mistral's models take nothing else. */
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/**
 * Tool-call ids as Converse takes them, `[A-Za-z0-9_-]{1,64}`, without the signatures that the gateway put into them; others
 * are rewritten, different ones differently.
 */
function toolIds(family: Family): (id: string) => string {
  const valid = family === "mistral" ? MISTRAL : VALID;
  const written = new Map<string, string>();
  const taken = new Set<string>();
  /** The number that the next made id may have: those before it are taken, and would be tried again for each. */
  let next = 0;
  return (given) => {
    const id = stripSignature(given);
    let made = written.get(id) ?? (valid.test(id) ? id : "");
    for (let n = Math.max(next, written.size); made === "" || (taken.has(made) && !written.has(id)); n++) {
      made = `call${String(n).padStart(5, "0")}`;
      next = n + 1;
    }
    written.set(id, made);
    taken.add(made);
    return made;
  };
}

/**
 * Whose model it is, as far as that changes how it is asked; "unknown" for a profile or import that does not name it.
 */
export type Family = "anthropic" | "nova" | "gpt-oss" | "openai" | "mistral" | "cohere" | "other" | "unknown";

const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/anthropic\.|claude/, "anthropic"],
  [/amazon\.nova|\/nova/, "nova"],
  [/gpt-oss/, "gpt-oss"],
  [/openai\./, "openai"],
  [/mistral\./, "mistral"],
  [/cohere\./, "cohere"],
  [
    /:(?:application-inference-profile|provisioned-model|custom-model-deployment|imported-model|prompt-router|default-prompt-router)\//,
    "unknown",
  ],
];

/** @param model id, ARN or inference profile: `us.anthropic.claude-opus-4-5-20251101-v1:0`. */
function familyOf(model: string): Family {
  const name = model.toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
}

/**
 * Models that take `cachePoint` blocks (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html); the
 * others refuse a request that has one.
 */
export function caches(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "unknown";
}

/** Models whose tool results may hold images and documents (Converse, `ToolResultContentBlock`). */
export function takesResultMedia(family: Family): boolean {
  return caches(family);
}

/**
 * Models without a system prompt, which refuse one ("This model doesn't support system messages",
 * https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html).
 */
const WITHOUT_SYSTEM = /amazon\.titan|mistral-7b|mixtral-8x7b|cohere\.command-(?:text|light)|ai21\.j2/;

export function takesSystem(model: string): boolean {
  return !WITHOUT_SYSTEM.test(model.toLowerCase());
}

/** The most output tokens that can be asked for, by https://github.com/charmbracelet/crush/issues/946 and AWS' model pages. */
const MAX_OUTPUT_TOKENS: readonly (readonly [RegExp, number])[] = [
  [/amazon\.nova-(?!2)/, 10_000],
  [/meta\.llama|mistral\./, 8_192],
];

/** null: not known. */
export function maxOutputOf(model: string): number | null {
  return MAX_OUTPUT_TOKENS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? null;
}

/** Models that go on from the assistant's own words; of an unknown one nobody can tell. */
export function goesOn({ family, claude }: Translation): boolean {
  return claude?.prefill ?? (family === "nova" || family === "unknown");
}

/** Models whose tool results may say that they are errors (Converse, `ToolResultBlock.status`). */
export function readsStatus(family: Family): boolean {
  return caches(family);
}

/** Models that want their signed reasoning back; the others refuse reasoning in a request. */
export function readsReasoning(family: Family): boolean {
  return family === "anthropic" || family === "unknown";
}

/**
 * Models with structured output of their own in Converse, strict tools included
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html; Claude:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-structured-outputs.html). Later Claude models were
 * refused it in Converse (https://github.com/BerriAI/litellm/issues/27846): they are asked by a tool while they can be.
 */
const STRUCTURED =
  /claude-(?:opus|sonnet|haiku)-4-[56](?!\d)|gpt-oss|qwen\.qwen3|deepseek\.v3|gemma-3|minimax\.|mistral-large-3|ministral|magistral|voxtral|moonshot|kimi|nemotron/;

export function hasStructuredOutput(model: string): boolean {
  return STRUCTURED.test(model.toLowerCase());
}

/**
 * Whether the model can be made to call a tool
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html; `supports_tool_choice_values` of
 * langchain-aws chat_models/bedrock_converse.py).
 */
export function takesToolChoice(family: Family): boolean {
  return takesNamedTool(family) || family === "mistral";
}

/** Whether it can be made to call one tool of several (the same pages). */
export function takesNamedTool(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "unknown";
}

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

/** How a model of another family than Claude's thinks, as far as Converse has fields for it. */
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
  readonly rules: ModelRules;
  /** The conversation in Converse's form. */
  readonly turns: readonly Json[];
  /** A tool must be called. */
  readonly forced: boolean;
  /** Tokens that the model is said to write at most. */
  readonly configured: number | undefined;
  /** A client of another format than Claude's means by an effort that the model thinks. */
  readonly effortThinks: boolean;
}

interface ClaudeFields {
  /** The canonical body, its sampling as the model takes it. */
  readonly body: Json;
  /** `additionalModelRequestFields`. */
  readonly fields: Json;
  readonly turns: readonly Json[];
}

/**
 * How a Claude model thinks and samples: by the rules of its generation, the same wherever it is served. A model
 * refuses a request with fields that it does not know.
 * @throws GatewayError for a value of the wrong type.
 */
export function claudeFields(body: Json, asked: Asked, { report, origins }: Translation): ClaudeFields {
  const { rules, turns, forced, configured, effortThinks } = asked;
  const maxTokens = maxTokensOf(body, rules, report, { configured });
  const unthought = mustHaveThought(turns, kindOf);
  const { thinking, effort } = thinkingOf({ body, rules, maxTokens, forced, unthought, effortThinks, report });
  for (const name of SAMPLING) numberAt(body, name, report);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const sampling = samplingOf({ body, rules, version: VERSION, thinks, sameFormat: false, report });
  const others = Object.entries(body).filter(([name]) => !SAMPLING.includes(name));
  const drop = (block: Json): void => dropOrigin(origins.get(block), report);
  return {
    body: { ...Object.fromEntries(others), ...limitOf(body, maxTokens), ...sampling },
    fields: {
      ...(thinking === undefined ? {} : { thinking: withoutBetas(thinking) }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    },
    turns: withFitThoughts(turns, rules, { thinks, kindOf, drop }),
  };
}

/** Without what only a beta allows, which is not asked for here. */
function withoutBetas({ block_binding: _binding, display, ...thinking }: Json): Json {
  return { ...thinking, ...(display === "summarized" || display === "omitted" ? { display } : {}) };
}

/** The client's own limit, as far as the model can write so much; none where it named none. */
function limitOf(body: Json, maxTokens: number): Json {
  const name = ["max_completion_tokens", "max_tokens"].find((name) => typeof body[name] === "number");
  return name === undefined ? {} : { [name]: maxTokens };
}

const SAMPLING: readonly string[] = ["temperature", "top_p", "top_k"];

const kindOf: KindOf = (block) => {
  if ("reasoningContent" in block) return "thought";
  return "toolUse" in block ? "call" : null;
};
