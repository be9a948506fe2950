import type { Json, StreamEvent, Usage } from "../kit/index.ts";
import { writtenUsage } from "./usage.ts";

/** Writes the pieces of one answer as canonical chunks: the role comes with the first, tool calls are numbered from 0. */
export class ChunkWriter {
  /** What every chunk begins with. */
  #head: Json = { object: "chat.completion.chunk" };
  #begun = false;
  #calls = 0;

  /** Whether a tool call was written. */
  get called(): boolean {
    return this.#calls > 0;
  }

  /** The answer's id, and what else all chunks say; for chunks yet to be written. */
  identify(id: unknown, more: Json = {}): void {
    this.#head = { ...(typeof id === "string" && id !== "" && { id }), ...this.#head, ...more };
  }

  text(content: string): StreamEvent {
    return this.#delta({ content }, content);
  }

  /** @param index of the detail that the piece belongs to. */
  reasoning(index: number, text: string): StreamEvent {
    return this.#delta({ reasoning_content: text, reasoning_details: [{ type: "reasoning.text", index, text }] }, text);
  }

  signature(index: number, signature: string): StreamEvent {
    return this.#delta({ reasoning_details: [{ type: "reasoning.text", index, signature }] });
  }

  encrypted(index: number, data: string): StreamEvent {
    return this.#delta({ reasoning_details: [{ type: "reasoning.encrypted", index, data }] });
  }

  /**
   * Begins a tool call; what is written of it belongs to the returned index.
   * @param beside further fields of the delta.
   */
  call(id: string, name: string, beside: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "function", function: { name, arguments: "" } }, name, beside);
  }

  /** The same of a tool that takes free text, written by `callInput`. */
  customCall(id: string, name: string): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "custom", custom: { name, input: "" } }, name);
  }

  callArguments(index: number, text: string): StreamEvent {
    return this.#delta({ tool_calls: [{ index, function: { arguments: text } }] }, text);
  }

  callInput(index: number, text: string): StreamEvent {
    return this.#delta({ tool_calls: [{ index, custom: { input: text } }] }, text);
  }

  /** A delta of any other kind. @param beside further fields of its choice. */
  piece(delta: Json, text = "", beside: Json = {}): StreamEvent {
    return this.#choice(delta, { finish_reason: null, ...beside }, text);
  }

  annotations(annotations: readonly Json[]): StreamEvent {
    return this.#delta({ annotations });
  }

  /** The last chunk of the choice. @param finish its `finish_reason` and what belongs to it. */
  finish(finish: object): StreamEvent {
    return this.#choice({}, finish);
  }

  usage(usage: Usage): StreamEvent {
    return { data: { ...this.#head, choices: [], usage: writtenUsage(usage) }, text: "", usage };
  }

  #call(call: Json, name: string, beside: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    const index = this.#calls;
    this.#calls += 1;
    return { index, event: this.#delta({ tool_calls: [{ index, ...call }], ...beside }, name) };
  }

  #delta(delta: Json, text = ""): StreamEvent {
    return this.#choice(delta, { finish_reason: null }, text);
  }

  #choice(delta: Json, finish: object, text = ""): StreamEvent {
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    return { data: { ...this.#head, choices: [{ index: 0, delta: { ...role, ...delta }, ...finish }] }, text };
  }
}
