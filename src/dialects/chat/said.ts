import { isJson, type Json } from "../../kit/index.ts";

/**
 * The fields of a delta or message with its content as text and its thoughts as `reasoning_content`: Groq, OpenRouter and
 * vLLM call them `reasoning`, Mistral sends both as parts of the content.
 */
export function withText(part: Json): Record<string, unknown> {
  const { content, reasoning, reasoning_content: thoughts, ...rest } = part;
  const said: Record<string, unknown> = rest;
  const parts = Array.isArray(content) ? readParts(content) : { text: text(content), thoughts: "" };
  if (parts.text !== null || content === null) said["content"] = parts.text;
  // Some upstreams say the same under both names.
  const own = text(thoughts) || text(reasoning);
  if (own !== null || parts.thoughts !== "") said["reasoning_content"] = (own ?? "") + parts.thoughts;
  return said;
}

interface Parts {
  readonly text: string | null;
  readonly thoughts: string;
}

/** `{type: "text", text}` and Mistral's `{type: "thinking", thinking: [{type: "text", text}]}`. */
function readParts(parts: readonly unknown[]): Parts {
  let said: string | null = null;
  let thoughts = "";
  for (const part of parts) {
    if (!isJson(part)) continue;
    if (part["type"] === "thinking") thoughts += textIn(part["thinking"]);
    else said = (said ?? "") + textIn([part]);
  }
  return { text: said, thoughts };
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: unknown) => (isJson(part) ? (text(part["text"]) ?? "") : "")).join("");
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
