import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf } from "../canonical/finish.ts";
import { isText } from "../canonical/json.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { argumentsText, madeId } from "../canonical/tools.ts";
import { canonicalUsage, readUsage, reportedUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";

/** A complete answer in the canonical form. @throws AttemptError for a body that is none. */
export function readAnswer(bytes: Uint8Array): Decoded {
  const body = parseAnswer(bytes);
  const { choices } = body;
  if (!Array.isArray(choices) || choices.length === 0) throw malformed("an answer without choices");
  const read = choices.map((choice: unknown, position) => readChoice(choice, position, body["id"]));
  const usage = readUsage(body);
  const counted = usage && { usage: canonicalUsage(reportedUsage(body) ?? {}, usage) };
  return { body: { ...body, choices: read, ...counted }, usage };
}

function readChoice(choice: unknown, position: number, id: unknown): Json {
  if (!isJson(choice) || !isJson(choice["message"])) throw malformed("an answer without choices");
  const { index, message, finish_reason: finish } = choice;
  const { tool_calls, ...fields } = withText(message);
  const content = fields["content"] ?? null;
  if (fields["reasoning_content"] === null) delete fields["reasoning_content"];
  const seed = `${typeof id === "string" ? id : ""}/${position}`;
  const calls = Array.isArray(tool_calls) ? readCalls(tool_calls, seed) : [];
  const called = calls.length > 0;
  return {
    ...choice,
    index: typeof index === "number" && Number.isSafeInteger(index) ? index : position,
    message: { ...fields, role: "assistant", content, ...(called && { tool_calls: calls }) },
    ...(isText(finish) ? finishOf("openai", finish, { called }) : { finish_reason: called ? "tool_calls" : "stop" }),
  };
}

/** Every call with a type and an id of its own, its arguments as JSON text. */
function readCalls(calls: readonly unknown[], seed: string): readonly Json[] {
  const ids = new Set<string>();
  return calls.map((call, position) => {
    if (!isJson(call)) throw malformed("a tool call that is none");
    const own = isText(call["id"]) && !ids.has(call["id"]) ? call["id"] : madeId(`${seed}/${position}`);
    ids.add(own);
    if (!isJson(call["function"])) {
      if (!isText(call["type"])) throw malformed("a tool call without a function");
      // Another kind of tool, such as `custom`.
      return { ...call, id: own };
    }
    const { name, arguments: args, ...inner } = call["function"];
    if (!isText(name)) throw malformed("a tool call without a name");
    const called = { ...inner, name, arguments: argumentsText(args) || "{}" };
    return { ...call, id: own, type: "function", function: called };
  });
}

/**
 * The fields of a delta or message with its content as text and its thoughts as `reasoning_content`: Groq, OpenRouter and
 * vLLM call them `reasoning`, Mistral sends both as parts of the content.
 */
export function withText(part: Json): Record<string, unknown> {
  const { content, reasoning, reasoning_content: thoughts, ...rest } = part;
  const fields: Record<string, unknown> = rest;
  const parts = Array.isArray(content) ? readParts(content) : { text: text(content), thoughts: "" };
  if (parts.text !== null || content === null) fields["content"] = parts.text;
  // Some upstreams say the same under both names.
  const own = text(thoughts) || text(reasoning);
  if (own !== null || parts.thoughts !== "") fields["reasoning_content"] = (own ?? "") + parts.thoughts;
  return fields;
}

interface Parts {
  readonly text: string | null;
  readonly thoughts: string;
}

/** `{type: "text", text}` and Mistral's `{type: "thinking", thinking: [{type: "text", text}]}`. */
function readParts(parts: readonly unknown[]): Parts {
  let content: string | null = null;
  let thoughts = "";
  for (const part of parts) {
    if (!isJson(part)) continue;
    if (part["type"] === "thinking") thoughts += textIn(part["thinking"]);
    else content = (content ?? "") + textIn([part]);
  }
  return { text: content, thoughts };
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: unknown) => (isJson(part) ? (text(part["text"]) ?? "") : "")).join("");
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
