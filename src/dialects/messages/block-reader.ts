import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { extraFields, objects } from "../canonical/json.ts";
import { nativeEvent, withNative } from "./native.ts";
import { writtenInput } from "../canonical/tools.ts";
import { annotationsOf, CallLedger, CANONICAL, textField, toolId } from "./wire.ts";

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
export class BlockReader {
  readonly calls = new CallLedger();
  readonly #verbatim: boolean;
  readonly #open = new Map<unknown, OpenBlock>();
  #callCount = 0;
  #details = 0;
  /** Of the text so far, in UTF-16 units. */
  #length = 0;
  #afterText = false;

  /** @param verbatim for a client that speaks the dialect: what has no canonical delta goes on as the event it is. */
  constructor(verbatim: boolean) {
    this.#verbatim = verbatim;
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
    const more = this.#verbatim ? withNative(extraFields(block, CANONICAL.tool_use)) : {};
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
    if (block.kind !== "text" || this.#verbatim) return [];
    const annotations = annotationsOf(block.citations, block.start, this.#length);
    return annotations.length > 0 ? [{ annotations }] : [];
  }

  #text(text: string): readonly Json[] {
    this.#length += text.length;
    return text === "" ? [] : [{ content: text }];
  }

  #native(event: Json): readonly Json[] {
    return this.#verbatim ? [nativeEvent(event)] : [];
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
