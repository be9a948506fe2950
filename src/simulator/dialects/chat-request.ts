import { type Json, isJson } from "../../kit/index.ts";
import { ANY_JSON, type Question, type Tool, toolsToCall, type ToolUse } from "../answer.ts";
import { asText, badParameter, integer, parseModel, wrong } from "../fields.ts";

/** What a chat-completions body asks for. */
export interface ChatRequest {
  readonly question: Question;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
const MAXIMUM_CHOICES = 128;
const MAXIMUM_STOPS = 4;

/** @param stops most stop sequences @throws SimError 400 naming the parameter. */
export function parseChat(body: Json, stops = MAXIMUM_STOPS): ChatRequest {
  const { n, stream, stop, stream_options: options } = body;
  const model = parseModel(body["model"]);
  const messages = parseMessages(body["messages"]);
  const userText = textOf(messages.findLast((message) => message["role"] === "user")?.["content"]);
  const limits = ["max_completion_tokens", "max_tokens"].map((name) => integer(name, body[name]));
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw wrong("stream", "a boolean", stream);
  if (options !== undefined && options !== null && !isJson(options))
    throw wrong("stream_options", "an object", options);
  if (isJson(options) && stream !== true) {
    throw badParameter("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  }
  return {
    question: {
      model,
      prompt: messages.map((message) => textOf(message["content"])),
      userText,
      choices: integer("n", n, MAXIMUM_CHOICES) ?? 1,
      maximum: limits[0] ?? limits[1] ?? Infinity,
      stop: parseStop(stop, stops),
      calls: parseCalls(body, userText, messages.at(-1)?.["role"] === "tool"),
      schema: parseFormat(body["response_format"]),
    },
    stream: stream === true,
    includeUsage: isJson(options) && options["include_usage"] === true,
  };
}

function parseMessages(value: unknown): readonly Json[] {
  if (!Array.isArray(value)) throw wrong("messages", "an array of objects", value);
  if (value.length === 0) throw badParameter("messages", "Invalid 'messages': empty array.", "empty_array");
  return value.map((message: unknown, index) => {
    const at = `messages[${index}]`;
    if (!isJson(message)) throw wrong(at, "an object", message);
    const { role, content } = message;
    if (typeof role !== "string" || !ROLES.includes(role))
      throw wrong(`${at}.role`, `one of ${ROLES.join(", ")}`, role);
    const absent = content === undefined || content === null;
    if (absent ? role !== "assistant" : typeof content !== "string" && !Array.isArray(content)) {
      throw wrong(`${at}.content`, "a string or an array of content parts", content);
    }
    return message;
  });
}

function parseStop(stop: unknown, max: number): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const sequences: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const usable = sequences.filter((sequence) => typeof sequence === "string");
  if (usable.length < sequences.length || usable.length > max)
    throw wrong("stop", `a string or up to ${max} strings`, stop);
  return usable.filter((sequence) => sequence !== "");
}

/** The schema that is asked for. */
function parseFormat(format: unknown): unknown {
  if (format === undefined || format === null) return undefined;
  if (!isJson(format)) throw wrong("response_format", "an object", format);
  const { type, json_schema: described } = format;
  if (type === "json_object") return ANY_JSON;
  if (type !== "json_schema") return undefined;
  if (!isJson(described)) throw wrong("response_format.json_schema", "an object", described);
  return described["schema"] ?? {};
}

function parseCalls(body: Json, userText: string, answered: boolean): readonly Tool[] {
  const { tools, choice } = parseToolChoice(body["tool_choice"], parseTools(body["tools"]));
  return toolsToCall({
    tools,
    choice,
    parallel: body["parallel_tool_calls"] !== false,
    userText,
    answered,
  });
}

function parseToolChoice(choice: unknown, tools: readonly Tool[]): Pick<ToolUse, "tools" | "choice"> {
  if (isJson(choice)) {
    const { type, allowed_tools: allowed } = choice;
    if (type !== "allowed_tools" || !isJson(allowed)) return { tools: found([choice], tools), choice: "required" };
    const named: unknown = allowed["tools"];
    const choices = found(Array.isArray(named) ? named : [], tools);
    return { tools: choices, choice: allowed["mode"] === "required" ? "required" : "auto" };
  }
  if (choice === "required" && tools.length === 0) {
    throw badParameter("tool_choice", "'tool_choice' is only allowed when 'tools' are specified.");
  }
  return { tools, choice: choice === "required" || choice === "none" ? choice : "auto" };
}

/** The function tools that are named; custom tools are accepted and never called. @throws SimError 400 for an unknown one. */
function found(named: readonly unknown[], tools: readonly Tool[]): readonly Tool[] {
  return named.flatMap((one) => {
    if (isJson(one) && one["type"] === "custom") return [];
    const name = isJson(one) && isJson(one["function"]) ? one["function"]["name"] : undefined;
    const same = tools.filter((tool) => tool.name === name);
    if (same.length === 0) throw badParameter("tool_choice", `Tool choice '${asText(name)}' not found in 'tools'.`);
    return same;
  });
}

/** Function tools; tools of other types are accepted and never called. */
function parseTools(value: unknown): readonly Tool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong("tools", "an array of objects", value);
  return value.flatMap((tool: unknown, index): readonly Tool[] => {
    if (!isJson(tool) || typeof tool["type"] !== "string")
      throw wrong(`tools[${index}]`, "an object with a type", tool);
    if (tool["type"] !== "function") return [];
    const made = tool["function"];
    if (!isJson(made) || typeof made["name"] !== "string" || made["name"] === "") {
      throw badParameter(
        `tools[${index}].function.name`,
        `Missing required parameter: 'tools[${index}].function.name'.`,
      );
    }
    return [{ name: made["name"], parameters: made["parameters"] ?? {} }];
  });
}

/** The text of a message's content: a string, or the text parts of an array. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (isJson(part) && typeof part["text"] === "string" ? part["text"] : "")).join(" ");
}
