import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import type { Part, ReasoningDetail, ToolCall } from "../../canonical/message.ts";
import type { MessageSource, Unreadable } from "../../canonical/parameters.ts";
import { readReasoningItem } from "../native.ts";
import { folded, readContent } from "./content.ts";
import { ownCall, ownOutput } from "./own-tools.ts";
import { ADDITIONAL_TOOLS, flatName } from "./tools.ts";
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
      else if (item["type"] === ADDITIONAL_TOOLS) conversation.precede(pointer);
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
      return readOwn(item, pointer, conversation);
  }
}

/** Calls of the API's own tools that run at the client, and their outputs. */
function readOwn(item: Json, pointer: string, conversation: Conversation): boolean {
  const call = ownCall(item);
  if (call !== null) conversation.called(call, pointer, item["id"]);
  const output = ownOutput(item);
  return call !== null || (output !== null && conversation.answered(output.id, output.text, pointer));
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

interface Called {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
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
  /** By the ids that outputs answer them by. */
  readonly #calls = new Map<string, { readonly id: string; readonly turn: Turn }>();
  #open: Turn | null = null;
  /** Places of items that have no message of their own and go with the next one. */
  #preceding: readonly number[] = [];

  /** @param at pointer to the item. */
  add(role: string, content: unknown, at: string, pointer = `${at}/content`): void {
    const { parts, places } = readContent(content, pointer);
    this.#add({ role, content: folded(parts) }, at, places);
  }

  /** An item that is read elsewhere: it belongs to the message that follows it. */
  precede(at: string): void {
    this.#open = null;
    this.#preceding = [...this.#preceding, ...itemAt(at)];
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
    this.called({ id, name, arguments: args }, pointer);
  }

  /** @param itemId by which an output may answer it too. */
  called({ id, ...called }: Called, pointer: string, itemId?: unknown): void {
    const turn = this.#assistant(pointer);
    turn.calls.push({ id, type: "function", function: called });
    turn.places.tool_calls.push(pointer);
    turn.items.push(...itemAt(pointer));
    this.#calls.set(id, { id, turn });
    if (typeof itemId === "string" && !this.#calls.has(itemId)) this.#calls.set(itemId, { id, turn });
  }

  output(item: Json, pointer: string): void {
    const id = string(item, "call_id", pointer);
    if (this.answered(id, item["output"], pointer)) return;
    throw invalidRequest(`${pointer}/call_id`, "must be that of a call before it");
  }

  /** @returns false where no call has the id. */
  answered(answers: string, output: unknown, pointer: string): boolean {
    const { parts, places } = readContent(output, `${pointer}/output`);
    const call = this.#calls.get(answers);
    if (call === undefined) return false;
    call.turn.outputs.push({
      message: { role: "tool", tool_call_id: call.id, content: folded(parts) },
      place: { at: pointer, lists: { content: places } },
      items: itemAt(pointer),
    });
    this.#open = null;
    return true;
  }

  messages(): readonly SourcedTurn[] {
    return this.#turns.flatMap((messages) => messages());
  }

  #add(message: Json, at: string, places: readonly string[]): void {
    this.#open = null;
    const turn = { message, place: { at, lists: { content: places } }, items: [...this.#taken(), ...itemAt(at)] };
    this.#turns.push(() => [turn]);
  }

  #taken(): readonly number[] {
    const preceding = this.#preceding;
    this.#preceding = [];
    return preceding;
  }

  /** The one that is being read, or a new one that begins at `at`. */
  #assistant(at: string): Turn {
    if (this.#open !== null) return this.#open;
    const places = { content: [], reasoning_details: [], tool_calls: [] };
    const lists = { parts: [], reasoning: [], details: [], calls: [], outputs: [], items: [...this.#taken()] };
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
