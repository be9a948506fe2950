import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { isOwnTool, ownFunction, type OwnTool } from "./own-tools.ts";

/** What a client calls a tool that travels under one flat function name. */
export interface ToolName {
  readonly name: string;
  readonly namespace?: string;
  /** Takes free text instead of arguments. */
  readonly custom: boolean;
  /** It is a tool of the API's own. */
  readonly own?: OwnTool;
}

interface ReadTools {
  /** In the client's order; one that runs at a provider is native, for upstreams of the same dialect. */
  readonly tools: readonly Json[];
  /** By function name. */
  readonly names: ReadonlyMap<string, ToolName>;
  /** A pointer to each of the tools. */
  readonly places: ReadonlyMap<Json, string>;
}

/** The type of an item that brings tools into a conversation. */
export const ADDITIONAL_TOOLS = "additional_tools";

/** A tool of a namespace, as one function name. */
export function flatName(name: string, namespace?: unknown): string {
  return typeof namespace === "string" && namespace !== "" ? `${namespace}__${name}` : name;
}

/**
 * The tools of a request: those of `tools`, then those that items of type `additional_tools` bring into the conversation, as
 * Codex does for models that it knows (SDK openai responses.d.ts ResponseInputItem.AdditionalTools). The first of a name
 * stands.
 * @throws GatewayError naming the tool that cannot be read.
 */
export function readTools(body: Json): ReadTools {
  const names = new Map<string, ToolName>();
  const places = new Map<Json, string>();
  const placed = (tool: Json, pointer: string): Json => {
    places.set(tool, pointer);
    return tool;
  };
  const add = (tool: Json, pointer: string, namespace?: string): Json => {
    const name = nameOf(tool, pointer);
    const flat = flatName(name, namespace);
    const custom = tool["type"] === "custom";
    names.set(flat, { name, custom, ...(namespace !== undefined && { namespace }) });
    return placed({ type: "function", function: custom ? freeform(tool, flat) : typed(tool, flat, pointer) }, pointer);
  };
  const read = (tool: Json, pointer: string): readonly Json[] => {
    if (typeof tool["type"] !== "string") throw invalidRequest(`${pointer}/type`, "must be a string");
    if (tool["type"] === "function" || tool["type"] === "custom") return [add(tool, pointer)];
    const own = ownFunction(tool);
    if (own !== null && isOwnTool(tool["type"]) && !names.has(tool["type"])) {
      names.set(tool["type"], { name: tool["type"], custom: false, own: tool["type"] });
      return [placed({ type: "function", function: own }, pointer)];
    }
    if (tool["type"] !== "namespace") {
      return [placed({ type: "native", dialect: "responses", block: tool }, pointer)];
    }
    const namespace = nameOf(tool, pointer);
    return list(tool["tools"], `${pointer}/tools`).map((inner, place) =>
      add(withDescription(inner, tool["description"]), `${pointer}/tools/${place}`, namespace),
    );
  };
  const tools = list(body["tools"], "/tools").flatMap((tool, index) => read(tool, `/tools/${index}`));
  for (const { tool, pointer } of additionalTools(body["input"])) {
    const known = new Set(tools.map(functionOf));
    tools.push(...read(tool, pointer).filter((one) => functionOf(one) === null || !known.has(functionOf(one))));
  }
  return { tools, names, places };
}

/** The tools that items of a conversation bring along, with their places. */
function additionalTools(input: unknown): readonly { readonly tool: Json; readonly pointer: string }[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown, index) => {
    if (!isJson(item) || item["type"] !== ADDITIONAL_TOOLS) return [];
    const at = `/input/${index}/tools`;
    return list(item["tools"], at).map((tool, place) => ({ tool, pointer: `${at}/${place}` }));
  });
}

/** The loading and calling of tools by tools (`defer_loading`, `allowed_callers`, `output_schema`) says nothing here. */
/** What a namespace says of its tools is said of each. */
function withDescription(tool: Json, common: unknown): Json {
  if (typeof common !== "string" || common === "") return tool;
  const { description } = tool;
  return { ...tool, description: typeof description === "string" ? `${common}\n\n${description}` : common };
}

function typed(tool: Json, name: string, pointer: string): Json {
  const { description, parameters, strict } = tool;
  if (parameters !== undefined && parameters !== null && !isJson(parameters)) {
    throw invalidRequest(`${pointer}/parameters`, "must be an object");
  }
  return {
    name,
    ...(typeof description === "string" && { description }),
    ...(isJson(parameters) && { parameters }),
    ...(typeof strict === "boolean" && { strict }),
  };
}

/** A tool that takes free text, as a function of one text. */
function freeform({ description, format }: Json, name: string): Json {
  const texts = typeof description === "string" ? [description] : [];
  if (isJson(format) && format["type"] === "grammar") {
    const { syntax, definition } = format;
    const known = typeof syntax === "string" && typeof definition === "string";
    if (known) texts.push(`The input must match this ${syntax} grammar:\n${definition}`);
  }
  return {
    name,
    ...(texts.length > 0 && { description: texts.join("\n\n") }),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The tool's input: plain text, not JSON inside of it." } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

/** The free text in the arguments of a custom tool's call; of other arguments their text. */
export function freeformInput(args: string): string {
  try {
    const { input } = JSON.parse(args) as { readonly input?: unknown };
    return typeof input === "string" ? input : args;
  } catch {
    return args;
  }
}

/** How an answer shows the request's tools: what a function may leave out is there. */
export function writtenTools(value: unknown): readonly Json[] {
  return list(value, "/tools").map((tool) =>
    tool["type"] === "function"
      ? { ...tool, parameters: tool["parameters"] ?? null, strict: tool["strict"] ?? false }
      : tool,
  );
}

function nameOf({ name }: Json, pointer: string): string {
  if (typeof name !== "string" || name === "") throw invalidRequest(`${pointer}/name`, "must be a string, not empty");
  return name;
}

function list(value: unknown, pointer: string): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidRequest(pointer, "must be an array");
  return value.map((item: unknown, index) => {
    if (!isJson(item)) throw invalidRequest(`${pointer}/${index}`, "must be an object");
    return item;
  });
}

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
  const own = ownName(value, tools);
  if (type !== "function" && type !== "custom" && own === null) return { tools, native: true };
  const name = own ?? functionName(value, "/tool_choice");
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
  const names = new Set(tools.map(functionOf));
  const types = new Set(tools.map(typeOf));
  /** By name and by type, each once: who lists a type as often as there are tools means no more of them. */
  const [meantNames, meantTypes] = [new Set<unknown>(), new Set<unknown>()];
  for (const [index, tool] of (listed as readonly unknown[]).entries()) {
    const pointer = `/tool_choice/tools/${index}`;
    if (!isJson(tool)) throw invalidRequest(pointer, "must be an object");
    const { type } = tool;
    const name = type === "function" || type === "custom" ? functionName(tool, pointer) : ownName(tool, tools);
    const isKnown = name === null ? types.has(type) : names.has(name);
    if (!isKnown) throw invalidRequest(pointer, "must be one of the tools");
    if (name === null) meantTypes.add(type);
    else meantNames.add(name);
  }
  return withMode(
    mode,
    tools.filter((tool) => meantNames.has(functionOf(tool)) || meantTypes.has(typeOf(tool))),
  );
}

/** The name of the function that stands for a tool of the API's own; null for any other. */
function ownName({ type }: Json, tools: readonly Json[]): string | null {
  return isOwnTool(type) && tools.some((tool) => functionOf(tool) === type) ? type : null;
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
