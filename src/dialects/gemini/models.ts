import { isJson, type Json } from "../../kit/index.ts";
import { outputLimit, type Report } from "../canonical/report.ts";
import { bearer, type JsonRequest, postJson } from "../canonical/requests.ts";
import type { UpstreamRequest } from "../dialect.ts";
import { fitSchema } from "../schemas/fit.ts";
import { GEMINI_SCHEMAS } from "../schemas/rules.ts";

/*
 * Gemini's models: what their names tell, what `generationConfig` they take, how signatures travel, and where and with which
 * credentials they are called.
 */

/** What of a model shows in its name and changes how it is asked. */
export interface Family {
  /** Version of the family: 2.5, 3, 3.1; null for a model that is no Gemini. */
  readonly version: number | null;
  /** How much it thinks is said in tokens, as a level, or not at all. */
  readonly thinking: "none" | "budget" | "level";
  readonly pro: boolean;
  readonly lite: boolean;
  /** Takes penalties: "Penalty is not enabled" from 2.5 on (https://github.com/vercel/ai/issues/8943). */
  readonly penalties: boolean;
  /** Takes `logprobs`: "Logprobs is not enabled" (https://github.com/mscraftsman/generative-ai/issues/135), but on Vertex AI. */
  readonly logprobs: boolean;
  /** The most output tokens (https://ai.google.dev/gemini-api/docs/models); null: not known. */
  readonly maxOutput: number | null;
}

const NAME = /^gemini-(\d+(?:\.\d+)?)?/;
/** Names without a version, such as `gemini-flash-latest`, stand for models of this one or later. */
const LATEST_VERSION = 3;
const FIRST_VERSION_WITH_LEVELS = 3;
const FIRST_VERSION_WITH_BUDGETS = 2.5;
/** Specialised models of the versions with budgets do not think. */
const SPECIAL = /-(?:image|tts|audio|live)/;

/** Google's Gemini API, or Vertex AI. */
export type Place = "gemini" | "vertex";

export function familyOf(model: string, place: Place = "gemini"): Family {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const match = NAME.exec(name);
  const version = match && Number(match[1] ?? LATEST_VERSION);
  return {
    version,
    thinking: thinkingBy(version, SPECIAL.test(name)),
    pro: name.includes("-pro"),
    lite: name.includes("-lite"),
    penalties: version === null || version < FIRST_VERSION_WITH_BUDGETS,
    logprobs: place === "vertex" || version === null || version < FIRST_VERSION_WITH_BUDGETS,
    maxOutput: maxOutputBy(version, SPECIAL.test(name)),
  };
}

/** Specialised models have limits of their own. */
function maxOutputBy(version: number | null, special: boolean): number | null {
  if (version === null || special) return null;
  return version < FIRST_VERSION_WITH_BUDGETS ? 8_192 : 65_536;
}

function thinkingBy(version: number | null, special: boolean): Family["thinking"] {
  if (version === null || version < FIRST_VERSION_WITH_BUDGETS) return "none";
  if (version >= FIRST_VERSION_WITH_LEVELS) return "level";
  return special ? "none" : "budget";
}

/**
 * From version 3 on a function call of the current turn must come back with a signature, and a function's response may
 * hold images (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export function isSigned({ version }: Family): boolean {
  return version !== null && version >= FIRST_VERSION_WITH_LEVELS;
}

/**
 * Before version 3 a request with functions may not name a media type: "Function calling with a response mime type:
 * 'application/json' is unsupported" (https://github.com/googleapis/python-genai/issues/867).
 */
export function answersFormattedWithTools({ version }: Family): boolean {
  return version === null || version >= FIRST_VERSION_WITH_LEVELS;
}

/** Carried as they are. */
const NAMES: readonly (readonly [canonical: string, gemini: string])[] = [
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["top_k", "topK"],
  ["frequency_penalty", "frequencyPenalty"],
  ["presence_penalty", "presencePenalty"],
];
const MAX_STOPS = 5;
const INT32_LIMIT = 2 ** 31;

/** `generationConfig`; empty when nothing is asked. */
export function generationOf(body: Json, family: Family, report: Report): Json {
  const config: Record<string, unknown> = {};
  for (const [canonical, gemini] of NAMES) {
    const value = body[canonical];
    // Models without penalties refuse even those that do nothing.
    const isPenalty = canonical.endsWith("_penalty");
    if (value === undefined || value === null || (value === 0 && isPenalty)) continue;
    if (isPenalty && !family.penalties) report.drop(`/${canonical}`);
    else config[gemini] = value;
  }
  const limit = outputLimit(body, family.maxOutput, report);
  if (limit !== undefined) config["maxOutputTokens"] = limit;
  if (typeof body["n"] === "number" && body["n"] > 1) config["candidateCount"] = body["n"];
  const thinkingConfig = thinkingOf(body, family, report);
  return {
    ...config,
    ...seedOf(body["seed"], report),
    ...stopSequencesOf(body["stop"], report),
    ...logprobsOf(body, family, report),
    ...formatOf(body["response_format"], report),
    ...modalitiesOf(body["modalities"], report),
    ...(thinkingConfig && { thinkingConfig }),
  };
}

function seedOf(seed: unknown, report: Report): Json {
  if (seed === undefined || seed === null) return {};
  if (typeof seed === "number" && Number.isInteger(seed) && seed >= -INT32_LIMIT && seed < INT32_LIMIT) return { seed };
  report.drop("/seed");
  return {};
}

