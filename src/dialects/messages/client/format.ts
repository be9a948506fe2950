import {
  type AnswerExtras,
  type AnswerFormat,
  type Call,
  GatewayError,
  isJson,
  type Json,
  type Medium,
  type StreamFormat,
} from "../../../kit/index.ts";
import { given, guardDepth, list, objects, omit, pick, stringOf } from "../../canonical/json.ts";
import { inOrder, webCitations } from "../../canonical/message.ts";
import { sameIn, type SourceMappedCall } from "../../canonical/parameters.ts";
import { argumentsObject } from "../../canonical/tools.ts";
import { readUsage } from "../../canonical/usage.ts";
import { chatFormat, readChat } from "../../chat/client.ts";
import { leftover, nativeBlock, nativeFields, sealedData } from "../native.ts";
import { messagesUsage, stopOf } from "./events.ts";
import { messageId, MessagesStream } from "./stream.ts";
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
  "output_format",
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
  const { metadata, service_tier } = body;
  const tools = readTools(body["tools"], body["tool_choice"]);
  const user = readUser(metadata);
  const output = readOutput(outputOf(body));
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
function countable(body: Json): Json {
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

/** `output_config`, with what `output_format` was before it (@anthropic-ai/sdk, beta messages, deprecated). */
function outputOf({ output_config: config, output_format: format }: Json): unknown {
  if (!isJson(format) || (isJson(config) && isJson(config["format"]))) return config;
  return { ...(isJson(config) ? config : {}), format };
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

/** What a count_tokens body that its schema has accepted asks to count: a text for a tokenizer, and what is no text. */
export function readCountTokens(body: Json): {
  readonly model: string;
  readonly text: string;
  readonly media: readonly Medium[];
} {
  const call = readMessages(body);
  const { model, media = [] } = call;
  return { model, text: chatFormat({ ...call, body: countable(call.body) }).promptText(), media };
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
  const listed = (custom: boolean): Listed =>
    [...objects(tools).entries()].filter(([, tool]) => isCustom(tool) === custom);
  const [functions, servers] = [listed(true), listed(false)];
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

/** Answers to a Messages client: `model` is the route. */
export function messagesFormat(call: Call): AnswerFormat & { readonly stream: StreamFormat } {
  const chat = chatFormat({ ...call, body: countable(call.body) });
  return {
    contentType: "application/json",
    answer: (body, extras) => write(message(call.model, body, extras)),
    promptText: () => chat.promptText(),
    producedText: (body) => chat.producedText(body),
    stream: new MessagesStream(call.model),
  };
}

function message(model: string, body: Json, extras: AnswerExtras): Json {
  const [choice = {}] = objects(body["choices"]);
  const message = isJson(choice["message"]) ? choice["message"] : {};
  const native = nativeOf(body);
  const content = writeBlocks(message);
  const called = content.some(({ type }) => type === "tool_use");
  const refused = typeof message["refusal"] === "string" && message["refusal"] !== "";
  return {
    ...native,
    id: messageId(body["id"], extras.id),
    type: "message",
    role: "assistant",
    model,
    content,
    ...stopOf(choice, { called, refused, isNative: native !== null }),
    usage: messagesUsage(readUsage(body) ?? extras.bill.usage, isJson(native?.["usage"]) ? native["usage"] : {}),
  };
}

/** What a Messages upstream said beside the canonical fields; null for any other upstream's answer. */
function nativeOf({ native }: Json): Json | null {
  return isJson(native) && native["dialect"] === "messages" && isJson(native["message"]) ? native["message"] : null;
}

function write(answer: Json): string {
  return guardDepth(
    () => JSON.stringify(answer),
    () => new GatewayError("PROVIDER_ERROR", "upstream sent a value nested too deeply"),
  );
}

/** The content blocks of a canonical answer, in their order. */
function writeBlocks(message: Json): readonly Json[] {
  const lists = {
    reasoning: writeReasoning(message),
    content: writeContent(message),
    tool_call: objects(message["tool_calls"]).map(writeCall),
  };
  const order = list(message["block_order"]).filter(
    (place) => typeof place === "string" && Object.hasOwn(lists, place),
  );
  return inOrder(lists, order);
}

/** Details bring what must go back unchanged; a provider without them gives the text alone. */
function writeReasoning({ reasoning_details, reasoning_content }: Json): Json[] {
  const blocks = objects(reasoning_details).map(writeDetail);
  const whole = stringOf(reasoning_content);
  if (whole === "" || blocks.some((block) => stringOf(block["thinking"]) !== "")) return blocks;
  const signed = blocks.findIndex(({ type }) => type === "thinking");
  if (signed < 0) return [thinking(whole, ""), ...blocks];
  return blocks.map((block, index) => (index === signed ? { ...block, thinking: whole } : block));
}

function writeDetail(detail: Json): Json {
  const { type, summary, signature } = detail;
  const fields = nativeFields(detail, true);
  if (type === "reasoning.encrypted") return { ...fields, type: "redacted_thinking", data: sealedData(detail) };
  return { ...fields, ...thinking(stringOf(detail["text"]) + stringOf(summary), stringOf(signature)) };
}

function thinking(thought: string, signature: string): Json {
  return { type: "thinking", thinking: thought, signature };
}

function writeContent({ content, refusal, annotations }: Json): Json[] {
  const blocks = typeof content === "string" ? textBlocks(content) : objects(content).map(writePart);
  return [
    ...cited(
      blocks.filter((block) => block !== null),
      annotations,
    ),
    ...textBlocks(stringOf(refusal)),
  ];
}

/** The pages that an answer names, with its last text. */
function cited(blocks: Json[], annotations: unknown): Json[] {
  const citations = webCitations(list(annotations));
  const last = blocks.findLastIndex(({ type }) => type === "text");
  return citations.length === 0 ? blocks : blocks.map((block, at) => (at === last ? { ...block, citations } : block));
}

function textBlocks(text: string): Json[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** null for a part that Messages has no block for. */
function writePart(part: Json): Json | null {
  if (part["type"] === "native") return nativeBlock(part);
  if (typeof part["text"] !== "string") return null;
  return { ...nativeFields(part, true), type: "text", text: part["text"] };
}

function writeCall(call: Json): Json {
  const { id, function: called } = call;
  const { name, arguments: args } = isJson(called) ? called : {};
  return {
    ...nativeFields(call, true),
    type: "tool_use",
    id: stringOf(id),
    name: stringOf(name),
    input: argumentsObject(args),
  };
}
