import { isJson, type Json } from "../../kit/index.ts";
import { mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import type { Report } from "../canonical/report.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_MAX_OPTIONAL_PROPERTIES, CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";

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
  const schema = requestedSchema(format);
  if (schema === null) {
    // "Any JSON" has no counterpart.
    if (isJson(format) ? format["type"] !== "text" : format !== null && format !== undefined) {
      report.drop("/response_format");
    }
    return { body, schema: null, tool: null };
  }
  const fitted = fitSchema(schema, CLAUDE_SCHEMAS, report.schemaWork);
  const isHeld = structured && fitted.shaped && fitted.optional <= CLAUDE_MAX_OPTIONAL_PROPERTIES;
  if (!isHeld && forcedTools) {
    const choice = isJson(thinking) && thinking["type"] === "enabled" ? "auto" : "required";
    const asTool = fitSchema(schema, CLAUDE_TOOLS, report.schemaWork);
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
