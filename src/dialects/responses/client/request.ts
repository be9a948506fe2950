import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { pick } from "../../canonical/json.ts";
import { sameIn } from "../../canonical/parameters.ts";
import { readChat } from "../../chat/client.ts";
import type { ResponsesCall } from "../native.ts";
import { readInput } from "./input.ts";
import { type Choice, readChoice, readTools } from "./tools.ts";

const STORED = "needs stored responses, which this gateway does not keep; send the whole input";
const REFUSED: Readonly<Record<string, string>> = {
  previous_response_id: STORED,
  conversation: STORED,
  background: STORED,
  prompt: "needs stored prompts, which this gateway does not keep; send instructions and input",
};

/** Called the same in chat completions. */
const SAME = sameIn("responses");

/** Read below, or about the answer alone: `metadata` is repeated in it, `stream_options` pads its events. */
const READ: ReadonlySet<string> = new Set([
  ...SAME,
  ...Object.keys(REFUSED),
  "model",
  "stream",
  "stream_options",
  "metadata",
  "input",
  "instructions",
  "max_output_tokens",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "include",
  "top_logprobs",
  "store",
  "truncation",
]);

/** Reasoning comes back sealed and log probabilities come as they are: these includes are kept. */
const KEPT_INCLUDES: ReadonlySet<unknown> = new Set(["reasoning.encrypted_content", "message.output_text.logprobs"]);

/**
 * The canonical call of a Responses body that its schema has accepted.
 * @throws GatewayError for what needs stored responses, and for items that cannot be carried.
 */
export function readResponses(body: Json): ResponsesCall {
  for (const [name, what] of Object.entries(REFUSED)) {
    const value = body[name];
    if (value !== undefined && value !== null && value !== false) throw invalidRequest(`/${name}`, what);
  }
  const native: Record<string, unknown> = pick(
    body,
    Object.keys(body).filter((name) => !READ.has(name)),
  );
  // Nothing is stored and nothing is truncated: kept here, a request for either is reported as dropped.
  if (body["store"] === true) native["store"] = true;
  if (body["truncation"] === "auto") native["truncation"] = "auto";

  const { messages, records, own } = readInput(body["input"], body["instructions"]);
  const tools = readTools(body);
  const chosen = readChoice(body["tool_choice"], tools.tools);
  if (chosen.native) native["tool_choice"] = body["tool_choice"];
  const canonical = {
    model: body["model"],
    messages: messages.map(({ message }) => message),
    ...pick(body, SAME, { max_output_tokens: "max_completion_tokens" }),
    ...toolsOf(body, chosen),
    ...text(body, native),
    ...reasoning(body, native),
    ...logprobs(body, native),
    ...(body["stream"] === true && { stream: true }),
  };
  return {
    ...readChat(canonical),
    dialect: "responses",
    sourceMap: {
      messages: messages.map(({ place }) => place),
      tools: chosen.tools.map((tool) => tools.places.get(tool) ?? "/tools"),
      records,
      ...(own.length > 0 && { own }),
    },
    ...(Object.keys(native).length > 0 && { native }),
    request: body,
    canonical,
    sources: messages.map(({ items }) => items),
  };
}

function toolsOf(body: Json, chosen: Choice): Json {
  // Upstreams refuse how to call tools where there are none.
  const callable = chosen.tools.some((tool) => tool["type"] === "function");
  return {
    ...(chosen.tools.length > 0 && { tools: chosen.tools }),
    ...(chosen.choice !== undefined && { tool_choice: chosen.choice }),
    ...(callable && pick(body, ["parallel_tool_calls"])),
  };
}

function text(body: Json, native: Record<string, unknown>): Json {
  const { format, verbosity, ...rest } = object(body, "text");
  keep(native, "text", rest);
  return {
    ...(typeof verbosity === "string" && { verbosity }),
    ...(isJson(format) && format["type"] !== "text" && { response_format: responseFormat(format) }),
  };
}

function responseFormat(format: Json): Json {
  const { type, ...schema } = format;
  if (type === "json_object") return { type };
  if (type !== "json_schema") {
    throw invalidRequest("/text/format/type", 'must be one of "text", "json_schema", "json_object"');
  }
  if (typeof schema["name"] !== "string") throw invalidRequest("/text/format/name", "must be a string");
  if (!isJson(schema["schema"])) throw invalidRequest("/text/format/schema", "must be an object");
  return { type, json_schema: schema };
}

/** Whether summaries are asked for is read when the answer is written. */
function reasoning(body: Json, native: Record<string, unknown>): Json {
  const { effort, summary: _summary, generate_summary: _generate, ...rest } = object(body, "reasoning");
  keep(native, "reasoning", rest);
  return typeof effort === "string" ? { reasoning_effort: effort } : {};
}

function logprobs(body: Json, native: Record<string, unknown>): Json {
  const { include, top_logprobs: top } = body;
  const asked: readonly unknown[] = Array.isArray(include) ? include : [];
  const others = asked.filter((one) => !KEPT_INCLUDES.has(one));
  if (others.length > 0) native["include"] = others;
  const many = typeof top === "number" && top > 0;
  if (!many && !asked.includes("message.output_text.logprobs")) return {};
  return { logprobs: true, ...(many && { top_logprobs: top }) };
}

function object(body: Json, name: string): Json {
  const value = body[name];
  return isJson(value) ? value : {};
}

function keep(native: Record<string, unknown>, name: string, fields: Json): void {
  const set = pick(fields, Object.keys(fields));
  if (Object.keys(set).length > 0) native[name] = set;
}
