import { isJson, type Json } from "../../kit/index.ts";
import { ANY_JSON, type Question, type Tool } from "../answer.ts";
import { badParameter } from "../error.ts";
import { integer, parseModel, wrong } from "../fields.ts";
import { shown } from "../shown.ts";
import { RESPONSES_FORM } from "../strict/responses.ts";
import { refusalOf } from "../strict/rule.ts";
import { type ToolUse, toolsToCall } from "../tools.ts";

/** What a body of the Responses API asks for. */
export interface ResponsesRequest {
  readonly question: Question;
  readonly stream: boolean;
  /** Whether reasoning is told as a summary. */
  readonly summary: boolean;
  /** Whether reasoning can be brought back, encrypted. */
  readonly encrypted: boolean;
  /** Settings that the response repeats. */
  readonly echo: Json;
}

/** @throws SimError 400 in the interface's own words. */
export function parseResponses(body: Json): ResponsesRequest {
  const refusal = refusalOf(RESPONSES_FORM, { model: shown(body["model"] ?? ""), body });
  if (refusal) throw refusal;
  const model = parseModel(body["model"]);
  const { input, instructions, stream, store, include, reasoning, text, tools: declared } = body;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw wrong("stream", "a boolean", stream);
  const items = typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input : [];
  const said = textsOf(items.findLast((item: unknown) => isJson(item) && item["role"] === "user")).join(" ");
  const { effort, summary } = isJson(reasoning) ? reasoning : {};
  const format = isJson(text) ? text["format"] : undefined;
  const tools = parseTools(declared);
  const maximum = integer("max_output_tokens", body["max_output_tokens"]);
  return {
    question: {
      model,
      prompt: [...(typeof instructions === "string" ? [instructions] : []), ...items.flatMap(textsOf)],
      said,
      choices: 1,
      maximum: maximum ?? Infinity,
      stop: [],
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["tool_choice"], tools),
        parallel: body["parallel_tool_calls"] !== false,
        said,
        answered: isJson(items.at(-1)) && items.at(-1)["type"] === "function_call_output",
      }),
      ...(typeof effort === "string" && { thinks: effort !== "none" }),
      schema: isJson(format) ? schemaOf(format) : undefined,
    },
    stream: stream === true,
    summary: typeof summary === "string",
    encrypted: Array.isArray(include) && include.includes("reasoning.encrypted_content"),
    echo: {
      instructions: instructions ?? null,
      max_output_tokens: maximum ?? null,
      metadata: body["metadata"] ?? {},
      parallel_tool_calls: body["parallel_tool_calls"] ?? true,
      reasoning: { effort: effort ?? null, summary: summary ?? null },
      store: store ?? true,
      temperature: body["temperature"] ?? 1,
      text: { format: format ?? { type: "text" } },
      tool_choice: body["tool_choice"] ?? "auto",
      tools: declared ?? [],
      top_p: body["top_p"] ?? 1,
      truncation: body["truncation"] ?? "disabled",
    },
  };
}

function schemaOf({ type, schema }: Json): unknown {
  if (type === "json_object") return ANY_JSON;
  return type === "json_schema" ? (schema ?? {}) : undefined;
}

/** Every text of an item: what was said, or what a tool gave. */
function textsOf(item: unknown): readonly string[] {
  if (!isJson(item)) return [];
  const content = item["type"] === "function_call_output" ? item["output"] : item["content"];
  if (typeof content === "string") return [content];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.filter(isJson).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}

/** Functions; tools of other types are accepted and never called. */
function parseTools(value: unknown): readonly Tool[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isJson)
    .flatMap(({ type, name, parameters }) =>
      type === "function" ? [{ name: shown(name), parameters: parameters ?? {} }] : [],
    );
}

function parseChoice(choice: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (!isJson(choice)) return choice === "required" || choice === "none" ? choice : "auto";
  if (choice["type"] === "allowed_tools") {
    const allowed: readonly unknown[] = Array.isArray(choice["tools"]) ? choice["tools"] : [];
    const only = allowed.filter(isJson).map(({ name }) => shown(name));
    return choice["mode"] === "required" ? { only } : "auto";
  }
  if (choice["type"] !== "function") return "auto";
  if (!tools.some(({ name }) => name === choice["name"]))
    throw badParameter("tool_choice", `Tool choice 'function' not found in 'tools' parameter.`);
  return { only: [shown(choice["name"])] };
}
