import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";

const MAX_STOPS = 5;
/** `p` goes from 0.01 to 0.99; OpenAI's 1 and 0 stand for the nearest, which nobody can tell from them. */
const [MIN_P, MAX_P] = [0.01, 0.99];
const MAX_K = 500;

/** Sampling and limits under Cohere's names. @throws GatewayError for a value of the wrong type. */
export function samplingOf(body: Json, report: Report): Json {
  const number = (name: string): number | undefined => numberAt(body, name, report);
  const topP = number("top_p");
  const fields = {
    max_tokens: number("max_completion_tokens") ?? number("max_tokens"),
    temperature: number("temperature"),
    p: topP === undefined ? undefined : Math.min(Math.max(topP, MIN_P), MAX_P),
    k: within(number("top_k"), 0, MAX_K, "/top_k", report),
    seed: number("seed"),
    frequency_penalty: within(number("frequency_penalty"), 0, 1, "/frequency_penalty", report),
    presence_penalty: within(number("presence_penalty"), 0, 1, "/presence_penalty", report),
    stop_sequences: stopsOf(body, report),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function numberAt(body: Json, name: string, report: Report): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw report.refusal(`/${name}`, "must be a number");
  return value;
}

/** A value beyond what Cohere takes becomes the nearest, and is reported. */
function within(
  value: number | undefined,
  least: number,
  most: number,
  at: string,
  report: Report,
): number | undefined {
  if (value === undefined) return undefined;
  const near = Math.min(Math.max(value, least), most);
  if (near !== value) report.drop(at);
  return near;
}

function stopsOf({ stop }: Json, report: Report): readonly string[] | undefined {
  const stops: readonly unknown[] = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  if (!stops.every((one) => typeof one === "string")) throw report.refusal("/stop", "must be strings");
  const meant = stops.filter((one) => one !== "");
  if (meant.length > MAX_STOPS) report.drop("/stop");
  return meant.length > 0 ? meant.slice(0, MAX_STOPS) : undefined;
}

/** `response_format`: JSON, with a schema or without. */
export function formatOf({ response_format: format }: Json, report: Report): Json {
  if (!isJson(format) || format["type"] === "text") return {};
  const { type, json_schema: described } = format;
  const schema = isJson(described) ? described["schema"] : undefined;
  if (type === "json_schema" && isJson(schema)) {
    return { response_format: { type: "json_object", json_schema: schema } };
  }
  if (type !== "json_object" && type !== "json_schema") report.drop("/response_format");
  return type === "json_object" || type === "json_schema" ? { response_format: { type: "json_object" } } : {};
}

/** Whether the model thinks, and for how many tokens; how hard it tries cannot be said. */
export function thinkingOf(body: Json, report: Report): Json {
  const thinking = body["thinking"] ?? undefined;
  const effort = body["reasoning_effort"] ?? undefined;
  if (effort !== undefined && effort !== "none") report.drop("/reasoning_effort");
  if (thinking === undefined) return effort === "none" ? { thinking: { type: "disabled" } } : {};
  const { type, budget_tokens: budget } = isJson(thinking) ? thinking : {};
  if (type === "disabled") return { thinking: { type } };
  if (type !== "enabled" && type !== "adaptive") {
    report.drop("/thinking");
    return {};
  }
  return { thinking: { type: "enabled", ...(typeof budget === "number" ? { token_budget: budget } : {}) } };
}
