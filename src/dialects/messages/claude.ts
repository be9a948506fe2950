import { isJson, type Json } from "../../kit/index.ts";
import { mustCall, wantedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { objects } from "../canonical/json.ts";
import { MARKED } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { fitSchema } from "../json-schema.ts";
import { CLAUDE_MOST_OPTIONAL, CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schema-rules.ts";

/** How structured output is asked of a Claude model, wherever it is served. */
export interface ClaudeOutput {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** The schema for the model's own structured output; null: none. */
  readonly schema: Json | null;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/** Where a canonical body names its schema. */
export const SCHEMA_AT = "/response_format/json_schema/schema";

/**
 * What @ai-sdk/anthropic does (`structuredOutputMode: "auto"`): the model's own structured output where it has one and the
 * schema is one that it can be held to, else a tool that it must call. With a budget for thinking no call may be forced:
 * the tool is offered.
 * @param structured the model has structured output of its own.
 * @param forcedTools it can be made to call a tool.
 */
export function claudeOutput(
  body: Json,
  { structured, forcedTools }: { readonly structured: boolean; readonly forcedTools: boolean },
  report: Report,
): ClaudeOutput {
  const { response_format: format, thinking } = body;
  const schema = wantedSchema(format);
  if (schema === null) {
    // "Any JSON" has no counterpart.
    if (isJson(format) ? format["type"] !== "text" : format !== null && format !== undefined) {
      report.drop("/response_format");
    }
    return { body, schema: null, tool: null };
  }
  const fitted = fitSchema(schema, CLAUDE_SCHEMAS);
  const isHeld = structured && fitted.shaped && fitted.optional <= CLAUDE_MOST_OPTIONAL;
  if (!isHeld && forcedTools) {
    const choice = isJson(thinking) && thinking["type"] === "enabled" ? "auto" : "required";
    const asTool = fitSchema(schema, CLAUDE_TOOLS);
    const tool = withJsonTool(body, asTool.schema, choice);
    if (tool !== null) {
      report.dropWithin(asTool, SCHEMA_AT);
      if (choice === "auto") report.drop("/response_format");
      return { body: { ...tool.body, parallel_tool_calls: false }, schema: null, tool: tool.name };
    }
  }
  if (!structured) {
    if (!mustCall(body)) report.drop("/response_format");
    return { body, schema: null, tool: null };
  }
  report.dropWithin(fitted, SCHEMA_AT);
  return { body, schema: fitted.schema, tool: null };
}

/**
 * What Claude wants back word for word: it refuses any that it has not signed. Signatures of one platform are good at another
 * (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
type ClaudeReasoning = { readonly text: string; readonly signature: string } | { readonly data: string };

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
