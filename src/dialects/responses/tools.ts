import { objects, stringOf } from "../canonical/json.ts";
import { isJson, type Json } from "../../kit/index.ts";
import { MARKS } from "../canonical/marks.ts";
import type { Report } from "../canonical/report.ts";
import type { Rules } from "../vendors/types.ts";
import { withFittedSchema } from "../vendors/rules.ts";

/**
 * Tools that only ask the client, or run unpaid: any other runs something paid at the upstream, or another model, and goes
 * only where `accepts.fields` names its type (https://developers.openai.com/api/docs/pricing, built-in tools).
 */
const UNPAID: ReadonlySet<unknown> = new Set([
  "function",
  "custom",
  "namespace",
  "apply_patch",
  "local_shell",
  "computer",
  "computer_use_preview",
  "tool_search",
  "mcp",
]);

/** A tool of this format's own, as it came; null where it may not be sent. */
export function sentTool(tool: Json, { fields }: Pick<Rules, "fields">): Json | null {
  const { type, environment, model } = tool;
  if (fields.has(stringOf(type))) return tool;
  if (type === "namespace" && !objects(tool["tools"]).every(isFunction)) return null;
  if (type === "shell") return isJson(environment) && environment["type"] === "local" ? tool : null;
  return UNPAID.has(type) && model === undefined ? tool : null;
}

/** What a namespace may hold (SDK openai responses.d.ts NamespaceTool): others would run at the upstream. */
function isFunction({ type }: Json): boolean {
  return type === "function" || type === "custom" || type === undefined;
}

/** A tool of this format's own, or a choice among them, under the names that are sent; the very same where they fit. */
export function renamed(tool: Json, sentName: (name: string) => string): Json {
  const { type, name, tools } = tool;
  if (type === "allowed_tools" && Array.isArray(tools)) {
    return { ...tool, tools: tools.map((one: unknown) => (isJson(one) ? renamed(one, sentName) : one)) };
  }
  if ((type !== "function" && type !== "custom") || typeof name !== "string") return tool;
  const sent = sentName(name);
  return sent === name ? tool : { ...tool, name: sent };
}

export interface ToolsContext {
  readonly report: Report;
  readonly rules: Rules;
  readonly sentName: (name: string) => string;
  /** Places of the tools that are sent. */
  readonly fitting: ReadonlySet<number>;
}

const KNOWN: ReadonlySet<string> = new Set(["type", "function", "custom", ...MARKS]);

/** The tools of a canonical body. */
export function writeTools(tools: unknown, context: ToolsContext): readonly Json[] {
  return objects(tools).flatMap((tool, index): readonly Json[] => {
    const at = `/tools/${index}`;
    if (!context.fitting.has(index)) return [];
    const { function: described, custom, dialect, block } = tool;
    if (tool["type"] === "native" && dialect === "responses" && isJson(block)) {
      const sent = sentTool(block, context.rules);
      if (sent === null) context.report.drop(at);
      return sent === null ? [] : [sent];
    }
    if (!isJson(described) && !isJson(custom)) {
      context.report.drop(at);
      return [];
    }
    context.report.dropUnknown(tool, KNOWN, at);
    return [
      isJson(described) ? functionTool(described, `${at}/function`, context) : customTool(isJson(custom) ? custom : {}),
    ];
  });
}

/** Left out, `strict` is true here and false in chat completions (SDK openai responses.d.ts FunctionTool). */
function functionTool(described: Json, at: string, { report, rules, sentName }: ToolsContext): Json {
  const { owner, dropped } = withFittedSchema(described, "parameters", rules, report.schemaWork);
  report.dropWithin({ dropped }, at);
  const { name, description, parameters, strict } = owner;
  return {
    type: "function",
    name: sentName(stringOf(name)),
    ...(typeof description === "string" && { description }),
    parameters: isJson(parameters) ? parameters : { type: "object", properties: {} },
    strict: strict === true && rules.strictTools,
  };
}

function customTool({ name, description, format }: Json): Json {
  return {
    type: "custom",
    name,
    ...(typeof description === "string" && { description }),
    ...(isJson(format) && { format: isJson(format["grammar"]) ? { type: "grammar", ...format["grammar"] } : format }),
  };
}

/** A choice of chat completions; undefined for what is none. */
export function writeChoice(choice: unknown, sentName: (name: string) => string): unknown {
  if (!isJson(choice)) return choice;
  const { type, function: called, custom, allowed_tools: allowed } = choice;
  if (isJson(called)) return { type: "function", name: sentName(stringOf(called["name"])) };
  if (isJson(custom)) return { type: "custom", name: custom["name"] };
  if (type !== "allowed_tools" || !isJson(allowed)) return undefined;
  const tools = objects(allowed["tools"]).flatMap((tool) => writeChoice(tool, sentName) ?? []);
  return { type, mode: allowed["mode"], tools };
}

/** Names of the tools that take free text, in a request of chat completions. */
export function customNames(tools: unknown): ReadonlySet<string> {
  return new Set(objects(tools).flatMap(({ custom }) => (isJson(custom) ? [stringOf(custom["name"])] : [])));
}
