import { isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../json-schema.ts";
import type { Report } from "../report.ts";
import { GEMINI_SCHEMAS } from "../schema-rules.ts";

export interface ToolFields {
  readonly tools?: readonly Json[];
  readonly toolConfig?: Json;
}

const CARRIED: ReadonlySet<string> = new Set(["type", "function", "cache_control"]);

export function toolsOf(body: Json, report: Report): ToolFields {
  const declared = declarations(body["tools"], report);
  const search = searchTool(body["web_search_options"], report);
  const tools = [...(declared.functions.length > 0 ? [{ functionDeclarations: declared.functions }] : []), ...search];
  const config =
    declared.functions.length > 0 ? choice(body["tool_choice"], declared.strict, report) : unused(body, report);
  // Gemini cannot be kept from calling several functions at once.
  if (body["parallel_tool_calls"] === false && declared.functions.length > 0) report.drop("/parallel_tool_calls");
  return {
    ...(tools.length > 0 && { tools }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
  };
}

function declarations(
  tools: unknown,
  report: Report,
): { readonly functions: readonly Json[]; readonly strict: boolean } {
  const functions: Json[] = [];
  let strict = false;
  for (const [index, tool] of (Array.isArray(tools) ? (tools as readonly unknown[]) : []).entries()) {
    const at = `/tools/${index}`;
    const declared =
      isJson(tool) && (tool["type"] === "function" || tool["type"] === undefined) ? tool["function"] : null;
    if (!isJson(tool) || !isJson(declared)) {
      report.drop(at);
      continue;
    }
    const { name, description, parameters } = declared;
    if (typeof name !== "string" || name === "") throw report.refusal(`${at}/function/name`, "must be a name");
    strict ||= declared["strict"] === true;
    functions.push({
      name,
      ...(typeof description === "string" && description !== "" && { description }),
      ...(isJson(parameters) &&
        Object.keys(parameters).length > 0 && { parametersJsonSchema: fitSchema(parameters, GEMINI_SCHEMAS).schema }),
    });
    report.dropBeside(tool, CARRIED, at);
  }
  return { functions, strict };
}

/** Gemini's own search; how much it reads and where it takes the user to be cannot be said. */
function searchTool(options: unknown, report: Report): readonly Json[] {
  if (!isJson(options)) return [];
  report.dropBeside(options, new Set(), "/web_search_options");
  return [{ googleSearch: {} }];
}

/** `VALIDATED` holds calls to their schemas, as `ANY` does, and may be restricted, as `AUTO` may not. */
function choice(wanted: unknown, strict: boolean, report: Report): Json | null {
  const auto = strict ? { mode: "VALIDATED" } : null;
  if (wanted === undefined || wanted === null || wanted === "auto") return auto;
  if (wanted === "none") return { mode: "NONE" };
  if (wanted === "required") return { mode: "ANY" };
  const { type, function: named, allowed_tools: allowed } = isJson(wanted) ? wanted : {};
  if (type === "function" && isJson(named) && typeof named["name"] === "string") {
    return { mode: "ANY", allowedFunctionNames: [named["name"]] };
  }
  const names = type === "allowed_tools" && isJson(allowed) ? namesOf(allowed["tools"]) : [];
  if (isJson(allowed) && names.length > 0) {
    return { mode: allowed["mode"] === "required" ? "ANY" : "VALIDATED", allowedFunctionNames: names };
  }
  report.drop("/tool_choice");
  return auto;
}

function namesOf(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const name = isJson(tool) && isJson(tool["function"]) ? tool["function"]["name"] : null;
    return typeof name === "string" ? [name] : [];
  });
}

/** Without functions there is nothing to choose from; only a choice that demands one is missed. */
function unused({ tool_choice: wanted }: Json, report: Report): null {
  const demands = wanted === "required" || isJson(wanted);
  if (demands) report.drop("/tool_choice");
  return null;
}
