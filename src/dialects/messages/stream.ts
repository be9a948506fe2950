import type { EventSourceMessage } from "eventsource-parser";
import { type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { producedText } from "../canonical/produced.ts";
import { malformed, reportedError } from "../canonical/errors.ts";
import { append, extraFields, list, objects, stringOf } from "../canonical/json.ts";
import { SseStreamReader } from "../canonical/requests.ts";
import { writtenInput } from "../canonical/tools.ts";
import { writtenUsage } from "../canonical/usage.ts";
import { nativeEvent, ofMessages, withNative } from "./native.ts";
import {
  annotationsOf,
  CallLedger,
  CANONICAL,
  explanationOf,
  restated,
  stopOf,
  textField,
  toolId,
  usageOf,
} from "./answer.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** Reads the server-sent events of one Messages stream; `message_stop` is its ending. */
export class MessagesStreamReader extends SseStreamReader {
  /** `message_stop` was seen. */
  #ended = false;
  readonly #sameFormat: boolean;
  readonly #blocks: BlockReader;
  /** What all chunks have in common; null before `message_start`. */
  #head: Json | null = null;
  #usages: Json = {};
  /** Whether the output was counted as a whole: at the start it has hardly begun. */
  #counted = false;
  /** What `message_delta` events have said so far. */
  #last: Json = {};
  /** How the answer ends, as far as it was said. */
  #ending: Json = {};

  constructor(call: Call) {
    super();
    this.#sameFormat = ofMessages(call);
    this.#blocks = new BlockReader(this.#sameFormat);
  }

  override get done(): boolean {
    return this.#ended;
  }

  override get complete(): boolean {
    return this.#ended || typeof this.#ending["stop_reason"] === "string";
  }

  /** @throws AttemptError for an error event, or one that is not the dialect's. */
  protected override read(data: Json, { event: name }: EventSourceMessage, events: StreamEvent[]): void {
    const type = name === "error" ? name : data["type"];
    switch (type) {
      case "error":
        throw reportedError(data["error"] ?? data["message"]);
      case "message_start":
        events.push(...this.#start(data));
        return;
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        this.#mustHaveBegun();
        this.#block(data, events);
        return;
      case "message_delta":
        this.#mustHaveBegun();
        events.push(...this.#note(data));
        return;
      case "message_stop":
        this.#mustHaveBegun();
        this.#ended = true;
        events.push(...this.#end());
        return;
      // `ping`, and events of later versions or of who stands between, which may come before the message too.
      default:
    }
  }

  protected override close(events: StreamEvent[], broken: boolean): void {
    if (!broken && this.complete) events.push(...this.#end());
  }

  #block(event: Json, events: StreamEvent[]): void {
    const chunks = this.#blocks.read(event).map((delta) => this.#chunk(delta));
    const unread = chunks.some(({ text }) => text !== "") ? "" : unreadText(event);
    const last = chunks.at(-1);
    if (unread === "") append(events, chunks);
    else if (last === undefined) events.push({ data: { ...this.#head, choices: [] }, text: unread });
    else append(events, [...chunks.slice(0, -1), { ...last, text: last.text + unread }]);
  }

  #mustHaveBegun(): void {
    if (this.#head === null) throw malformed("a stream that does not begin with message_start");
  }

  /**
   * Where the API goes on with a container, the message comes whole with its start: content, stop reason and usage
   * (programmatic tool calling).
   */
  #start(event: Json): readonly StreamEvent[] {
    const { message } = event;
    if (!isJson(message)) throw malformed("a message_start without a message");
    const { id, model, content, stop_reason, stop_sequence, stop_details, usage } = message;
    if (this.#head !== null) {
      // Some upstreams begin twice. Of another message the deltas must not be put together with those of the first.
      if (typeof id === "string" && id !== this.#head["id"]) {
        throw malformed("a second message inside of an open one");
      }
      this.#usages = restated(this.#usages, usage);
      return [];
    }
    this.#head = { id, object: "chat.completion.chunk", model };
    this.#usages = restated({}, usage);
    this.#ending = extraFields({ stop_reason, stop_sequence, stop_details }, NOTHING);
    this.#counted = isJson(usage) && typeof stop_reason === "string";
    const first = this.#chunk({ role: "assistant", content: "", ...(this.#sameFormat ? nativeEvent(event) : {}) });
    // A stream that breaks off says nothing else of its prompt, and of what was read from a cache.
    const counted = usageOf({ output_tokens: 0, ...this.#usages });
    return [counted === null ? first : { ...first, usage: counted, partial: true }, ...this.#content(content)];
  }

  /** Blocks that came with the message; the numbers of those that follow begin at 0 again. */
  #content(content: unknown): readonly StreamEvent[] {
    return list(content).flatMap((block, position) => {
      const index = -1 - position;
      const begun = this.#blocks.read({ type: "content_block_start", index, content_block: block });
      const ended = this.#blocks.read({ type: "content_block_stop", index });
      return [...begun, ...ended].map((delta) => this.#chunk(delta));
    });
  }

  #note(event: Json): readonly StreamEvent[] {
    const { delta, usage } = event;
    if (!isJson(delta)) throw malformed("a message_delta without a delta");
    this.#usages = restated(this.#usages, usage);
    this.#counted ||= isJson(usage);
    this.#ending = { ...this.#ending, ...extraFields(delta, NOTHING) };
    this.#last = { ...this.#last, ...event, delta: this.#ending };
    const counted = isJson(usage) ? usageOf(this.#usages) : null;
    // Not sent to clients: the count must be known even if the connection ends before `message_stop`.
    return counted === null ? [] : [{ data: { ...this.#head, choices: [] }, text: "", usage: counted }];
  }

  /** The last chunks of an answer that is whole: why it ended, and its usage. */
  #end(): readonly StreamEvent[] {
    const finish = stopOf(this.#ending, this.#blocks.calls);
    // A call that the limit cut off has no arguments yet, rather than none.
    const open = finish.finish_reason === "length" ? [] : this.#blocks.close();
    const explanation = this.#sameFormat ? null : explanationOf(this.#ending);
    const hasLast = this.#sameFormat && Object.keys(this.#last).length > 0;
    const delta = {
      ...(explanation === null ? {} : { refusal: explanation }),
      ...(hasLast && nativeEvent(this.#last)),
    };
    const last = { ...this.#head, choices: [{ index: 0, delta, ...finish }] };
    return [...open.map((each) => this.#chunk(each)), { data: last, text: "" }, ...this.#usage()];
  }

  #chunk(delta: Json): StreamEvent {
    return {
      data: { ...this.#head, choices: [{ index: 0, delta, finish_reason: null }] },
      text: producedText(delta),
    };
  }

  #usage(): readonly StreamEvent[] {
    const usage: Usage | null = this.#counted ? usageOf(this.#usages) : null;
    if (usage === null) return [];
    return [{ data: { ...this.#head, choices: [], usage: writtenUsage(usage) }, text: "", usage }];
  }
}

/** A content block that has begun and not ended. */
type OpenBlock =
  /** `start`: where its text begins in the answer's. */
  | { readonly kind: "text"; readonly start: number; readonly citations: Json[] }
  /** `index`: of its detail. */
  | { readonly kind: "thinking"; readonly index: number }
  | { readonly kind: "redacted_thinking" }
  /** `index`: of the call; `whole`: the input that came with its start, as JSON text. */
  | { readonly kind: "tool_use"; readonly index: number; readonly whole: string; empty: boolean }
  /** Without a canonical form. */
  | { readonly kind: "native" };

/** Turns the events of content blocks into canonical deltas. */
class BlockReader {
  readonly calls = new CallLedger();
  readonly #sameFormat: boolean;
  readonly #open = new Map<unknown, OpenBlock>();
  #callCount = 0;
  #details = 0;
  /** Of the text so far, in UTF-16 units. */
  #length = 0;
  #afterText = false;

  /** @param sameFormat for a client that speaks the dialect: what has no canonical delta goes on as the event it is. */
  constructor(sameFormat: boolean) {
    this.#sameFormat = sameFormat;
  }

  /** @throws AttemptError for an event that is not the dialect's. */
  read(event: Json): readonly Json[] {
    const { type, index } = event;
    if (type === "content_block_start") return this.#start(event);
    const block = this.#open.get(index);
    if (type === "content_block_delta") return this.#delta(event, block);
    this.#open.delete(index);
    if (block === undefined) return [];
    return block.kind === "native" ? this.#native(event) : this.#stop(block);
  }

  /** Ends the blocks whose end never came. */
  close(): readonly Json[] {
    const left = [...this.#open.values()];
    this.#open.clear();
    return left.flatMap((block) => this.#stop(block));
  }

  #start(event: Json): readonly Json[] {
    const { index, content_block: block } = event;
    if (!isJson(block)) throw malformed("a content_block_start without a block");
    this.calls.note(block);
    const type = block["type"];
    const secondText = this.#afterText && type === "text";
    this.#afterText = type === "text";
    switch (type) {
      case "text":
        this.#open.set(index, { kind: type, start: this.#length, citations: [...objects(block["citations"])] });
        return [...this.#startOf(event, block, secondText), ...this.#text(textField(block, "text"))];
      case "thinking": {
        const detail = this.#details++;
        this.#open.set(index, { kind: type, index: detail });
        const { signature = "" } = block;
        return [
          ...this.#startOf({ ...event, index: detail }, block, false),
          ...thought(detail, textField(block, "thinking")),
          ...signed(detail, signature),
        ];
      }
      case "redacted_thinking":
        this.#open.set(index, { kind: type });
        return [details({ type: "reasoning.encrypted", index: this.#details++, data: textField(block, "data") })];
      case "tool_use":
        return [this.#startCall(index, block)];
      default:
        this.#open.set(index, { kind: "native" });
        return this.#native(event);
    }
  }

  /** That a block began, where deltas do not tell it all: it is not one with the text before, or has further fields. */
  #startOf(event: Json, block: Json, secondText: boolean): readonly Json[] {
    const { text, thinking } = CANONICAL;
    const more = extraFields(block, block["type"] === "text" ? text : thinking);
    if (!secondText && Object.keys(more).length === 0) return [];
    const empty = block["type"] === "text" ? { text: "" } : { thinking: "", signature: "" };
    return this.#native({ ...event, content_block: { ...block, ...empty } });
  }

  #startCall(place: unknown, block: Json): Json {
    const index = this.#callCount++;
    this.#open.set(place, { kind: "tool_use", index, whole: writtenInput(block["input"]), empty: true });
    const more = this.#sameFormat ? withNative(extraFields(block, CANONICAL.tool_use)) : {};
    const called = { name: textField(block, "name"), arguments: "" };
    return { tool_calls: [{ ...more, index, id: toolId(block), type: "function", function: called }] };
  }

  #delta(event: Json, block: OpenBlock | undefined): readonly Json[] {
    const { delta } = event;
    if (!isJson(delta)) throw malformed("a content_block_delta without a delta");
    if (block === undefined) throw malformed("a content_block_delta outside of a block");
    if (block.kind === "native") return this.#native(event);
    const type = delta["type"];
    if (type === "text_delta") return this.#text(textField(delta, "text"));
    if (type === "thinking_delta" && block.kind === "thinking")
      return thought(block.index, textField(delta, "thinking"));
    if (type === "signature_delta" && block.kind === "thinking") return signed(block.index, delta["signature"]);
    if (type === "input_json_delta") return passedOn(block, textField(delta, "partial_json"));
    if (type === "citations_delta" && block.kind === "text" && isJson(delta["citation"])) {
      block.citations.push(delta["citation"]);
    }
    return this.#native(event);
  }

  #stop(block: OpenBlock): readonly Json[] {
    // No arguments are `{}`; some upstreams send all of them with the start of the block.
    if (block.kind === "tool_use") return block.empty ? [argumentsOf(block.index, block.whole)] : [];
    if (block.kind !== "text" || this.#sameFormat) return [];
    const annotations = annotationsOf(block.citations, block.start, this.#length);
    return annotations.length > 0 ? [{ annotations }] : [];
  }

  #text(text: string): readonly Json[] {
    this.#length += text.length;
    return text === "" ? [] : [{ content: text }];
  }

  #native(event: Json): readonly Json[] {
    return this.#sameFormat ? [nativeEvent(event)] : [];
  }
}

function details(detail: Json): Json {
  return { reasoning_details: [detail] };
}

function thought(index: number, text: string): readonly Json[] {
  return text === "" ? [] : [{ reasoning_content: text, ...details({ type: "reasoning.text", index, text }) }];
}

function signed(index: number, signature: unknown): readonly Json[] {
  if (typeof signature !== "string") throw malformed("a signature that is no text");
  return signature === "" ? [] : [details({ type: "reasoning.text", index, signature })];
}

function passedOn(block: OpenBlock, text: string): readonly Json[] {
  if (block.kind !== "tool_use") throw malformed("tool input outside of a tool call");
  if (text === "") return [];
  block.empty = false;
  return [argumentsOf(block.index, text)];
}

function argumentsOf(index: number, text: string): Json {
  return { tool_calls: [{ index, function: { arguments: text } }] };
}

const READ_BLOCKS: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);
const RESULT = /result$/;

/** What the model produced in an event of a block that has no canonical form: calls of server tools, a compaction. */
function unreadText({ type, delta, content_block: block }: Json): string {
  if (type === "content_block_delta" && isJson(delta)) return producedText(delta);
  if (type !== "content_block_start" || !isJson(block) || READ_BLOCKS.has(block["type"])) return "";
  return RESULT.test(stringOf(block["type"])) ? "" : producedText(block);
}
