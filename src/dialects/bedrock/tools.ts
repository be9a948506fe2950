import { isJson, type Json } from "../../kit/index.ts";
import { describedFunction, FUNCTION_FIELDS, namedTool, TOOL_FIELDS } from "../canonical/tools.ts";
import { withFitNames } from "../messages/property-names.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";
import { cachePoint } from "./cache-points.ts";
import { takesNamedTool, takesToolChoice, type Translation } from "./models.ts";

/** What of a request's tools goes where. */
interface Tools {
  readonly toolConfig?: Json;
  /** For `additionalModelRequestFields`: a choice that Converse itself cannot say. */
  readonly choice?: Json;
  /** A tool must be called. */
  readonly forced?: boolean;
}

interface ToolContext {
  /** The conversation in Converse's form: one that has tool calls in it needs tools, also where the client lists none. */
  readonly turns: readonly Json[];
  /** Names of the functions that may be called; null: all of them. */
  readonly names: ReadonlySet<string> | null;
}

/** @throws GatewayError for tools that cannot be written down. */
export function toolsOf(body: Json, { turns, names }: ToolContext, translation: Translation): Tools {
  const { family, report } = translation;
  const listed = body["tools"] ?? [];
  if (!Array.isArray(listed)) throw report.refusal("/tools", "must be a list");
  const choice = body["tool_choice"] ?? "auto";
  const used = usedTools(turns);
  if (choice === "none" && used.length === 0) return {};
  const only = namedTool(choice);
  // One of several is forced by listing it alone where the model can only be made to call any.
  const callable = only !== null && takesToolChoice(family) && !takesNamedTool(family) ? new Set([only]) : names;
  const taken = new Set<unknown>();
  const given = listed.flatMap((tool: unknown, index) => {
    const name = isJson(tool) && isJson(tool["function"]) ? tool["function"]["name"] : undefined;
    if (callable !== null && !(typeof name === "string" && callable.has(name))) return [];
    if (name !== undefined && taken.has(name)) report.drop(`/tools/${index}`);
    const isSent = name === undefined || !taken.has(name);
    taken.add(name);
    return isSent ? toolSpec(tool, `/tools/${index}`, translation) : [];
  });
  const tools = given.length > 0 ? given : used.map((name) => spec({ name }, ANY_INPUT));
  if (tools.length === 0) {
    if (choice !== "auto") report.drop("/tool_choice");
    return {};
  }
  const isForcing = choice === "required" || only !== null;
  const isTaken = !isForcing || (given.length > 0 && canBeForced(translation));
  if (!isTaken) report.drop("/tool_choice");
  const kept = isTaken ? choice : "auto";
  return {
    toolConfig: { tools, ...choiceOf(kept, body, translation) },
    ...single(kept, body, translation),
    forced: isForcing && isTaken,
  };
}

function canBeForced({ family, claude }: Translation): boolean {
  return claude?.forcedTools ?? takesToolChoice(family);
}

function toolSpec(listed: unknown, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  const found = describedFunction(listed, at, report);
  if (found === null) return [];
  const { tool, described } = found;
  report.dropUnknown(tool, TOOL_FIELDS, at);
  report.dropUnknown(described, FUNCTION_FIELDS, `${at}/function`);
  return [spec(described, inputSchema(described, `${at}/function`, translation)), ...cachePoint(tool, at, translation)];
}

function spec({ name, description }: Json, input: Json): Json {
  const described = typeof description === "string" && description.trim() !== "" ? { description } : {};
  return { toolSpec: { name, ...described, ...input } };
}

const ANY_INPUT: Json = { inputSchema: { json: { type: "object" } } };

/** Converse takes schemas of objects only, and `$schema` of none of its models. */
function inputSchema({ parameters, strict }: Json, at: string, { family, strictTools, report }: Translation): Json {
  const { $schema: _dialect, ...rest } = isJson(parameters) ? parameters : {};
  const schema = { type: "object", ...rest };
  // A function without parameters takes none.
  const whole = isJson(parameters) ? schema : { ...schema, properties: {} };
  const own = family === "anthropic" ? withFitNames(whole, (place) => report.drop(`${at}/parameters${place}`)) : whole;
  const held = strict === true && strictTools ? fitSchema(own, CLAUDE_SCHEMAS, report.schemaWork) : null;
  if (held?.shaped === true) {
    report.dropWithin(held, `${at}/parameters`);
    return { inputSchema: { json: held.schema }, strict: true };
  }
  if (strict === true) report.drop(`${at}/strict`);
  if (family !== "anthropic") return { inputSchema: { json: schema } };
  const taken = fitSchema(schema, CLAUDE_TOOLS, report.schemaWork);
  report.dropWithin(taken, `${at}/parameters`);
  return { inputSchema: { json: taken.schema } };
}

function choiceOf(choice: unknown, body: Json, { family, report }: Translation): Json {
  // Said among the model's own fields, it must not be said here: Converse refuses both.
  if (isSingle(body) && family === "anthropic") return {};
  if (choice === "auto") return {};
  const name = namedTool(choice);
  if (choice === "required" || (name !== null && !takesNamedTool(family))) return { toolChoice: { any: {} } };
  if (name === null) report.drop("/tool_choice");
  return name === null ? {} : { toolChoice: { tool: { name } } };
}

/** At most one call at a time; a field of Claude's own. */
function single(choice: unknown, body: Json, { family, report }: Translation): { readonly choice?: Json } {
  if (!isSingle(body)) return {};
  if (family !== "anthropic") {
    report.drop("/parallel_tool_calls");
    return {};
  }
  const name = namedTool(choice);
  if (name === null && choice !== "auto" && choice !== "required") report.drop("/tool_choice");
  const own = name !== null ? { type: "tool", name } : { type: choice === "required" ? "any" : "auto" };
  return { choice: { tool_choice: { ...own, disable_parallel_tool_use: true } } };
}

function isSingle(body: Json): boolean {
  return body["parallel_tool_calls"] === false;
}

/** The names of the tools that were called, each once. */
function usedTools(turns: unknown): readonly string[] {
  const blocks = Array.isArray(turns) ? turns.flatMap((turn: unknown) => (isJson(turn) ? turn["content"] : [])) : [];
  const names = blocks.map((block: unknown) => {
    if (!isJson(block)) return undefined;
    // A result alone, its call gone: any tool will do.
    if (isJson(block["toolResult"])) return "tool";
    return isJson(block["toolUse"]) ? block["toolUse"]["name"] : undefined;
  });
  const called = new Set(names.filter((name) => typeof name === "string"));
  if (called.size > 1) called.delete("tool");
  return [...called];
}
