import { isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../json-schema.ts";
import { wantedSchema, withJsonTool } from "../json-tool.ts";
import { outputLimit } from "../output-limit.ts";
import type { Report } from "../report.ts";
import { COHERE_SCHEMAS } from "../schema-rules.ts";

const MAX_STOPS = 5;
/** `p` goes from 0.01 to 0.99; OpenAI's 1 and 0 stand for the nearest, which nobody can tell from them. */
const [MIN_P, MAX_P] = [0.01, 0.99];
const MAX_K = 500;

/** Sampling and limits under Cohere's names. @throws GatewayError for a value of the wrong type. */
export function samplingOf(body: Json, { maxOutput }: Model, report: Report): Json {
  const number = (name: string): number | undefined => numberAt(body, name, report);
  for (const name of ["max_completion_tokens", "max_tokens"]) number(name);
  const topP = number("top_p");
  const fields = {
    max_tokens: outputLimit(body, maxOutput, report),
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

export interface Format {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** `response_format`, or nothing. */
  readonly format: Json;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/**
 * JSON, with a schema or without; "not supported when used in combinations with the `documents` or `tools` parameters"
 * (https://docs.cohere.com/reference/chat, response_format), so that a tool asks for it there, as it does for schemas that
 * Cohere does not take.
 * @param documents whether there are any.
 */
export function formatOf(body: Json, documents: boolean, report: Report): Format {
  const { response_format: format, tools, tool_choice: choice } = body;
  if (!isJson(format) || format["type"] === "text") return { body, format: {}, tool: null };
  const { type } = format;
  const taken = !documents && !(Array.isArray(tools) && tools.length > 0 && choice !== "none");
  const schema = wantedSchema(format);
  const fitted = schema && fitSchema(schema, COHERE_SCHEMAS);
  if (fitted?.shaped === true && taken) {
    report.dropOf(fitted, "/response_format/json_schema/schema");
    return { body, format: { response_format: { type: "json_object", json_schema: fitted.schema } }, tool: null };
  }
  const tool = schema === null ? null : withJsonTool(body, schema);
  if (tool !== null) return { body: tool.body, format: {}, tool: tool.name };
  const isJsonMode = type === "json_object" || type === "json_schema";
  // Where a tool of the client's must be called there is no text to have a format.
  const hasText = choice !== "required" && !isJson(choice);
  if (hasText && (!isJsonMode || !taken)) report.drop("/response_format");
  return { body, format: isJsonMode && taken ? { response_format: { type: "json_object" } } : {}, tool: null };
}

/** Whether the model thinks, and for how many tokens; how hard it tries cannot be said. */
export function thinkingOf(body: Json, { thinks }: Model, report: Report): Json {
  const thinking = body["thinking"] ?? undefined;
  const effort = body["reasoning_effort"] ?? undefined;
  if (effort !== undefined && effort !== "none") report.drop("/reasoning_effort");
  const { type, budget_tokens: budget } = isJson(thinking) ? thinking : {};
  const off = thinking === undefined ? effort === "none" : type === "disabled";
  if (off) return thinks ? { thinking: { type: "disabled" } } : {};
  if (thinking === undefined) return {};
  if (!thinks || (type !== "enabled" && type !== "adaptive")) {
    report.drop("/thinking");
    return {};
  }
  return { thinking: { type: "enabled", ...(typeof budget === "number" ? { token_budget: budget } : {}) } };
}

/** What of a model shows in its name and changes how it is asked. */
export interface Model {
  /** Knows the field `thinking` (https://docs.cohere.com/docs/reasoning); the others refuse it. */
  readonly thinks: boolean;
  /** Output tokens (https://docs.cohere.com/docs/models); beyond them Cohere ends the answer. null: not known. */
  readonly maxOutput: number | null;
}

const MODELS: readonly (readonly [RegExp, Model])[] = [
  [/command-a-(?:reasoning|plus)/, { thinks: true, maxOutput: 32_000 }],
  [/command-a/, { thinks: false, maxOutput: 8_000 }],
  [/command-r|c4ai-aya|command-light/, { thinks: false, maxOutput: 4_000 }],
];

export function modelOf(name: string): Model {
  // Of a name that says nothing nothing is known: it may think.
  return MODELS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? { thinks: true, maxOutput: null };
}
