import { invalidRequest, type Json } from "../../../kit/index.ts";
import type { Part, ReasoningDetail, ToolCall } from "../../canonical.ts";
import { folded, readAnswer, readContent } from "./content.ts";
import { readReasoning } from "./reasoning.ts";
import { flatName } from "./tools.ts";

/** What the assistant did in one go, and what its tools answered. */
interface Turn {
  readonly parts: Part[];
  readonly reasoning: string[];
  readonly details: ReasoningDetail[];
  readonly calls: ToolCall[];
  readonly outputs: Json[];
  refusal: string;
}

/**
 * Folds items into messages: what an assistant thinks, says and calls is one message, and outputs stand right behind the
 * calls they answer, where chat formats demand them, wherever the items stood.
 */
export class Conversation {
  readonly #turns: (() => readonly Json[])[] = [];
  readonly #calledIn = new Map<string, Turn>();
  #open: Turn | null = null;

  say(role: string, content: unknown, pointer: string): void {
    this.#open = null;
    const said = { role, content: readContent(content, pointer) };
    this.#turns.push(() => [said]);
  }

  answer(content: unknown, pointer: string): void {
    const { parts, refusal } = readAnswer(content, pointer);
    const turn = this.#assistant();
    turn.parts.push(...parts);
    turn.refusal += refusal;
  }

  reason(item: Json, pointer: string): void {
    const { text, details } = readReasoning(item, pointer);
    // Thoughts after words belong before the next ones: providers check the order of what they signed.
    if (this.#open !== null && this.#open.parts.length > 0 && this.#open.calls.length === 0) this.#open = null;
    const turn = this.#assistant();
    if (text !== "") turn.reasoning.push(text);
    turn.details.push(...details);
  }

  call(item: Json, pointer: string): void {
    const id = string(item, "call_id", pointer);
    const name = flatName(string(item, "name", pointer), item["namespace"]);
    const custom = item["type"] === "custom_tool_call";
    const args = custom
      ? JSON.stringify({ input: string(item, "input", pointer) })
      : string(item, "arguments", pointer);
    const turn = this.#assistant();
    turn.calls.push({ id, type: "function", function: { name, arguments: args } });
    this.#calledIn.set(id, turn);
  }

  output(item: Json, pointer: string): void {
    const id = string(item, "call_id", pointer);
    const content = readContent(item["output"], `${pointer}/output`);
    const turn = this.#calledIn.get(id);
    if (turn === undefined) throw invalidRequest(`${pointer}/call_id`, "must be that of a call before it");
    turn.outputs.push({ role: "tool", tool_call_id: id, content });
    this.#open = null;
  }

  messages(): readonly Json[] {
    return this.#turns.flatMap((messages) => messages());
  }

  #assistant(): Turn {
    if (this.#open !== null) return this.#open;
    const turn: Turn = { parts: [], reasoning: [], details: [], calls: [], outputs: [], refusal: "" };
    this.#turns.push(() => [message(turn), ...turn.outputs]);
    return (this.#open = turn);
  }
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
