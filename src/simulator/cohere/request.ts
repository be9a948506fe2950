import { isJson, type Json } from "../../kit/index.ts";
import { ANY_JSON, type Question, thinksByName, type Tool } from "../answer.ts";
import { SimError } from "../error.ts";
import { type ToolUse, toolsToCall } from "../tools.ts";
import { shown } from "../shown.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool"]);
const PARTS = new Set<unknown>(["text", "image_url", "document", "thinking"]);
/** Names of OpenAI's that the interface does not have. */
const FOREIGN = [
  "top_p",
  "top_k",
  "stop",
  "n",
  "max_completion_tokens",
  "parallel_tool_calls",
  "stream_options",
  "user",
  "reasoning_effort",
];
const MAXIMUM_STOPS = 5;

export interface ChatRequest {
  readonly question: Question;
  readonly stream: boolean;
}

/** @throws SimError 400 */
export function parseChat(body: Json): ChatRequest {
  const { model, stream } = body;
  if (typeof model !== "string" || model === "") throw bad("model is required");
  const foreign = FOREIGN.find((name) => name in body);
  if (foreign !== undefined) throw bad(`unknown field: parameter '${foreign}' is not a valid field`);
  const messages = parseMessages(body["messages"]);
  checkResults(messages);
  const said = textsOf(messages.findLast(({ role }) => role === "user")?.["content"]).join(" ");
  const tools = parseTools(body["tools"]);
  const thinking = isJson(body["thinking"]) ? body["thinking"]["type"] : undefined;
  return {
    question: {
      model,
      prompt: messages.flatMap(({ content }) => textsOf(content)),
      said,
      choices: 1,
      maximum: maximumOf(body["max_tokens"]),
      stop: stopsOf(body["stop_sequences"]),
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["tool_choice"], tools),
        parallel: true,
        said,
        answered: messages.at(-1)?.["role"] === "tool",
      }),
      thinks: thinking === undefined ? thinksByName(model) : thinking !== "disabled",
      schema: schemaOf(body["response_format"]),
    },
    stream: stream === true,
  };
}

function schemaOf(format: unknown): unknown {
  if (!isJson(format) || format["type"] !== "json_object") return undefined;
  return format["json_schema"] ?? format["schema"] ?? ANY_JSON;
}

function bad(message: string): SimError {
  return new SimError(400, `invalid request: ${message}`);
}

function parseMessages(value: unknown): readonly Json[] {
  if (!Array.isArray(value) || value.length === 0)
    throw bad("all elements in messages must have a role, and there must be at least one");
  return value.map((message: unknown, index) => {
    const { role, content, tool_calls: calls } = isJson(message) ? message : {};
    if (!isJson(message) || typeof role !== "string" || !ROLES.has(role))
      throw bad(`message at index ${index} has an invalid role`);
    const empty = content === undefined || content === null || content === "";
    if (empty && !(role === "assistant" && Array.isArray(calls)))
      throw bad(`message at index ${index} must have non-empty content`);
    for (const part of Array.isArray(content) ? (content as readonly unknown[]) : []) {
      if (!isJson(part) || !PARTS.has(part["type"]))
        throw bad(`message at index ${index} has a content block of an unknown type`);
    }
    return message;
  });
}

/** What a tool gave belongs to a call before it. */
function checkResults(messages: readonly Json[]): void {
  const called = new Set<unknown>();
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    if (Array.isArray(calls)) for (const call of calls as readonly unknown[]) if (isJson(call)) called.add(call["id"]);
    if (role === "tool" && !called.has(id)) throw bad(`tool call id ${shown(id)} not found in previous tool calls`);
  }
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isJson).flatMap(({ text, document }) => {
    if (typeof text === "string") return [text];
    return isJson(document) && isJson(document["data"]) ? Object.values(document["data"]).map(shown) : [];
  });
}

function maximumOf(value: unknown): number {
  if (value === undefined || value === null) return Infinity;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return value;
  throw bad("max_tokens must be greater than or equal to 1");
}

function stopsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAXIMUM_STOPS) throw bad("too many stop sequences, the maximum is 5");
  return value.filter((stop) => typeof stop === "string" && stop !== "");
}

function parseTools(value: unknown): readonly Tool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw bad("tools must be a list");
  return value.map((tool: unknown, index) => {
    const made = isJson(tool) && tool["type"] === "function" ? tool["function"] : undefined;
    if (!isJson(made) || typeof made["name"] !== "string")
      throw bad(`tool at index ${index} is not a function with a name`);
    return { name: made["name"], parameters: made["parameters"] ?? {} };
  });
}

function parseChoice(value: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (value === undefined || value === null) return "auto";
  if (tools.length === 0) throw bad("tool_choice requires tools");
  if (value === "REQUIRED") return "required";
  if (value === "NONE") return "none";
  throw bad("tool_choice must be one of REQUIRED, NONE");
}
