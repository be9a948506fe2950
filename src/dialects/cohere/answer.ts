import { type Call, isJson, type Json } from "../../kit/index.ts";
import type { Decoded } from "../dialect.ts";
import { malformed } from "../errors.ts";
import { finishOf } from "../finish.ts";
import { parseAnswer } from "../requests.ts";
import { writtenUsage } from "../usage.ts";
import { annotationsOf } from "./citations.ts";
import { usageOf } from "./usage.ts";

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
  const thoughts = [...blocks.flatMap(thoughtOf), ...(typeof plan === "string" && plan !== "" ? [plan] : [])];
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

function thoughtOf(block: unknown): readonly string[] {
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
