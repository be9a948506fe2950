import { isJson, type Json } from "../../../kit/index.ts";
import { withNative } from "../native.ts";
import { extraFields, given, objects } from "../../canonical/json.ts";

export interface ReadTools {
  /** Fields of the canonical body. */
  readonly body: Json;
  /** Server tools, and a choice that only the Messages dialect can make. */
  readonly native: Json;
  /** Pointers to the functions, and to the server tools. */
  readonly places: { readonly functions: readonly string[]; readonly servers: readonly string[] };
}

/** Tools with their places in the list. */
type Listed = readonly (readonly [index: number, tool: Json])[];

/** Tools with a schema of their own are functions; the provider's own tools are its dialect's. */
export function readTools(tools: unknown, choice: unknown): ReadTools {
  const own = (wanted: boolean): Listed =>
    [...objects(tools).entries()].filter(([, tool]) => isCustom(tool) === wanted);
  const [functions, servers] = [own(true), own(false)];
  const places = { functions: functions.map(pointer), servers: servers.map(pointer) };
  const body = functions.length === 0 ? {} : { tools: functions.map(([, tool]) => readTool(tool)) };
  const native = servers.length === 0 ? {} : { tools: servers.map(([, tool]) => tool) };
  if (!isJson(choice)) return { body, native, places };
  const canonical = readChoice(choice, functions);
  if (canonical === null) return { body, native: { ...native, tool_choice: choice }, places };
  return { body: { ...body, ...canonical }, native, places };
}

function pointer([index]: readonly [number, Json]): string {
  return `/tools/${index}`;
}

function isCustom({ type, name, input_schema }: Json): boolean {
  return (type === undefined || type === null || type === "custom") && typeof name === "string" && isJson(input_schema);
}

function readTool({ name, description, input_schema, strict, cache_control, ...rest }: Json): Json {
  const parts = { ...given("description", description), parameters: input_schema, ...given("strict", strict) };
  return {
    ...leftover(rest),
    type: "function",
    function: { name, ...parts },
    ...given("cache_control", cache_control),
  };
}

/** null: it means nothing without the server tools, or has fields that are not known. */
function readChoice({ type, name, disable_parallel_tool_use: single, ...rest }: Json, functions: Listed): Json | null {
  if (functions.length === 0 || Object.keys(rest).length > 0) return null;
  const parallel = typeof single === "boolean" ? { parallel_tool_calls: !single } : {};
  switch (type) {
    case "auto":
      return { tool_choice: "auto", ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "none":
      return { tool_choice: "none", ...parallel };
    case "tool":
      if (!functions.some(([, tool]) => tool["name"] === name)) return null;
      return { tool_choice: { type: "function", function: { name } }, ...parallel };
    default:
      return null;
  }
}

/** The further fields of a Messages object, as its canonical counterpart carries them; null stands for "not given". */
export function leftover(fields: Json): Json {
  return withNative(extraFields(fields, NONE));
}

const NONE: ReadonlySet<string> = new Set();
