import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { flatName } from "./tools.ts";

export interface Choice {
  /** Those of the request's tools that may be called. */
  readonly tools: readonly Json[];
  /** Left out: the upstream's default. */
  readonly choice?: unknown;
  /** The choice is of a tool that runs at a provider. */
  readonly native?: true;
}

const MODES: ReadonlySet<unknown> = new Set(["auto", "none", "required"]);

/** @throws GatewayError for a choice that is none, or that names no tool of the request. */
export function readChoice(value: unknown, tools: readonly Json[]): Choice {
  if (value === undefined || value === null) return { tools };
  if (MODES.has(value)) return withMode(value, tools);
  if (!isJson(value)) throw invalidRequest("/tool_choice", "must be auto, none, required or an object");
  const { type } = value;
  if (type === "allowed_tools") return allowed(value, tools);
  if (type !== "function" && type !== "custom") return { tools, native: true };
  const name = functionName(value, "/tool_choice");
  if (!tools.some((tool) => functionOf(tool) === name)) {
    throw invalidRequest("/tool_choice/name", "must be the name of one of the tools");
  }
  return { tools, choice: { type: "function", function: { name } } };
}

/** Without a function a choice is an error to upstreams, and but for "required" asks for nothing. */
function withMode(mode: unknown, tools: readonly Json[]): Choice {
  if (tools.some((tool) => functionOf(tool) !== null)) return { tools, choice: mode };
  return mode === "required" ? { tools, native: true } : { tools };
}

function allowed({ mode, tools: listed }: Json, tools: readonly Json[]): Choice {
  if (mode !== "auto" && mode !== "required") {
    throw invalidRequest("/tool_choice/mode", 'must be one of "auto", "required"');
  }
  if (!Array.isArray(listed)) throw invalidRequest("/tool_choice/tools", "must be an array");
  const meant = listed.flatMap((tool: unknown, index) => {
    const pointer = `/tool_choice/tools/${index}`;
    if (!isJson(tool)) throw invalidRequest(pointer, "must be an object");
    const { type } = tool;
    const name = type === "function" || type === "custom" ? functionName(tool, pointer) : null;
    const found = tools.filter((one) => (name === null ? typeOf(one) === type : functionOf(one) === name));
    if (found.length === 0) throw invalidRequest(pointer, "must be one of the tools");
    return found;
  });
  const kept = new Set(meant);
  return withMode(
    mode,
    tools.filter((tool) => kept.has(tool)),
  );
}

function functionName({ name, namespace }: Json, pointer: string): string {
  if (typeof name !== "string") throw invalidRequest(`${pointer}/name`, "must be a string");
  return flatName(name, namespace);
}

function functionOf(tool: Json): unknown {
  return isJson(tool["function"]) ? tool["function"]["name"] : null;
}

/** The type of a tool that runs at a provider. */
function typeOf(tool: Json): unknown {
  return isJson(tool["block"]) ? tool["block"]["type"] : null;
}
