import { isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../json-schema.ts";
import { outputLimit } from "../output-limit.ts";
import type { Report } from "../report.ts";
import { GEMINI_SCHEMAS } from "../schema-rules.ts";
import type { Family } from "./family.ts";
import { thinkingOf } from "./thinking.ts";

/** Carried as they are. */
const NAMES: readonly (readonly [canonical: string, gemini: string])[] = [
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["top_k", "topK"],
  ["frequency_penalty", "frequencyPenalty"],
  ["presence_penalty", "presencePenalty"],
];
const MAX_STOPS = 5;
const INT32 = 2 ** 31;

/** `generationConfig`; empty when nothing is asked. */
export function generationOf(body: Json, family: Family, report: Report): Json {
  const config: Record<string, unknown> = {};
  for (const [canonical, gemini] of NAMES) {
    const value = body[canonical];
    // Models without penalties refuse even those that do nothing.
    if (value === undefined || value === null || (value === 0 && canonical.endsWith("_penalty"))) continue;
    config[gemini] = value;
  }
  const limit = outputLimit(body, family.maxOutput, report);
  if (limit !== undefined) config["maxOutputTokens"] = limit;
  if (typeof body["n"] === "number" && body["n"] > 1) config["candidateCount"] = body["n"];
  const thinkingConfig = thinkingOf(body, family, report);
  return {
    ...config,
    ...seedOf(body["seed"], report),
    ...stopsOf(body["stop"], report),
    ...logprobsOf(body, report),
    ...formatOf(body["response_format"], report),
    ...modalitiesOf(body["modalities"], report),
    ...(thinkingConfig && { thinkingConfig }),
  };
}

function seedOf(seed: unknown, report: Report): Json {
  if (seed === undefined || seed === null) return {};
  if (typeof seed === "number" && Number.isInteger(seed) && seed >= -INT32 && seed < INT32) return { seed };
  report.drop("/seed");
  return {};
}

function stopsOf(stop: unknown, report: Report): Json {
  if (stop === undefined || stop === null) return {};
  const list: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const stopSequences: string[] = [];
  for (const [index, text] of list.entries()) {
    if (typeof text === "string" && text !== "" && stopSequences.length < MAX_STOPS) stopSequences.push(text);
    else report.drop(Array.isArray(stop) ? `/stop/${index}` : "/stop");
  }
  return stopSequences.length > 0 ? { stopSequences } : {};
}

function logprobsOf({ logprobs: wanted, top_logprobs: alternatives }: Json, report: Report): Json {
  if (wanted !== true) {
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
  return { ...json, responseJsonSchema: fitSchema(schema, GEMINI_SCHEMAS).schema };
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
