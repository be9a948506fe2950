import { randomUUID } from "node:crypto";
import {
  type Bill,
  type GatewayError,
  isJson,
  type Json,
  type StreamEvent,
  type StreamFormat,
  type Usage,
} from "../../../kit/index.ts";
import { webCitations } from "../../canonical/message.ts";
import { list, objects, omit, stringOf } from "../../canonical/json.ts";
import { messagesError } from "./errors.ts";
import { MESSAGE_FIELDS, nativeFields, sealedData } from "../native.ts";
import {
  type BlockKind,
  BlockSequence,
  firstUsage,
  frame,
  messagesUsage,
  NO_USAGE,
  type OpenBlock,
  type Stop,
  stopOf,
} from "./events.ts";

/** The events of a Messages stream; `model` is the route. */
export class MessagesStream implements StreamFormat {
  readonly heartbeat = frame("ping");
  readonly #model: string;
  readonly #deltas = new DeltaWriter();
  #begun = false;
  #usage: Usage | null = null;
  /** Whether `#usage` counts all of the output. */
  #counted = false;
  #finish: Json = {};

  constructor(model: string) {
    this.#model = model;
  }

  event({ data, usage, partial }: StreamEvent): string {
    // Counts are cumulative: the last one stands.
    if (usage !== undefined) {
      this.#usage = usage;
      this.#counted = partial !== true;
    }
    let written = "";
    for (const choice of objects(data["choices"])) {
      // Messages has one answer.
      if (choice["index"] !== undefined && choice["index"] !== 0) continue;
      if (isJson(choice["delta"])) written += this.#deltas.write(choice["delta"]);
      if (typeof choice["finish_reason"] === "string") this.#finish = choice;
    }
    return this.#begin(data["id"]) + written;
  }

  failure(error: GatewayError): string {
    return frame("error", { error: messagesError(error) });
  }

  done(bill: Bill): string {
    if (!this.#counted) this.#usage = bill.usage;
    const stop = stopOf(this.#finish, this.#deltas);
    return this.#begin(undefined) + this.#deltas.end(stop.stop_reason === "end_turn") + this.#end(stop);
  }

  killed(bill: Bill): string {
    // Counted up to the end: the upstream's last word may have been about less.
    this.#usage = bill.usage;
    return this.#begin(undefined) + this.#deltas.cut() + this.#end({ stop_reason: "end_turn", stop_sequence: null });
  }

  #begin(id: unknown): string {
    if (this.#begun) return "";
    this.#begun = true;
    const { message, usage } = this.#deltas.native;
    return frame("message_start", {
      message: {
        ...message,
        id: messageId(id, randomUUID()),
        type: "message",
        role: "assistant",
        model: this.#model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: this.#usage === null ? firstUsage(usage) : messagesUsage(this.#usage, usage),
      },
    });
  }

  #end(stop: Stop): string {
    const { delta, event, usage } = this.#deltas.native;
    const counts = messagesUsage(this.#usage ?? NO_USAGE, usage);
    return frame("message_delta", { ...event, delta: { ...delta, ...stop }, usage: counts }) + frame("message_stop");
  }
}

/** An id of Messages' form from the upstream's. @param other stands in for one that the upstream left out. */
export function messageId(id: unknown, other: string): string {
  const own = typeof id === "string" ? id.replaceAll(/[^\w-]/g, "") : "";
  return own.startsWith("msg_") ? own : `msg_${own === "" ? other.replaceAll("-", "") : own}`;
}

const EMPTY_TEXT: Json = { type: "text", text: "" };
const EMPTY_THINKING: Json = { type: "thinking", thinking: "", signature: "" };
const BEGUN_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS, "usage"]);
const DELTA: ReadonlySet<string> = new Set(["stop_reason", "stop_sequence"]);
const EVENT: ReadonlySet<string> = new Set(["type", "delta", "usage"]);

/** Turns canonical deltas of one choice into the events of content blocks. */
class DeltaWriter {
  readonly #blocks = new BlockSequence();
  readonly #called = new Set<unknown>();
  /** Encrypted reasoning behind a text, which waits for what comes next. */
  readonly #seals: unknown[] = [];
  refused = false;
  /** The stream is a Messages upstream's. */
  isNative = false;
  /** What a Messages upstream said beside the canonical fields: of the message, of its last delta, of that event, of usage. */
  native: { readonly [part in "message" | "delta" | "event" | "usage"]: Json } = {
    message: {},
    delta: {},
    event: {},
    usage: {},
  };

  get called(): boolean {
    return this.#called.size > 0;
  }

  write(delta: Json): string {
    let written = this.#reasoning(delta);
    if (stringOf(delta["content"]) !== "") written += this.#text(stringOf(delta["content"]));
    if (stringOf(delta["refusal"]) !== "") {
      this.refused = true;
      written += this.#text(stringOf(delta["refusal"]));
    }
    if (delta["annotations"] !== undefined) written += this.#cite(list(delta["annotations"]));
    for (const call of objects(delta["tool_calls"])) written += this.#call(call);
    const { native } = delta;
    if (isJson(native) && native["dialect"] === "messages" && isJson(native["event"])) {
      this.isNative = true;
      written += this.#native(native["event"]);
    }
    return written;
  }

