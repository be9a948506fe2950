import { isJson, type Json } from "../../../kit/index.ts";
import { given, objects, omit, pick } from "../../canonical/json.ts";
import { sameIn } from "../../canonical/parameters.ts";
import type { SourceMappedCall } from "../../canonical/source-map.ts";
import { chatFormat, readChat } from "../../chat/client.ts";
import { leftover } from "../native.ts";
import { readSystem, readTurns } from "./turns.ts";

/** Fields with the same name and meaning in the canonical body. */
const SAME = sameIn("messages");
const RENAMED = { stop_sequences: "stop" };
const READ: ReadonlySet<string> = new Set([
  ...SAME,
  ...Object.keys(RENAMED),
  "system",
  "messages",
  "tools",
  "tool_choice",
  "metadata",
  "output_config",
  "service_tier",
]);
const REPEATED: ReadonlySet<string> = new Set(["reasoning_details", "native"]);
const FORWARDED = ["anthropic-version", "anthropic-beta"];

/**
 * The canonical call of a Messages body that its schema has accepted. What has no canonical place is in `native`: fields
 * of the body in `Call.native`, of a message, part, tool or tool call as `../native.ts` says.
 * @param headers of the request, names in lower case.
 * @throws GatewayError for a tool input that cannot be written.
 */
export function readMessages(body: Json, headers: Readonly<Record<string, unknown>> = {}): SourceMappedCall {
  const { metadata, output_config, service_tier } = body;
  const tools = readTools(body["tools"], body["tool_choice"]);
  const user = readUser(metadata);
  const output = readOutput(output_config);
  const tier = service_tier === "auto";
  const sourced = [...readSystem(body["system"]), ...readTurns(body["messages"])];
  const canonical = {
    ...pick(body, SAME, RENAMED),
    messages: sourced.map(({ message }) => message),
    ...tools.body,
    ...user.body,
    ...output.body,
    ...(tier ? { service_tier } : {}),
  };
  const native = {
    ...omit(body, READ),
    ...tools.native,
    ...user.native,
    ...output.native,
    ...(tier ? {} : given("service_tier", service_tier)),
  };
  const forwarded = pick(headers, FORWARDED) as Readonly<Record<string, string>>;
  return {
    ...readChat(countable(canonical)),
    body: canonical,
    dialect: "messages",
    sourceMap: {
      messages: sourced.map(({ place }) => place),
      tools: tools.places.functions,
      records: tools.places.servers,
    },
    ...(Object.keys(native).length === 0 ? {} : { native }),
    ...(Object.keys(forwarded).length === 0 ? {} : { headers: forwarded }),
  };
}

/** The body with every thought in it once: `reasoning_details` repeats `reasoning_content` and brings its signatures. */
export function countable(body: Json): Json {
  return { ...body, messages: objects(body["messages"]).map((message) => omit(message, REPEATED)) };
}

interface Split {
  readonly body: Json;
  readonly native: Json;
}

function readUser(metadata: unknown): Split {
  if (!isJson(metadata)) return { body: {}, native: {} };
  const { user_id, ...rest } = metadata;
  return { body: given("user", user_id), native: some("metadata", rest) };
}

function readOutput(config: unknown): Split {
  if (!isJson(config)) return { body: {}, native: {} };
  const { effort, format, ...rest } = config;
  const schema = isJson(format) && format["type"] === "json_schema" ? format["schema"] : undefined;
  const known = isJson(schema) && isJson(format) && Object.keys(format).length === 2;
  const response = known ? { type: "json_schema", json_schema: { name: "response", schema } } : null;
  return {
    body: { ...given("reasoning_effort", effort), ...given("response_format", response) },
    native: some("output_config", { ...rest, ...(known ? {} : given("format", format)) }),
  };
}

function some(name: string, fields: Json): Json {
  return Object.keys(fields).length === 0 ? {} : { [name]: fields };
}

/** What a count_tokens body that its schema has accepted asks to count, as text for a tokenizer. */
export function readCountTokens(body: Json): { readonly model: string; readonly text: string } {
  const call = readMessages(body);
  return { model: call.model, text: chatFormat({ ...call, body: countable(call.body) }).promptText() };
}

interface ReadTools {
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
function readTools(tools: unknown, choice: unknown): ReadTools {
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
