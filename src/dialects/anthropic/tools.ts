import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";
import { cacheControl } from "./blocks.ts";
import { nativeFields } from "./native.ts";

/** @throws GatewayError for a list that is none. */
export function toolsOf(tools: unknown, verbatim: boolean, report: Report): readonly Json[] {
  if (tools === null || tools === undefined) return [];
  if (!Array.isArray(tools)) throw report.refusal("/tools", "must be a list");
  return tools.flatMap((tool: unknown, index) => {
    const at = `/tools/${index}`;
    if (!isJson(tool)) throw report.refusal(at, "must be an object");
    const made = isJson(tool["function"]) ? functionTool(tool, at, verbatim, report) : null;
    if (made === null) report.drop(at);
    return made === null ? [] : [made];
  });
}

function functionTool(tool: Json, at: string, verbatim: boolean, report: Report): Json {
  const { name, description, parameters, strict } = isJson(tool["function"]) ? tool["function"] : {};
  if (typeof name !== "string") throw report.refusal(`${at}/function/name`, "must be a string");
  return {
    ...nativeFields(tool, verbatim),
    name,
    ...(typeof description === "string" ? { description } : {}),
    input_schema: inputSchema(parameters, `${at}/function/parameters`, report),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...cacheControl(tool),
  };
}

/** The API demands a schema, of an object. */
function inputSchema(parameters: unknown, at: string, report: Report): Json {
  if (parameters === null || parameters === undefined) return { type: "object", properties: {} };
  if (!isJson(parameters)) throw report.refusal(at, "must be an object");
  return parameters["type"] === undefined ? { type: "object", ...parameters } : parameters;
}

/** Left out: the API's own default. */
export function toolChoiceOf(body: Json, hasTools: boolean, report: Report): Json | null {
  const choice = canonicalChoice(body["tool_choice"]);
  if (choice === null) report.drop("/tool_choice");
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
