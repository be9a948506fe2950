import { isJson, type Json } from "../../kit/index.ts";
import { rulesOf } from "../anthropic/models.ts";
import { claudeOutput, SCHEMA_AT } from "../claude-output.ts";
import { fitSchema } from "../json-schema.ts";
import { wantedSchema, withJsonTool } from "../json-tool.ts";
import type { Report } from "../report.ts";
import { CLAUDE_SCHEMAS } from "../schema-rules.ts";
import { hasStructuredOutput, takesToolChoice } from "./family.ts";
import type { Translation } from "./translation.ts";

/** How structured output is asked of a model. */
export interface Output {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** `outputConfig`, or nothing. */
  readonly config: Json;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/** Claude's way for Claude; other models have structured output of their own, or are made to call a tool. */
export function outputOf(body: Json, model: string, { family, report }: Translation): Output {
  const structured = hasStructuredOutput(model);
  if (family === "anthropic") {
    const { forcedTools } = rulesOf(model.toLowerCase());
    const output = claudeOutput(body, { structured: structured || !forcedTools, forcedTools }, report);
    return { body: output.body, config: configOf(body, output.schema, report), tool: output.tool };
  }
  const { response_format: format, tool_choice: choice } = body;
  const schema = wantedSchema(format);
  if (schema === null) {
    if (isJson(format) && format["type"] !== "text") report.drop("/response_format");
    return { body, config: {}, tool: null };
  }
  if (structured) {
    const fitted = fitSchema(schema, CLAUDE_SCHEMAS);
    report.dropOf(fitted, SCHEMA_AT);
    return { body, config: configOf(body, fitted.schema, report), tool: null };
  }
  const tool = withJsonTool(body, schema, takesToolChoice(family) ? "required" : "auto");
  // Where a tool of the client's must be called there is no text to have a format.
  if (tool === null && choice !== "required" && !isJson(choice)) report.drop("/response_format");
  return { body: tool?.body ?? body, config: {}, tool: tool?.name ?? null };
}

function configOf({ response_format: format }: Json, schema: Json | null, report: Report): Json {
  if (schema === null) return {};
  const { name, description } = isJson(format) && isJson(format["json_schema"]) ? format["json_schema"] : {};
  const jsonSchema = {
    schema: textOf(schema, report),
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
}

/** `JSON.parse` accepts deeper nesting than `JSON.stringify` can write: that is the client's fault, not a 500. */
function textOf(schema: Json, report: Report): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof RangeError) throw report.refusal("/response_format", "is nested too deeply");
    throw error;
  }
}
