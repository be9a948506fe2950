import { type AttemptError, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import type { StreamReader } from "../dialect.ts";
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
    return this.delta({ content }, content);
  }

  /** @param index of the detail that the piece belongs to. */
  reasoning(index: number, text: string): StreamEvent {
    return this.delta({ reasoning_content: text, reasoning_details: [{ type: "reasoning.text", index, text }] }, text);
  }

  signature(index: number, signature: string): StreamEvent {
    return this.delta({ reasoning_details: [{ type: "reasoning.text", index, signature }] });
  }

  encrypted(index: number, data: string): StreamEvent {
    return this.delta({ reasoning_details: [{ type: "reasoning.encrypted", index, data }] });
  }

  /**
   * Begins a tool call; what is written of it belongs to the returned index.
   * @param more further fields of the delta.
   */
  call(id: string, name: string, more: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "function", function: { name, arguments: "" } }, name, more);
  }

  /** The same of a tool that takes free text, written by `callInput`. */
  customCall(id: string, name: string): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "custom", custom: { name, input: "" } }, name);
  }

  callArguments(index: number, text: string): StreamEvent {
    return this.delta({ tool_calls: [{ index, function: { arguments: text } }] }, text);
  }

  callInput(index: number, text: string): StreamEvent {
    return this.delta({ tool_calls: [{ index, custom: { input: text } }] }, text);
  }

  /** A delta of any other kind. @param more further fields of its choice. */
  delta(delta: Json, text = "", more: Json = {}): StreamEvent {
    return this.#choice(delta, { finish_reason: null, ...more }, text);
  }

  annotations(annotations: readonly Json[]): StreamEvent {
    return this.delta({ annotations });
  }

  /** The last chunk of the choice. @param finish its `finish_reason` and what belongs to it. */
  finish(finish: object): StreamEvent {
    return this.#choice({}, finish);
  }

  usage(usage: Usage): StreamEvent {
    return { data: { ...this.#head, choices: [], usage: writtenUsage(usage) }, text: "", usage };
  }

  #call(call: Json, name: string, more: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    const index = this.#calls;
    this.#calls += 1;
    return { index, event: this.delta({ tool_calls: [{ index, ...call }], ...more }, name) };
  }

  #choice(delta: Json, finish: object, text = ""): StreamEvent {
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    return { data: { ...this.#head, choices: [{ index: 0, delta: { ...role, ...delta }, ...finish }] }, text };
  }
}

/** Everything in a delta or message that the model produced and that costs tokens. */
export function producedText(part: Json): string {
  let text = "";
  for (const key of ["content", "reasoning_content", "reasoning", "refusal"]) {
    const value = part[key];
    if (typeof value === "string") text += value;
  }
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) {
    for (const call of calls) if (isJson(call)) text += calledText(call);
  }
  return text;
}

/** The name and arguments of a call, or the input of a `custom` one. */
function calledText({ function: called, custom }: Json): string {
  const use = isJson(called) ? called : isJson(custom) ? custom : {};
  let text = "";
  for (const value of [use["name"], use["arguments"], use["input"]]) if (typeof value === "string") text += value;
  return text;
}

/** Reads a stream by another reader and rewrites its chunks. */
export abstract class RewritingReader implements StreamReader {
  readonly #inner: StreamReader;

  constructor(inner: StreamReader) {
    this.#inner = inner;
  }

  get fault(): AttemptError | null {
    return this.#inner.fault;
  }

  get done(): boolean {
    return this.#inner.done;
  }

  get complete(): boolean {
    return this.#inner.complete;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    return this.#rewritten(this.#inner.feed(chunk));
  }

  finish(): readonly StreamEvent[] {
    return this.#rewritten(this.#inner.finish());
  }

  /** null for a chunk of which nothing is left yet. */
  protected abstract rewrite(event: StreamEvent): StreamEvent | null;

  #rewritten(events: readonly StreamEvent[]): readonly StreamEvent[] {
    return events.flatMap((event) => this.rewrite(event) ?? []);
  }
}
