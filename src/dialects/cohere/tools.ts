import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";
import { describedFunction } from "../functions.ts";
import { fitSchema } from "../json-schema.ts";
import { COHERE_SCHEMAS } from "../schema-rules.ts";

/** Cohere caches prefixes by itself. */
const TOOL: ReadonlySet<string> = new Set(["function", "cache_control"]);
const FUNCTION: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);

interface Listed {
  readonly name: string;
  readonly description: unknown;
  readonly schema: Json;
  readonly strict: boolean;
  readonly at: string;
}

/** `tools`, `tool_choice` and `strict_tools`. @throws GatewayError for tools that cannot be written down. */
export function toolsOf(body: Json, report: Report): Json {
  const listed = body["tools"] ?? [];
  if (!Array.isArray(listed)) throw report.refusal("/tools", "must be a list");
  const all = listed.flatMap((tool: unknown, index) => listedTool(tool, `/tools/${index}`, report));
  const choice = body["tool_choice"] ?? "auto";
  const named = namedTool(choice);
  // Only whether a tool must be called can be said: with one alone to choose from it is this one.
  const tools = named === null ? all : all.filter(({ name }) => name === named);
  if (tools.length > 0) return { ...written(tools, report), ...chosen(choice, named, report) };
  if (choice !== "auto" && choice !== "none") report.drop("/tool_choice");
  return all.length === 0 ? {} : { tools: all.map((tool) => writtenTool(tool, tool.schema)) };
}

function listedTool(listed: unknown, at: string, report: Report): readonly Listed[] {
  const found = describedFunction(listed, at, report);
  if (found === null) return [];
  const { tool, name, described } = found;
  const { description, parameters, strict } = described;
  report.dropBeside(tool, TOOL, at);
  report.dropBeside(described, FUNCTION, `${at}/function`);
  const schema = isJson(parameters) ? parameters : { type: "object", properties: {} };
  return [{ name, description, schema, strict: strict === true, at }];
}

/** All tools are strict or none is; the schemas of strict ones must be such that calls can be held to them. */
function written(tools: readonly Listed[], report: Report): Json {
  const fitted = tools.map(({ schema, strict }) => (strict ? fitSchema(schema, COHERE_SCHEMAS) : null));
  if (fitted.every((one) => one?.shaped === true)) {
    for (const [index, { at }] of tools.entries()) report.dropOf(fitted[index]!, `${at}/function/parameters`);
    return { tools: tools.map((tool, index) => writtenTool(tool, fitted[index]!.schema)), strict_tools: true };
  }
  for (const { strict, at } of tools) if (strict) report.drop(`${at}/function/strict`);
  return { tools: tools.map((tool) => writtenTool(tool, tool.schema)) };
}

function writtenTool({ name, description }: Listed, parameters: Json): Json {
  const said = typeof description === "string" ? { description } : {};
  return { type: "function", function: { name, ...said, parameters } };
}

function chosen(choice: unknown, named: string | null, report: Report): Json {
  if (choice === "required" || named !== null) return { tool_choice: "REQUIRED" };
  if (choice === "none") return { tool_choice: "NONE" };
  if (choice !== "auto") report.drop("/tool_choice");
  return {};
}

function namedTool(choice: unknown): string | null {
  const called = isJson(choice) ? choice["function"] : undefined;
  const name = isJson(called) ? called["name"] : undefined;
  return typeof name === "string" ? name : null;
}
