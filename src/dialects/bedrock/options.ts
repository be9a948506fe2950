import { isJson, type Json } from "../../kit/index.ts";
import type { Translation } from "./translation.ts";

const TIERS: ReadonlySet<unknown> = new Set(["default", "flex", "priority"]);
/** Keys and values of `requestMetadata`. */
const METADATA = /^[A-Za-z0-9\s:_@$#=/+,.-]{1,256}$/;
const MAX_METADATA = 16;
const MAX_TEMPERATURE = 1;

/** `inferenceConfig`, or nothing. @throws GatewayError for a value of the wrong type. */
export function inferenceOf(body: Json, translation: Translation): Json {
  const config = {
    maxTokens: numberAt(body, "max_completion_tokens", translation) ?? numberAt(body, "max_tokens", translation),
    temperature: temperatureOf(body, translation),
    topP: numberAt(body, "top_p", translation),
    stopSequences: stopsOf(body, translation),
  };
  return Object.values(config).some((value) => value !== undefined) ? { inferenceConfig: config } : {};
}

/** OpenAI's goes up to 2. */
function temperatureOf(body: Json, translation: Translation): number | undefined {
  const temperature = numberAt(body, "temperature", translation);
  if (temperature === undefined || temperature <= MAX_TEMPERATURE) return temperature;
  translation.report.drop("/temperature");
  return MAX_TEMPERATURE;
}

export function numberAt(body: Json, name: string, { report }: Translation): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw report.refusal(`/${name}`, "must be a number");
  return value;
}

/** undefined when there are none. */
export function stopsOf({ stop }: Json, { report }: Translation): readonly string[] | undefined {
  const stops: readonly unknown[] = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  if (!stops.every((one) => typeof one === "string")) throw report.refusal("/stop", "must be strings");
  const meant = stops.filter((one) => one !== "");
  return meant.length > 0 ? meant : undefined;
}

/** Fields about the request as a whole. */
export function requestOf({ service_tier: tier, metadata }: Json, { report }: Translation): Json {
  const known = TIERS.has(tier);
  if (!known && tier !== undefined && tier !== null && tier !== "auto") report.drop("/service_tier");
  const entries = isJson(metadata) ? Object.entries(metadata) : [];
  const fits =
    entries.length <= MAX_METADATA && entries.flat().every((text) => typeof text === "string" && METADATA.test(text));
  if (!fits) report.drop("/metadata");
  return {
    ...(known ? { serviceTier: { type: tier } } : {}),
    ...(fits && entries.length > 0 ? { requestMetadata: metadata } : {}),
  };
}
