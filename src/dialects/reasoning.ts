import type { Json } from "../kit/index.ts";
import { objects } from "./json-fields.ts";

/** How a dialect marks what only its provider can read, such as `gemini1.`. */
export const MARKED = /^[a-z]+\d+\./;

/** What Claude wants back word for word: it refuses any that it has not signed, wherever it is served. */
export type ClaudeReasoning = { readonly text: string; readonly signature: string } | { readonly data: string };

/** null for a detail that another provider made, or nobody signed. */
export function claudeReasoning({ type, text, signature, data, id, format }: Json): ClaudeReasoning | null {
  // OpenRouter says whose it is (https://openrouter.ai/docs/use-cases/reasoning-tokens, reasoning_details).
  if (typeof format === "string" && !format.startsWith("anthropic")) return null;
  if (type === "reasoning.text" && isOwn(signature)) return { text: typeof text === "string" ? text : "", signature };
  // One with an id is an item of OpenAI's, encrypted for OpenAI.
  return type === "reasoning.encrypted" && isOwn(data) && typeof id !== "string" ? { data } : null;
}

function isOwn(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !MARKED.test(value);
}

/**
 * Whether the last turn of the model called tools without thinking first: it may not begin to think in such a loop.
 * @param kindOf what a block of the dialect is.
 */
export function callsWithoutThinking(
  messages: readonly Json[],
  kindOf: (block: Json) => "thought" | "call" | null,
): boolean {
  const kinds = objects(messages.findLast(({ role }) => role === "assistant")?.["content"]).map(kindOf);
  return kinds.includes("call") && kinds[0] !== "thought";
}
