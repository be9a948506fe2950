import { isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../json-schema.ts";
import type { Report } from "../canonical/report.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schema-rules.ts";
import { cacheControl } from "./blocks.ts";
import type { ModelRules } from "./models.ts";
import { nativeFields } from "./native.ts";

export interface ToolOptions {
  readonly verbatim: boolean;
  /** The model holds calls to the schemas of strict tools. */
  readonly strict: boolean;
  readonly report: Report;
}

/** @throws GatewayError for a list that is none. */
export function toolsOf(tools: unknown, options: ToolOptions): readonly Json[] {
  const { report } = options;
  if (tools === null || tools === undefined) return [];
  if (!Array.isArray(tools)) throw report.refusal("/tools", "must be a list");
  return tools.flatMap((tool: unknown, index) => {
    const at = `/tools/${index}`;
    if (!isJson(tool)) throw report.refusal(at, "must be an object");
    const made = isJson(tool["function"]) ? functionTool(tool, at, options) : null;
    if (made === null) report.drop(at);
    return made === null ? [] : [made];
  });
}

function functionTool(tool: Json, at: string, { verbatim, strict: holds, report }: ToolOptions): Json {
  const { name, description, parameters, strict } = isJson(tool["function"]) ? tool["function"] : {};
  if (typeof name !== "string") throw report.refusal(`${at}/function/name`, "must be a string");
  const schema = inputSchema(parameters, `${at}/function/parameters`, report);
  const input = verbatim
    ? { input_schema: schema, ...(typeof strict === "boolean" ? { strict } : {}) }
    : claudeInput(schema, strict === true, holds, `${at}/function`, report);
  return {
    ...nativeFields(tool, verbatim),
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...input,
    ...cacheControl(tool),
  };
}

/** The API demands a schema, of an object. */
function inputSchema(parameters: unknown, at: string, report: Report): Json {
  if (parameters === null || parameters === undefined) return { type: "object", properties: {} };
  if (!isJson(parameters)) throw report.refusal(at, "must be an object");
  return parameters["type"] === undefined ? { type: "object", ...parameters } : parameters;
}

/** A strict tool's schema is one that its calls can be held to; where there is none, the tool is not strict. */
function claudeInput(schema: Json, strict: boolean, holds: boolean, at: string, report: Report): Json {
  const held = strict && holds ? fitSchema(schema, CLAUDE_SCHEMAS) : null;
  if (held?.shaped === true) {
    report.dropWithin(held, `${at}/parameters`);
    return { input_schema: held.schema, strict: true };
  }
  if (strict) report.drop(`${at}/strict`);
  const taken = fitSchema(schema, CLAUDE_TOOLS);
  report.dropWithin(taken, `${at}/parameters`);
  return { input_schema: taken.schema };
}

interface ChoiceOptions {
  readonly rules: ModelRules;
  readonly verbatim: boolean;
  readonly report: Report;
}

/** Left out: the API's own default. */
export function toolChoiceOf(body: Json, hasTools: boolean, { rules, verbatim, report }: ChoiceOptions): Json | null {
  const asked = canonicalChoice(body["tool_choice"]);
  // Some models refuse to be made to call a tool.
  const refused = asked === null || (!verbatim && !rules.forcedTools && forced(asked));
  if (refused) report.drop("/tool_choice");
  const choice = refused ? null : asked;
  // Without tools there is nothing to choose, and the API refuses to be told so.
  if (!hasTools && !forced(choice)) return null;
  const type = choice?.["type"];
  const single = body["parallel_tool_calls"] === false && type !== "none";
  if (single) return { type: "auto", ...choice, disable_parallel_tool_use: true };
  return type === undefined ? null : choice;
}

/** Empty for "not said", null for what the API does not know. */
function canonicalChoice(choice: unknown): Json | null {
  if (choice === undefined || choice === null) return {};
  if (choice === "auto" || choice === "none") return { type: choice };
  if (choice === "required") return { type: "any" };
  if (!isJson(choice)) return null;
  const { function: named } = choice;
  return isJson(named) && typeof named["name"] === "string" ? { type: "tool", name: named["name"] } : null;
}

/** Whether the model must call a tool: it then may not think first. */
export function forced(choice: Json | null): boolean {
  return choice?.["type"] === "any" || choice?.["type"] === "tool";
}
