import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import type { Part, ReasoningDetail, ToolCall } from "../../canonical/message.ts";
import type { MessageSource, Unreadable } from "../../canonical/parameters.ts";
import { readReasoningItem } from "../native.ts";
import { flatName } from "./tools.ts";
import { append } from "../../canonical/json.ts";

interface ReadInput {
  readonly messages: readonly SourcedTurn[];
  /** What provider-side tools did in earlier answers, nothing that another provider could read: pointers to them. */
  readonly records: readonly string[];
  /** Items without which the conversation is another one, and which no upstream of another format can read. */
  readonly own: readonly Unreadable[];
}

/** Items that tell of tools run at a provider; the answer that came of them stands beside them. */
const RECORDS: ReadonlySet<unknown> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
]);

const REFERENCE =
  "needs stored responses, which this gateway does not keep; send store: false and the items themselves";
const COMPACTION = "can only be read by the provider that made it; send the items it stands for";

/** Who may speak in an item. */
const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

/** @throws GatewayError naming the item that cannot be carried. */
export function readInput(input: unknown, instructions: unknown): ReadInput {
  const conversation = new Conversation();
  const records: string[] = [];
  const own: Unreadable[] = [];
  if (typeof instructions === "string" && instructions !== "")
    conversation.add("system", instructions, "/instructions", "/instructions");
  if (typeof input === "string") conversation.add("user", input, "/input", "/input");
  else if (!Array.isArray(input)) throw invalidRequest("/input", "must be a string or an array");
  else {
    for (const [index, item] of input.entries()) {
      const pointer = `/input/${index}`;
      if (!isJson(item)) throw invalidRequest(pointer, "must be an object");
      if (RECORDS.has(item["type"])) records.push(pointer);
      else if (!readItem(item, pointer, conversation)) own.push(kept(item, pointer, conversation));
    }
  }
  const messages = conversation.messages();
  if (messages.length === 0) throw invalidRequest("/input", "must hold a message");
  return { messages, records, own };
}

/** @returns false for an item without a canonical form. */
function readItem(item: Json, pointer: string, conversation: Conversation): boolean {
  switch (item["type"]) {
    case undefined:
    case null:
    case "message":
      readMessage(item, pointer, conversation);
      return true;
    case "reasoning":
      conversation.reason(item, pointer);
      return true;
    case "function_call":
    case "custom_tool_call":
      conversation.call(item, pointer);
      return true;
    case "function_call_output":
    case "custom_tool_call_output":
      conversation.output(item, pointer);
      return true;
    default:
      return false;
  }
}

function kept(item: Json, pointer: string, conversation: Conversation): Unreadable {
  const { type } = item;
  const at = `${pointer}/type`;
  if (typeof type !== "string") throw invalidRequest(at, "must be a string; leave the item out");
  if (type === "item_reference") throw invalidRequest(at, REFERENCE);
  conversation.keep(item, pointer);
  const foreign = `${type.slice(0, 64)} cannot be carried to other providers; leave the item out`;
  return { at, what: type === "compaction" ? COMPACTION : foreign };
}

function readMessage(item: Json, pointer: string, conversation: Conversation): void {
  const { role, content } = item;
  if (!ROLES.has(role)) {
    throw invalidRequest(`${pointer}/role`, 'must be one of "user", "assistant", "system", "developer"');
  }
  if (role === "assistant") conversation.answer(content, pointer);
  else conversation.add(String(role), content, pointer);
}

/** What the assistant did in one go, and what its tools answered. */
interface Turn {
  readonly parts: Part[];
  readonly reasoning: string[];
  readonly details: ReasoningDetail[];
  readonly calls: ToolCall[];
  readonly outputs: SourcedTurn[];
  refusal: string;
  /** Pointer to its first item. */
  readonly at: string;
  readonly items: number[];
  readonly places: { readonly content: string[]; readonly reasoning_details: string[]; readonly tool_calls: string[] };
}

/** A canonical message, and where in the client's body it was. */
interface SourcedTurn {
  readonly message: Json;
  readonly place: MessageSource;
  /** Places in the input of the items that it was read from. */
  readonly items: readonly number[];
}

/**
 * Folds items into messages: what an assistant thinks, says and calls is one message, and outputs stand right behind the
 * calls they answer, where chat formats demand them, wherever the items stood.
 */
