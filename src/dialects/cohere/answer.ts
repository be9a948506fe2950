import { type Call, isJson, type Json, type Usage } from "../../kit/index.ts";
import { annotationOf } from "../canonical/annotations.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf } from "../canonical/finish.ts";
import { objects } from "../canonical/json.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { tokenCount, writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";

/** A complete answer of version 2 as a chat completion. @throws AttemptError for a body that is none. */
export function chatAnswer(bytes: Uint8Array, _call: Call): Decoded {
  const body = parseAnswer(bytes);
  const { id, message: written } = body;
  if (!isJson(written)) throw malformed("an answer without a message");
  const message = messageOf(written);
  const { finish_reason: reason } = body;
  if (typeof reason !== "string") throw malformed("an answer without a finish reason");
  const called = message["tool_calls"] !== undefined;
  const finish = finishOf("cohere", reason, { called, error: body["message"] ?? null });
  const usage = usageOf(body["usage"]);
  return {
    body: {
      ...(typeof id === "string" ? { id } : {}),
      object: "chat.completion",
      choices: [{ index: 0, message, ...finish }],
      ...(usage ? { usage: writtenUsage(usage) } : {}),
    },
    usage,
  };
}

function messageOf({ content, tool_plan: plan, tool_calls, citations }: Json): Json {
  const blocks = listOf(content, "content");
  // The plan of version 2's first models, and the thinking of the later ones.
  const thoughts = [...blocks.flatMap(thinkingIn), ...(typeof plan === "string" && plan !== "" ? [plan] : [])];
  const texts = blocks.map(textOf);
  const calls = listOf(tool_calls, "tool calls").map(callOf);
  const annotations = listOf(citations, "citations").flatMap((citation) =>
    isJson(citation) ? annotationsOf(citation, offsetOf(texts, citation["content_index"])) : [],
  );
  const text = texts.join("");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts.length > 0
      ? {
          reasoning_content: thoughts.join(""),
          reasoning_details: thoughts.map((thought) => ({ type: "reasoning.text", text: thought })),
        }
      : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

function listOf(value: unknown, what: string): readonly unknown[] {
  const list = value ?? [];
  if (!Array.isArray(list)) throw malformed(`${what} that are no list`);
  return list;
}

function thinkingIn(block: unknown): readonly string[] {
  if (!isJson(block) || block["type"] !== "thinking") return [];
  const { thinking } = block;
  if (typeof thinking !== "string") throw malformed("a thinking block without text");
  return thinking === "" ? [] : [thinking];
}

/** Empty for a block of another kind. */
function textOf(block: unknown): string {
  if (!isJson(block)) throw malformed("a content block that is none");
  if (block["type"] !== "text") return "";
  if (typeof block["text"] !== "string") throw malformed("a text block without text");
  return block["text"];
}

/** Where in the joined text the citations of a block count from. */
function offsetOf(texts: readonly string[], block: unknown): number {
  return texts.slice(0, typeof block === "number" ? Math.max(block, 0) : 0).join("").length;
}

function callOf(call: unknown): Json {
  const { id, function: called } = isJson(call) ? call : {};
  const { name, arguments: args } = isJson(called) ? called : {};
  if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
    throw malformed("a tool call without an id or a name");
  }
  if (args !== undefined && args !== null && typeof args !== "string") throw malformed("arguments that are no text");
  return { id, type: "function", function: { name, arguments: isNone(args ?? "") ? "{}" : args } };
}

/** Some models write "null" for no arguments. */
export function isNone(args: string): boolean {
  return args.trim() === "" || args.trim() === "null";
}

/** A citation as annotations of the answer's text, one a source; none for one of the plan or the thinking. */
export function annotationsOf(citation: Json, offset: number): readonly Json[] {
  const { type, start, end, sources } = citation;
  if (type !== undefined && type !== null && type !== "TEXT_CONTENT") return [];
  const place = {
    ...(typeof start === "number" ? { start_index: offset + start } : {}),
    ...(typeof end === "number" ? { end_index: offset + end } : {}),
  };
  return objects(sources).map(({ type: location, id, document }) => {
    const page = isJson(document) ? document : {};
    return annotationOf(page, { filename: page["title"], file_id: id, location }, place);
  });
}

/**
 * What is charged (`billed_units`), where it is missing what the model read and wrote (`tokens`): Cohere's own prompt,
 * which comes before the client's, is part of that alone. @returns null for counts that cannot be believed.
 */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const tokens = counts(usage["tokens"]);
  const charged = counts(usage["billed_units"]) ?? tokens;
  if (charged === null) return null;
  // A cache holds beginnings: what it had of Cohere's own prompt is not charged anyway.
  const own = Math.max((tokens?.input ?? Infinity) - charged.input, 0);
  const cached = Math.max((tokenCount(usage["cached_tokens"]) ?? 0) - own, 0);
  return {
    prompt: charged.input,
    completion: charged.output,
    cached: Math.min(cached, charged.input),
    reasoning: 0,
  };
}

function counts(units: unknown): { readonly input: number; readonly output: number } | null {
  if (!isJson(units)) return null;
  const [input, output] = [tokenCount(units["input_tokens"]), tokenCount(units["output_tokens"])];
  return input === null || output === null ? null : { input, output };
}
