import { type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { malformed, reportedError } from "../errors.ts";
import { producedText } from "../openai/produced.ts";
import { writtenUsage } from "../usage.ts";
import { refusalOf } from "./answer.ts";
import { BlockReader } from "./block-reader.ts";
import { finishOf } from "./finish.ts";
import { beside, nativeEvent, ofMessages } from "./native.ts";
import { restated, usageOf } from "./usage.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** Turns the events of one Messages stream into canonical chunks. */
export class ChunkWriter {
  /** `message_stop` was seen. */
  ended = false;
  /** A stop reason was seen. */
  finished = false;
  readonly #call: Call;
  readonly #blocks: BlockReader;
  /** What all chunks have in common; null before `message_start`. */
  #head: Json | null = null;
  #usages: Json = {};
  /** Whether output was counted: at the start it has hardly begun. */
  #counted = false;
  /** What `message_delta` events have said so far. */
  #last: Json = {};
  #ending: Json = {};

  constructor(call: Call) {
    this.#call = call;
    this.#blocks = new BlockReader(ofMessages(call));
  }

  /**
   * The chunks of one event.
   * @throws AttemptError for an error event, or one that is not the dialect's.
   */
  read(event: Json): readonly StreamEvent[] {
    const { type } = event;
    if (type === "ping") return [];
    if (type === "error") throw reportedError(event["error"] ?? event["message"]);
    if (type === "message_start") return this.#start(event);
    if (this.#head === null) throw malformed("a stream that does not begin with message_start");
    switch (type) {
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        return this.#blocks.read(event).map((delta) => this.#chunk(delta));
      case "message_delta":
        return this.#note(event);
      case "message_stop":
        this.ended = true;
        return this.end();
      default:
        return [];
    }
  }

  /** The last chunks of an answer that is whole: why it ended, and its usage. */
  end(): readonly StreamEvent[] {
    const { stop_reason, stop_sequence } = this.#ending;
    const finish = finishOf(stop_reason, stop_sequence, this.#blocks.called);
    // A call that the limit cut off has no arguments yet, rather than none.
    const open = finish.finish_reason === "length" ? [] : this.#blocks.close();
    const refusal = refusalOf(this.#ending, this.#call);
    const said = Object.keys(this.#last).length > 0 && ofMessages(this.#call);
    const delta = { ...(refusal === null ? {} : { refusal }), ...(said ? nativeEvent(this.#last) : {}) };
    const last = { ...this.#head, choices: [{ index: 0, delta, ...finish }] };
    return [...open.map((each) => this.#chunk(each)), { data: last, text: "" }, ...this.#usage()];
  }

  #start(event: Json): readonly StreamEvent[] {
    const { message } = event;
    if (!isJson(message)) throw malformed("a message_start without a message");
    this.#usages = restated(this.#usages, message["usage"]);
    // Some upstreams begin twice; the first has named the answer.
    if (this.#head !== null) return [];
    this.#head = { id: message["id"], object: "chat.completion.chunk", model: message["model"] };
    const native = ofMessages(this.#call) ? nativeEvent(event) : {};
    const first = this.#chunk({ role: "assistant", content: "", ...native });
    // A stream that breaks off says nothing else of its prompt, and what of it was read from a cache.
    const usage = usageOf({ output_tokens: 0, ...this.#usages });
    return [usage === null ? first : { ...first, usage, partial: true }];
  }

  #note(event: Json): readonly StreamEvent[] {
    const { delta, usage } = event;
    if (!isJson(delta)) throw malformed("a message_delta without a delta");
    this.#usages = restated(this.#usages, usage);
    this.#counted ||= isJson(usage);
    this.#ending = { ...this.#ending, ...beside(delta, NOTHING) };
    this.#last = { ...this.#last, ...event, delta: this.#ending };
    this.finished ||= typeof this.#ending["stop_reason"] === "string";
    const counted = isJson(usage) ? usageOf(this.#usages) : null;
    // Nobody is shown this one: the count must not be lost with the connection before `message_stop`.
    return counted === null ? [] : [{ data: { ...this.#head, choices: [] }, text: "", usage: counted }];
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
