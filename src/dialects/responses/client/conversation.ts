import { invalidRequest, type Json } from "../../../kit/index.ts";
import type { Part, ReasoningDetail, ToolCall } from "../../canonical/message.ts";
import type { MessageSource } from "../../canonical/source-map.ts";
import { folded, readContent } from "./content.ts";
import { readReasoning } from "./reasoning.ts";
import { flatName } from "./tools.ts";

/** What the assistant did in one go, and what its tools answered. */
interface Turn {
  readonly parts: Part[];
  readonly reasoning: string[];
  readonly details: ReasoningDetail[];
  readonly calls: ToolCall[];
  readonly outputs: Said[];
  refusal: string;
  /** Pointer to its first item. */
  readonly at: string;
  readonly items: number[];
  readonly places: { readonly content: string[]; readonly reasoning_details: string[]; readonly tool_calls: string[] };
}

/** A canonical message, and where in the client's body it was. */
export interface Said {
  readonly message: Json;
  readonly place: MessageSource;
  /** Places in the input of the items that it was read from. */
  readonly items: readonly number[];
}

/**
 * Folds items into messages: what an assistant thinks, says and calls is one message, and outputs stand right behind the
 * calls they answer, where chat formats demand them, wherever the items stood.
 */
export class Conversation {
  readonly #turns: (() => readonly Said[])[] = [];
  readonly #calledIn = new Map<string, Turn>();
  #open: Turn | null = null;

  /** @param at pointer to the item. */
  say(role: string, content: unknown, at: string, pointer = `${at}/content`): void {
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
    turn.parts.push(...parts);
    turn.places.content.push(...places);
    turn.refusal += refusal;
  }

  reason(item: Json, pointer: string): void {
    const { text, details, places } = readReasoning(item, pointer);
    // Thoughts after words belong before the next ones: providers check the order of what they signed.
    if (this.#open !== null && this.#open.parts.length > 0 && this.#open.calls.length === 0) this.#open = null;
    const turn = this.#assistant(pointer);
    turn.items.push(...itemAt(pointer));
    if (text !== "") turn.reasoning.push(text);
    turn.details.push(...details);
    turn.places.reasoning_details.push(...places);
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

  messages(): readonly Said[] {
    return this.#turns.flatMap((messages) => messages());
  }

  #add(message: Json, at: string, places: readonly string[]): void {
    this.#open = null;
    const said = { message, place: { at, lists: { content: places } }, items: itemAt(at) };
    this.#turns.push(() => [said]);
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