function stopSequencesOf(stop: unknown, report: Report): Json {
  if (stop === undefined || stop === null) return {};
  const list: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const stopSequences: string[] = [];
  for (const [index, text] of list.entries()) {
    if (typeof text === "string" && text !== "" && stopSequences.length < MAX_STOPS) stopSequences.push(text);
    else report.drop(Array.isArray(stop) ? `/stop/${index}` : "/stop");
  }
  return stopSequences.length > 0 ? { stopSequences } : {};
}

function logprobsOf({ logprobs, top_logprobs: alternatives }: Json, { logprobs: taken }: Family, report: Report): Json {
  if (!taken && logprobs === true) report.drop("/logprobs");
  if (logprobs !== true || !taken) {
    if (typeof alternatives === "number" && alternatives > 0) report.drop("/top_logprobs");
    return {};
  }
  return {
    responseLogprobs: true,
    ...(typeof alternatives === "number" && alternatives > 0 && { logprobs: alternatives }),
  };
}

/** A schema's `name` is a label and `strict` is what Gemini does anyway. */
function formatOf(format: unknown, report: Report): Json {
  if (!isJson(format) || format["type"] === "text") return {};
  const json = { responseMimeType: "application/json" };
  if (format["type"] === "json_object") return json;
  const { schema, description } = isJson(format["json_schema"]) ? format["json_schema"] : {};
  if (format["type"] !== "json_schema" || !isJson(schema)) {
    report.drop("/response_format");
    return format["type"] === "json_schema" ? json : {};
  }
  if (typeof description === "string" && description !== "") report.drop("/response_format/json_schema/description");
  return { ...json, responseJsonSchema: fitSchema(schema, GEMINI_SCHEMAS, report.schemaWork).schema };
}

const MODALITIES: Readonly<Record<string, string>> = { text: "TEXT", image: "IMAGE" };

function modalitiesOf(modalities: unknown, report: Report): Json {
  if (!Array.isArray(modalities)) return {};
  const known: string[] = [];
  for (const [index, one] of (modalities as readonly unknown[]).entries()) {
    const modality = typeof one === "string" && Object.hasOwn(MODALITIES, one) ? MODALITIES[one] : undefined;
    if (modality === undefined) report.drop(`/modalities/${index}`);
    else known.push(modality);
  }
  return known.includes("IMAGE") ? { responseModalities: known } : {};
}

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
function thinkingOf(body: Json, family: Family, report: Report): Json | null {
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
  return family.thinking === "budget" ? { thinkingBudget: minBudget(family) } : level("minimal", family);
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
  return Math.round(Math.min(Math.max(tokens, minBudget(family)), family.pro ? 32_768 : 24_576));
}

/** Tokens (https://ai.google.dev/gemini-api/docs/thinking). */
function minBudget({ pro, lite }: Family): number {
  return pro ? 128 : lite ? 512 : 1;
}

/*
 * Signatures outside of function calls travel in `reasoning_details`, marked as Gemini's: another provider's must never be
 * sent here, nor these elsewhere. The letter says what they were found on: a thought (h), a text (t), a part of their own
 * (e, an empty text).
 */
const MARK = /^gemini1\.([hte])\./;

export type Bearer = "thought" | "text" | "empty";

const LETTERS: Readonly<Record<Bearer, string>> = { thought: "h", text: "t", empty: "e" };
const BEARERS: Readonly<Record<string, Bearer>> = { h: "thought", t: "text", e: "empty" };

export function markSignature(bearer: Bearer, signature: string): string {
  return `gemini1.${LETTERS[bearer]}.${signature}`;
}

/** null for what is no marked signature. */
export function readSignature(value: unknown): { readonly bearer: Bearer; readonly signature: string } | null {
  if (typeof value !== "string") return null;
  const match = MARK.exec(value);
  const bearer = match && BEARERS[match[1] ?? ""];
  return match && bearer ? { bearer, signature: value.slice(match[0].length) } : null;
}

/**
 * What Google documents for a function call that another model made, or whose signature is lost
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const UNSIGNED = "skip_thought_signature_validator";

const VERSION = "/v1beta";
/** How an OAuth access token of Google begins; anything else is an API key. */
const ACCESS_TOKEN = "ya29.";

/** No header for an empty key. */
function credentials(apiKey: string): Readonly<Record<string, string>> {
  if (apiKey === "" || apiKey.startsWith(ACCESS_TOKEN)) return bearer(apiKey);
  return { "x-goog-api-key": apiKey };
}

/** The full resource name of a model: `models/…` unless it names its collection, as `tunedModels/…` does. */
export function resourceOf(model: string): string {
  return model.includes("/") ? model : `models/${model}`;
}

/** @param method of the model, with its query: `generateContent`. */
export function post(model: string, method: string, apiKey: string, body: Json, accept?: string): JsonRequest {
  const path = resourceOf(model).split("/").map(encodeURIComponent).join("/");
  const request = postJson(`${VERSION}/${path}:${method}`, "", body, accept);
  return { ...request, headers: { ...credentials(apiKey), ...request.headers } };
}

export function get(path: string, apiKey: string): UpstreamRequest {
  const headers = { ...credentials(apiKey), accept: "application/json" };
  return { method: "GET", path: `${VERSION}${path}`, headers, body: null };
}
