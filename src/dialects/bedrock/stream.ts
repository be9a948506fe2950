import { AttemptError, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { ChunkWriter } from "../canonical/chunks.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf } from "../canonical/finish.ts";
import { parseJson } from "../canonical/json.ts";
import type { StreamReader } from "../dialect.ts";
import { annotationsOf, stopSequence, usageOf } from "./answer.ts";
import { exception, type Frame, FrameReader } from "./aws.ts";

/** One block of the answer that has not stopped. */
type Open =
  | { readonly type: "call"; readonly index: number; written: boolean }
  /** `index` is that of its reasoning detail. */
  | { readonly type: "reasoning"; readonly index: number }
  /** A text with its sources, from `start` in the answer's text. */
  | { readonly type: "cited"; readonly start: number; readonly citations: Json[] };

/** Reads the stream of ConverseStream. */
export class ConverseStreamReader implements StreamReader {
  fault: AttemptError | null = null;
  readonly #frames = new FrameReader();
  readonly #chunks = new ChunkWriter();
  /** By `contentBlockIndex`. */
  readonly #open = new Map<number, Open>();
  #details = 0;
  /** Of the answer's text so far, in UTF-16 units. */
  #length = 0;
  #usage: Usage | null = null;
  /** `messageStop` has come: the answer is whole, its count may follow. */
  #stopped = false;
  #counted = false;
  #events: StreamEvent[] = [];

  get done(): boolean {
    return this.#stopped && this.#counted;
  }

  get complete(): boolean {
    return this.#stopped;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault !== null || this.done) return [];
    try {
      for (const frame of this.#frames.feed(chunk)) {
        this.#frame(frame);
        if (this.done) break;
      }
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.fault = error;
    }
    return this.#take();
  }

  /** A frame that is cut off has no part in the answer: without `messageStop` it is not complete. */
  finish(): readonly StreamEvent[] {
    return this.#take();
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #frame({ headers, body }: Frame): void {
    const kind = headers.get(":message-type");
    if (kind === "exception") throw exception(headers.get(":exception-type") ?? "", body);
    // An error that the service has no shape for: its code and words are headers.
    if (kind === "error") {
      const message = headers.get(":error-message") ?? "";
      throw exception(headers.get(":error-code") ?? "", new TextEncoder().encode(JSON.stringify({ message })));
    }
    const data = parseJson(body);
    if (!isJson(data)) throw malformed("an event that is not JSON");
    this.#event(headers.get(":event-type") ?? "", data);
  }

  /** Events of unknown kinds are passed over. */
  #event(type: string, data: Json): void {
    if (type === "metadata") return this.#metadata(data);
    // What comes behind the ending is no part of the answer.
    if (this.#stopped) return;
    switch (type) {
      case "contentBlockStart":
        return this.#start(blockIndex(data), isJson(data["start"]) ? data["start"] : {});
      case "contentBlockDelta":
        return this.#delta(blockIndex(data), isJson(data["delta"]) ? data["delta"] : {});
      case "contentBlockStop":
        return this.#stop(blockIndex(data));
      case "messageStop":
        return this.#end(data);
      default:
    }
  }

  #start(index: number, { toolUse }: Json): void {
    if (!isJson(toolUse)) return;
    const { toolUseId: id, name } = toolUse;
    if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
      throw malformed("a tool call without an id or a name");
    }
    const { index: call, event } = this.#chunks.call(id, name);
    this.#open.set(index, { type: "call", index: call, written: false });
    this.#events.push(event);
  }

  #delta(index: number, { text, toolUse, reasoningContent, citation }: Json): void {
    if (isJson(citation)) this.#cited(index, citation);
    if (typeof text === "string" && text !== "") {
      this.#length += text.length;
      this.#events.push(this.#chunks.text(text));
    }
    if (isJson(toolUse)) this.#input(index, toolUse["input"]);
    if (isJson(reasoningContent)) this.#reasoning(index, reasoningContent);
  }

  #input(index: number, input: unknown): void {
    const call = this.#open.get(index);
    if (call?.type !== "call") throw malformed("arguments of no tool call");
    if (typeof input !== "string" || input === "") return;
    call.written = true;
    this.#events.push(this.#chunks.callArguments(call.index, input));
  }

  #reasoning(block: number, { text, signature, redactedContent }: Json): void {
    const open = this.#open.get(block);
    const index = open?.type === "reasoning" ? open.index : this.#details++;
    this.#open.set(block, { type: "reasoning", index });
    if (typeof text === "string" && text !== "") this.#events.push(this.#chunks.reasoning(index, text));
    if (typeof signature === "string" && signature !== "") this.#events.push(this.#chunks.signature(index, signature));
    if (typeof redactedContent === "string") this.#events.push(this.#chunks.encrypted(index, redactedContent));
  }

  /** Sources come before the text that they are of. */
  #cited(index: number, citation: Json): void {
    const open = this.#open.get(index);
    if (open?.type === "cited") open.citations.push(citation);
    else this.#open.set(index, { type: "cited", start: this.#length, citations: [citation] });
  }

  #stop(index: number): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    // Clients parse what they have put together: no arguments is an object without any.
    if (block?.type === "call" && !block.written) this.#events.push(this.#chunks.callArguments(block.index, "{}"));
    if (block?.type !== "cited") return;
    this.#events.push(this.#chunks.annotations(annotationsOf(block.citations, block.start, this.#length)));
  }

  #end({ stopReason, additionalModelResponseFields: more }: Json): void {
    if (typeof stopReason !== "string") throw malformed("an answer without a stop reason");
    const finish = finishOf("bedrock", stopReason, { called: this.#chunks.called, sequence: stopSequence(more) });
    for (const [index, { type }] of this.#open) {
      // Of a call that was cut off by a limit the arguments stay as they are.
      if (type !== "call" || finish.finish_reason === "tool_calls") this.#stop(index);
    }
    this.#events.push(this.#chunks.finish(finish));
    this.#stopped = true;
    this.#count();
  }

  #metadata({ usage }: Json): void {
    this.#usage = usageOf(usage) ?? this.#usage;
    if (this.#stopped) this.#count();
  }

  /** The count comes last, whichever of it and the ending came first. */
  #count(): void {
    if (this.#usage === null) return;
    this.#events.push(this.#chunks.usage(this.#usage));
    this.#counted = true;
  }
}

function blockIndex({ contentBlockIndex: index }: Json): number {
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0) throw malformed("a block without an index");
  return index;
}