class Conversation {
  readonly #turns: (() => readonly SourcedTurn[])[] = [];
  readonly #calledIn = new Map<string, Turn>();
  #open: Turn | null = null;

  /** @param at pointer to the item. */
  add(role: string, content: unknown, at: string, pointer = `${at}/content`): void {
    const { parts, places } = readContent(content, pointer);
    this.#add({ role, content: folded(parts) }, at, places);
  }

  /** An item that only an upstream of the same format can read: a message of its own. */
  keep(item: Json, at: string): void {
    const role = /_(?:output|response)$/.test(String(item["type"])) ? "user" : "assistant";
    this.#add({ role, content: [{ type: "native", dialect: "responses", block: item }] }, at, [at]);
  }

  answer(content: unknown, at: string): void {
    const { parts, places, refusal } = readContent(content, `${at}/content`);
    const turn = this.#assistant(at);
    turn.items.push(...itemAt(at));
    append(turn.parts, parts);
    append(turn.places.content, places);
    turn.refusal += refusal;
  }

  reason(item: Json, pointer: string): void {
    const { text, details, places } = readReasoningItem(item, pointer);
    // Thoughts after words belong before the next ones: providers check the order of what they signed.
    if (this.#open !== null && this.#open.parts.length > 0 && this.#open.calls.length === 0) this.#open = null;
    const turn = this.#assistant(pointer);
    turn.items.push(...itemAt(pointer));
    if (text !== "") turn.reasoning.push(text);
    append(turn.details, details);
    append(turn.places.reasoning_details, places);
  }

  call(item: Json, pointer: string): void {
    const id = string(item, "call_id", pointer);
    const name = flatName(string(item, "name", pointer), item["namespace"]);
    const custom = item["type"] === "custom_tool_call";
    const args = custom
      ? JSON.stringify({ input: string(item, "input", pointer) })
      : string(item, "arguments", pointer);
    const turn = this.#assistant(pointer);
    turn.calls.push({ id, type: "function", function: { name, arguments: args } });
    turn.places.tool_calls.push(pointer);
    turn.items.push(...itemAt(pointer));
    this.#calledIn.set(id, turn);
  }

  output(item: Json, pointer: string): void {
    const id = string(item, "call_id", pointer);
    const { parts, places } = readContent(item["output"], `${pointer}/output`);
    const turn = this.#calledIn.get(id);
    if (turn === undefined) throw invalidRequest(`${pointer}/call_id`, "must be that of a call before it");
    turn.outputs.push({
      message: { role: "tool", tool_call_id: id, content: folded(parts) },
      place: { at: pointer, lists: { content: places } },
      items: itemAt(pointer),
    });
    this.#open = null;
  }

  messages(): readonly SourcedTurn[] {
    return this.#turns.flatMap((messages) => messages());
  }

  #add(message: Json, at: string, places: readonly string[]): void {
    this.#open = null;
    const turn = { message, place: { at, lists: { content: places } }, items: itemAt(at) };
    this.#turns.push(() => [turn]);
  }

  /** The one that is being read, or a new one that begins at `at`. */
  #assistant(at: string): Turn {
    if (this.#open !== null) return this.#open;
    const places = { content: [], reasoning_details: [], tool_calls: [] };
    const lists = { parts: [], reasoning: [], details: [], calls: [], outputs: [], items: [] };
    const turn: Turn = { ...lists, refusal: "", at, places };
    const place = { at, lists: places };
    this.#turns.push(() => [{ message: message(turn), place, items: turn.items }, ...turn.outputs]);
    return (this.#open = turn);
  }
}

/** The place of an item in the input; none for what is no list there. */
function itemAt(pointer: string): readonly number[] {
  const [, place] = /^\/input\/(\d+)$/.exec(pointer) ?? [];
  return place === undefined ? [] : [Number(place)];
}

function message({ parts, reasoning, details, calls, refusal }: Turn): Json {
  return {
    role: "assistant",
    content: parts.length === 0 && calls.length > 0 ? null : folded(parts),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n\n") }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(refusal !== "" && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function string(item: Json, key: string, pointer: string): string {
  const value = item[key];
  if (typeof value !== "string") throw invalidRequest(`${pointer}/${key}`, "must be a string");
  return value;
}

type Content = string | readonly Part[];

/** The content of a message or tool output. */
interface ReadContent {
  readonly parts: readonly Part[];
  /** A pointer to each part. */
  readonly places: readonly string[];
  /** What an assistant refused, which stands apart. */
  readonly refusal: string;
}

/** The canonical content: a single text without a cache mark is a string, which every upstream takes. */
function folded(parts: readonly Part[]): Content {
  const [only] = parts;
  if (only === undefined) return "";
  return parts.length === 1 && only.type === "text" && only.cache_control === undefined ? only.text : parts;
}

/** @throws GatewayError for content that is none. */
function readContent(content: unknown, pointer: string): ReadContent {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }], places: [pointer], refusal: "" };
  if (!Array.isArray(content)) throw invalidRequest(pointer, "must be a string or an array");
  let refusal = "";
  const parts: Part[] = [];
  const places: string[] = [];
  for (const [index, part] of content.entries()) {
    const at = `${pointer}/${index}`;
    if (!isJson(part)) throw invalidRequest(at, "must be an object");
    if (part["type"] === "refusal") refusal += text(part, "refusal", at);
    else {
      parts.push(readPart(part, at));
      places.push(at);
    }
  }
  return { parts, places, refusal };
}

