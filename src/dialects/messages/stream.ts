import type { EventSourceMessage } from "eventsource-parser";
import { type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { extraFields, list } from "../canonical/json.ts";
import { producedText } from "../canonical/chunks.ts";
import { SseStreamReader } from "../canonical/sse.ts";
import { writtenUsage } from "../canonical/usage.ts";
import { BlockReader } from "./block-reader.ts";
import { nativeEvent, ofMessages } from "./native.ts";
import { restated, usageOf } from "./usage.ts";
import { explanationOf, stopOf } from "./wire.ts";
import { reportedError } from "../canonical/refusals.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** Reads the server-sent events of one Messages stream; `message_stop` is its ending. */
export class MessagesStreamReader extends SseStreamReader {
  /** `message_stop` was seen. */
  #ended = false;
  readonly #verbatim: boolean;
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
    this.#verbatim = ofMessages(call);
    this.#blocks = new BlockReader(this.#verbatim);
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
        for (const delta of this.#blocks.read(data)) events.push(this.#chunk(delta));
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
      // Some upstreams begin twice. Of another message the pieces must not be put together with those of the first.
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
    const first = this.#chunk({ role: "assistant", content: "", ...(this.#verbatim ? nativeEvent(event) : {}) });
    // A stream that breaks off says nothing else of its prompt, and of what was read from a cache.
    const told = usageOf({ output_tokens: 0, ...this.#usages });
    return [told === null ? first : { ...first, usage: told, partial: true }, ...this.#content(content)];
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
    // Nobody is shown this one: the count must not be lost with the connection before `message_stop`.
    return counted === null ? [] : [{ data: { ...this.#head, choices: [] }, text: "", usage: counted }];
  }

  /** The last chunks of an answer that is whole: why it ended, and its usage. */
  #end(): readonly StreamEvent[] {
    const finish = stopOf(this.#ending, this.#blocks.calls);
    // A call that the limit cut off has no arguments yet, rather than none.
    const open = finish.finish_reason === "length" ? [] : this.#blocks.close();
    const explanation = this.#verbatim ? null : explanationOf(this.#ending);
    const said = this.#verbatim && Object.keys(this.#last).length > 0;
    const delta = { ...(explanation === null ? {} : { refusal: explanation }), ...(said && nativeEvent(this.#last)) };
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