  /** @param complete the answer is all that was to be said: clients take its last block for it, so no seal follows a text. */
  end(complete: boolean): string {
    return (complete ? "" : this.#sealed()) + this.#blocks.end();
  }

  cut(): string {
    return this.#blocks.cut();
  }

  #reasoning({ reasoning_details, reasoning_content }: Json): string {
    const details = objects(reasoning_details);
    const hasThoughts = details.some((detail) => thoughtOf(detail) !== "");
    let written = "";
    if (!hasThoughts && stringOf(reasoning_content) !== "")
      written += this.#think(undefined, stringOf(reasoning_content));
    for (const detail of details) {
      const { type, index, signature } = detail;
      if (type === "reasoning.encrypted") {
        this.#seals.push(sealedData(detail));
        if (this.#blocks.last?.kind !== "text") written += this.#sealed();
      } else {
        if (thoughtOf(detail) !== "") written += this.#think(index, thoughtOf(detail));
        if (stringOf(signature) !== "") written += this.#sign(index, stringOf(signature));
      }
    }
    return written;
  }

  /** The blocks of what waited. */
  #sealed(): string {
    let written = "";
    for (const data of this.#seals.splice(0)) {
      const { opened, text } = this.#blocks.begin("native", null, { type: "redacted_thinking", data });
      opened.sealed = true;
      written += text;
    }
    return written;
  }

  #think(index: unknown, thinking: string): string {
    const { opened, begun } = this.#thought(index);
    return begun + this.#blocks.delta(opened, { type: "thinking_delta", thinking });
  }

  /** A signature ends its block. */
  #sign(index: unknown, signature: string): string {
    const { opened, begun } = this.#thought(index);
    opened.sealed = true;
    return begun + this.#blocks.delta(opened, { type: "signature_delta", signature });
  }

  /** Text and signature of one thought may come under `reasoning_content` and with an index. */
  #thought(index: unknown): { readonly opened: OpenBlock; readonly begun: string } {
    const before = this.#sealed();
    const { last } = this.#blocks;
    const same = last?.key === undefined || index === undefined || last.key === index;
    if (last?.kind === "thinking" && !last.sealed && same) return { opened: last, begun: "" };
    const { opened, text } = this.#blocks.begin("thinking", index, EMPTY_THINKING);
    return { opened, begun: before + text };
  }

  #text(text: string): string {
    const { opened, begun } = this.#openText();
    return begun + this.#blocks.delta(opened, { type: "text_delta", text });
  }

  /** Pages that were read go with the text before them; where none is open they have no place. */
  #cite(annotations: readonly unknown[]): string {
    const { last } = this.#blocks;
    if (last?.kind !== "text" || last.sealed) return "";
    const citations = webCitations(annotations);
    return citations.map((citation) => this.#blocks.delta(last, { type: "citations_delta", citation })).join("");
  }

  #openText(): { readonly opened: OpenBlock; readonly begun: string } {
    const before = this.#sealed();
    const { last } = this.#blocks;
    if (last?.kind === "text" && !last.sealed) return { opened: last, begun: "" };
    const { opened, text } = this.#blocks.begin("text", undefined, EMPTY_TEXT);
    return { opened, begun: before + text };
  }

  #call(call: Json): string {
    const { index = 0, id, function: called } = call;
    const { name, arguments: args } = isJson(called) ? called : {};
    let opened = this.#blocks.find("tool", index);
    let written = "";
    if (opened === undefined) {
      // Its block is closed: its arguments were whole, and only white space can follow them.
      if (this.#called.has(index)) return "";
      this.#called.add(index);
      const block = {
        ...nativeFields(call, true),
        type: "tool_use",
        id: stringOf(id),
        name: stringOf(name),
        input: {},
      };
      const before = this.#sealed();
      ({ opened, text: written } = this.#blocks.begin("tool", index, block));
      written = before + written;
    }
    if (stringOf(args) === "") return written;
    return written + this.#blocks.delta(opened, { type: "input_json_delta", partial_json: stringOf(args) });
  }

  #native(event: Json): string {
    const { type, index, content_block: block, delta, message, usage } = event;
    switch (type) {
      case "content_block_start":
        return isJson(block) ? this.#sealed() + this.#blocks.begin(kindOf(block), index, block).text : "";
      case "content_block_delta":
        return isJson(delta) ? this.#nativeDelta(index, delta) : "";
      case "content_block_stop": {
        const ended = this.#blocks.find("native", index) ?? this.#blocks.last;
        if (ended !== undefined) ended.sealed = true;
        return "";
      }
      case "message_start":
        if (isJson(message)) this.#keep({ message: omit(message, BEGUN_FIELDS), usage: message["usage"] });
        return "";
      case "message_delta":
        this.#keep({ delta: isJson(delta) ? omit(delta, DELTA) : {}, event: omit(event, EVENT), usage });
        return "";
      default:
        return "";
    }
  }

  #nativeDelta(index: unknown, delta: Json): string {
    const found = this.#blocks.find("native", index);
    if (found !== undefined) return this.#blocks.delta(found, delta);
    if (delta["type"] !== "citations_delta") return "";
    const { opened, begun } = this.#openText();
    return begun + this.#blocks.delta(opened, delta);
  }

  #keep({ message, delta, event, usage }: Json): void {
    const { native } = this;
    this.native = {
      message: merge(native.message, message),
      delta: merge(native.delta, delta),
      event: merge(native.event, event),
      usage: merge(native.usage, usage),
    };
  }
}

function merge(old: Json, more: unknown): Json {
  return isJson(more) ? { ...old, ...more } : old;
}

/** A block that canonical deltas continue is one of their kind. */
function kindOf({ type }: Json): BlockKind {
  return type === "text" || type === "thinking" ? type : "native";
}

function thoughtOf(detail: Json): string {
  return stringOf(detail["text"]) + stringOf(detail["summary"]);
}
