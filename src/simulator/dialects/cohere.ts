import { isJson, type Json } from "../../kit/index.ts";
import {
  type Answer,
  answer,
  ANY_JSON,
  argumentDeltas,
  type Choice,
  countTokens,
  onlyChoice,
  type Question,
  thinksByName,
  type Tool,
  toolsToCall,
  type ToolUse,
} from "../answer.ts";
import {
  bodyPart,
  jsonOf,
  jsonReply,
  MALFORMED,
  namedEvent,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  streamReply,
} from "../endpoint.ts";
import { asText, SimError } from "../fields.ts";
import type { Script } from "../script.ts";

const REASONS: Readonly<Record<Choice["finish"], string>> = {
  stop: "COMPLETE",
  length: "MAX_TOKENS",
  tool_calls: "TOOL_CALL",
};
const PLAN = "I will use a simulated tool.";

/** `POST /v2/chat` of Cohere. */
export function readCohereChat(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const { question, stream } = parseChat(body);
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, received.body.toString());
      return stream ? streamReply(events(made, script), frame) : jsonReply(200, whole(made, script));
    },
  };
}

function whole(made: Answer, script: Script): Part<string> {
  const choice = onlyChoice(made);
  const { reasoning, content, calls } = choice;
  const message = {
    role: "assistant",
    content: [
      ...(reasoning.length > 0 ? [{ type: "thinking", thinking: reasoning.join("") }] : []),
      ...(content.length > 0 ? [{ type: "text", text: content.join("") }] : []),
    ],
    ...(calls.length > 0 && {
      tool_plan: PLAN,
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
  };
  const body = { id: idOf(made), message, finish_reason: reasonOf(choice, script), usage: usageOf(made, script) };
  return bodyPart(made, body);
}

function* events(made: Answer, script: Script): Generator<Part<string>> {
  const choice = onlyChoice(made);
  const { reasoning, content, calls } = choice;
  const empty = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  yield {
    data: namedEvent("message-start", { id: idOf(made), delta: { message: empty } }),
    units: { prompt: made.prompt },
  };
  let index = 0;
  for (const [name, texts] of [["thinking", reasoning] as const, ["text", content] as const]) {
    if (texts.length === 0) continue;
    const inDelta = (value: object) => ({ index, delta: { message: { content: value } } });
    yield { data: namedEvent("content-start", inDelta({ type: name, [name]: "" })) };
    for (const text of texts)
      yield { data: namedEvent("content-delta", inDelta({ [name]: text })), tokens: countTokens(text) };
    yield { data: namedEvent("content-end", { index }) };
    index++;
  }
  if (calls.length > 0) yield { data: namedEvent("tool-plan-delta", { delta: { message: { tool_plan: PLAN } } }) };
  for (const [index, call] of calls.entries()) {
    const inDelta = (value: object) => ({ index, delta: { message: { tool_calls: value } } });
    const start = { id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    yield { data: namedEvent("tool-call-start", inDelta(start)), tokens: 1 };
    for (const { text, tokens } of argumentDeltas(call)) {
      yield { data: namedEvent("tool-call-delta", inDelta({ function: { arguments: text } })), tokens };
    }
    yield { data: namedEvent("tool-call-end", { index }) };
  }
  const delta = { finish_reason: reasonOf(choice, script), usage: usageOf(made, script) };
  yield { data: namedEvent("message-end", { delta }), claims: made.claims };
}

/** A stream that fails ends properly, for a reason that says so. */
function frame(error: SimError | null): string {
  if (error === null) return `event: content-delta\ndata: ${MALFORMED}\n\n`;
  return namedEvent("message-end", { delta: { error: error.message, finish_reason: "ERROR" } });
}

function reasonOf({ finish, stopped }: Choice, script: Script): string {
  return script.finish ?? (stopped === null ? REASONS[finish] : "STOP_SEQUENCE");
}

function usageOf({ usage }: Answer, script: Script): object | undefined {
  if (script.no_usage) return undefined;
  const tokens = { input_tokens: usage.prompt, output_tokens: usage.completion };
  return { billed_units: tokens, tokens, ...(usage.cached !== 0 && { cached_tokens: usage.cached }) };
}

function idOf({ seed }: Answer): string {
  return `sim-${seed}`;
}

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
  const userText = textsOf(messages.findLast(({ role }) => role === "user")?.["content"]).join(" ");
  const tools = parseTools(body["tools"]);
  const thinking = isJson(body["thinking"]) ? body["thinking"]["type"] : undefined;
  return {
    question: {
      model,
      prompt: messages.flatMap(({ content }) => textsOf(content)),
      userText,
      choices: 1,
      maximum: maximumOf(body["max_tokens"]),
      stop: stopsOf(body["stop_sequences"]),
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["tool_choice"], tools),
        parallel: true,
        userText,
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
    if (role === "tool" && !called.has(id)) throw bad(`tool call id ${asText(id)} not found in previous tool calls`);
  }
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isJson).flatMap(({ text, document }) => {
    if (typeof text === "string") return [text];
    return isJson(document) && isJson(document["data"]) ? Object.values(document["data"]).map(asText) : [];
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