const READERS: ReadonlyMap<unknown, (part: Json, pointer: string) => Part> = new Map([
  ["input_text", readText],
  ["output_text", readText],
  ["text", readText],
  ["input_image", readImage],
  ["input_file", readFile],
  ["input_audio", readAudio],
]);

function readPart(part: Json, pointer: string): Part {
  const read = READERS.get(part["type"]);
  if (read === undefined) {
    throw invalidRequest(`${pointer}/type`, "must be input_text, input_image, input_file, output_text or refusal");
  }
  const canonical = read(part, pointer);
  // The breakpoint ends a prefix to cache, as Anthropic's mark does.
  if (!isJson(part["prompt_cache_breakpoint"]) || canonical.type === "input_audio" || canonical.type === "native") {
    return canonical;
  }
  return { ...canonical, cache_control: { type: "ephemeral" } };
}

function readText(part: Json, pointer: string): Part {
  return { type: "text", text: text(part, "text", pointer) };
}

function readImage(part: Json, pointer: string): Part {
  const { image_url, file_id, detail } = part;
  if (typeof image_url !== "string") {
    if (typeof file_id === "string") throw invalidRequest(`${pointer}/file_id`, "needs stored files; send image_url");
    throw invalidRequest(`${pointer}/image_url`, "must be a string");
  }
  return { type: "image_url", image_url: { url: image_url, ...(typeof detail === "string" && { detail }) } };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
};

function readFile(part: Json, pointer: string): Part {
  const { filename, file_data, file_url, file_id } = part;
  if (![file_data, file_url, file_id].some((source) => typeof source === "string")) {
    throw invalidRequest(`${pointer}/file_data`, "must be a string, unless there is a file_url or file_id");
  }
  return {
    type: "file",
    file: {
      ...(typeof file_data === "string" && { file_data: dataUrl(file_data, filename) }),
      ...(typeof file_url === "string" && { file_url }),
      ...(typeof file_id === "string" && { file_id }),
      ...(typeof filename === "string" && { filename }),
    },
  };
}

/** Clients send a `data:` URL or its base64 alone. */
function dataUrl(data: string, filename: unknown): string {
  if (data.startsWith("data:")) return data;
  const [, extension = ""] = /\.([a-z]+)$/i.exec(typeof filename === "string" ? filename : "") ?? [];
  const name = extension.toLowerCase();
  const type = Object.hasOwn(MEDIA_TYPES, name) ? MEDIA_TYPES[name] : "application/octet-stream";
  return `data:${type};base64,${data}`;
}

function readAudio(part: Json, pointer: string): Part {
  const { input_audio: audio } = part;
  if (!isJson(audio)) throw invalidRequest(`${pointer}/input_audio`, "must be an object");
  const at = `${pointer}/input_audio`;
  return { type: "input_audio", input_audio: { data: text(audio, "data", at), format: text(audio, "format", at) } };
}

function text(part: Json, key: string, pointer: string): string {
  const value = part[key];
  if (typeof value !== "string") throw invalidRequest(`${pointer}/${key}`, "must be a string");
  return value;
}
