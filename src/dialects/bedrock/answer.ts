import { AttemptError, type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { ChunkWriter, finishOf } from "../canonical/answer.ts";
import { malformed } from "../canonical/errors.ts";
import { append, objects, parseJson, stringOf } from "../canonical/json.ts";
import { annotationOf, type BlockPlace, isUsual } from "../canonical/message.ts";
import { producedText } from "../canonical/produced.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { writtenInput } from "../canonical/tools.ts";
import { cacheWrites, tokenCount, writtenUsage } from "../canonical/usage.ts";
import type { Decoded, StreamReader } from "../dialect.ts";
import { exception, type Frame, FrameReader } from "./aws.ts";

/** A complete answer of Converse as a chat completion. @throws AttemptError for a body that is none. */
export function chatAnswer(bytes: Uint8Array, _call: Call): Decoded {
  const body = parseAnswer(bytes);
  const { output, stopReason, additionalModelResponseFields: more } = body;
  const written = isJson(output) ? output["message"] : undefined;
  if (!isJson(written) || !Array.isArray(written["content"])) throw malformed("an answer without a message");
  const reader = new MessageReader();
  for (const block of written["content"]) reader.read(block);
  const { message, called } = reader;
  const usage = usageOf(body["usage"]);
  if (typeof stopReason !== "string") throw malformed("an answer without a stop reason");
  const finish = finishOf("bedrock", stopReason, { called, sequence: stopSequence(more) });
  return {
    body: {
      object: "chat.completion",
      choices: [{ index: 0, message, ...finish }],
      ...(usage ? { usage: writtenUsage(usage) } : {}),
    },
    usage,
  };
}

/** Of a whole answer, or as a stream's last delta. */
function stopSequence(fields: unknown): unknown {
  if (!isJson(fields)) return undefined;
  return isJson(fields["delta"]) ? fields["delta"]["stop_sequence"] : fields["stop_sequence"];
}

class MessageReader {
  readonly #texts: string[] = [];
  /** Of the texts together, in UTF-16 units. */
  #length = 0;
  readonly #thoughts: string[] = [];
  readonly #details: Json[] = [];
  readonly #calls: Json[] = [];
  readonly #annotations: Json[] = [];
  readonly #order: BlockPlace[] = [];

  get called(): boolean {
    return this.#calls.length > 0;
  }

  /** The blocks read so far, as an assistant message. */
  get message(): Json {
    const text = this.#texts.join("");
    return {
      role: "assistant",
      content: text === "" && this.called ? null : text,
      ...(this.#thoughts.length > 0 ? { reasoning_content: this.#thoughts.join("") } : {}),
      ...(this.#details.length > 0 ? { reasoning_details: this.#details } : {}),
      ...(this.called ? { tool_calls: this.#calls } : {}),
      ...(this.#annotations.length > 0 ? { annotations: this.#annotations } : {}),
      ...(isUsual(this.#order) ? {} : { block_order: this.#order }),
    };
  }

  /** @throws AttemptError for a block that is none; blocks of unknown kinds are passed over. */
  read(block: unknown): void {
    if (!isJson(block)) throw malformed("a content block that is none");
    const { text, reasoningContent, toolUse, citationsContent } = block;
    if (text !== undefined) this.#text(text);
    if (isJson(reasoningContent)) this.#reasoning(reasoningContent);
    if (isJson(toolUse)) this.#call(toolUse);
    if (isJson(citationsContent)) this.#cited(citationsContent);
  }

  #text(text: unknown): void {
    if (typeof text !== "string") throw malformed("a text block without text");
    // Texts are one in the canonical message.
    if (this.#order.at(-1) !== "content") this.#order.push("content");
    this.#texts.push(text);
    this.#length += text.length;
  }

  #reasoning({ reasoningText, redactedContent }: Json): void {
    this.#order.push("reasoning");
    if (typeof redactedContent === "string") {
      this.#details.push({ type: "reasoning.encrypted", data: redactedContent });
      return;
    }
    const { text, signature } = isJson(reasoningText) ? reasoningText : {};
    if (typeof text !== "string") throw malformed("a reasoning block without text");
    if (text !== "") this.#thoughts.push(text);
    const signed = typeof signature === "string" && signature !== "" ? { signature } : {};
    this.#details.push({ type: "reasoning.text", text, ...signed });
  }

  #call({ toolUseId: id, name, input }: Json): void {
    if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
      throw malformed("a tool call without an id or a name");
    }
    this.#order.push("tool_call");
    this.#calls.push({ id, type: "function", function: { name, arguments: writtenInput(input) } });
  }

  #cited({ content, citations }: Json): void {
    const start = this.#length;
    for (const part of Array.isArray(content) ? content : []) if (isJson(part)) this.#text(part["text"] ?? "");
    if (Array.isArray(citations)) append(this.#annotations, annotationsOf(citations, start, this.#length));
  }
}

/**
 * The citations of one block as annotations of the answer's text, in which the block stands from `start` to `end` (UTF-16
 * units).
 */
function annotationsOf(citations: readonly unknown[], start: number, end: number): readonly Json[] {
  return objects(citations).map(({ location, title, source, sourceContent }) => {
    const [[kind, at] = [undefined, {}]] = isJson(location) ? Object.entries(location) : [];
    const { url, documentIndex: index } = isJson(at) ? at : {};
    const quote =
      objects(sourceContent)
        .map((content) => stringOf(content["text"]))
        .join("") || undefined;
    const file = { filename: title, file_id: source, index, quote, location: kind };
    return annotationOf({ url, title }, file, { start_index: start, end_index: end });
  });
}

/** `inputTokens` leaves out what was read from and written to a cache. @returns null for counts that cannot be believed. */
function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const [input, completion] = [tokenCount(usage["inputTokens"]), tokenCount(usage["outputTokens"])];
  const cached = tokenCount(usage["cacheReadInputTokens"] ?? 0);
  const cacheWrite = tokenCount(usage["cacheWriteInputTokens"] ?? 0);
  if (input === null || completion === null || cached === null || cacheWrite === null) return null;
  const writes = cacheWrites(cacheWrite, writtenForAnHour(usage["cacheDetails"]));
  return { prompt: input + cached + cacheWrite, completion, cached, reasoning: 0, cacheWrite, ...writes };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html */
function writtenForAnHour(details: unknown): unknown {
  return Array.isArray(details) ? details.filter(isJson).find(({ ttl }) => ttl === "1h")?.["inputTokens"] : 0;
}

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

  #delta(index: number, { text, toolUse, reasoningContent, citation, toolResult: _given, ...unread }: Json): void {
    if (isJson(citation)) this.#cited(index, citation);
    if (typeof text === "string" && text !== "") {
      this.#length += text.length;
      this.#events.push(this.#chunks.text(text));
    }
    if (isJson(toolUse)) this.#input(index, toolUse["input"]);
    if (isJson(reasoningContent)) this.#reasoning(index, reasoningContent);
    const produced = producedText(unread);
    if (produced !== "") this.#events.push(this.#chunks.counted(produced));
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
