import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import { ChunkWriter } from "../canonical/answer.ts";
import { malformed } from "../canonical/errors.ts";
import { producedText } from "../canonical/produced.ts";
import { objects, stringOf } from "../canonical/json.ts";
import { SseStreamReader } from "../canonical/requests.ts";
import {
  citation,
  failureOf,
  finishOf,
  imageOf,
  logprobsOf,
  type ReadAs,
  readCall,
  type ReadCall,
  usageOf,
  withOwnName,
  WRAPPED,
} from "./answer.ts";
import { nativeEvent } from "./native.ts";

/** The longest event, in characters: the last one repeats the whole answer, and an image comes in one. */
const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024;
/** More than any answer has; what is kept of a stream is bounded. */
const MAX_ITEMS = 4096;
const ADDED = "response.output_item.added";
const DONE = "response.output_item.done";

/** An item of the answer while its events come; what of it has been sent on is counted in characters, by part. */
interface OpenItem {
  readonly type: string;
  readonly id: string;
  readonly sent: Map<string, number>;
  /** Of a call: its place among the calls. */
  call: { readonly index: number; readonly free: ReadCall["free"] } | null;
  begun: boolean;
  done: boolean;
}

/**
 * Reads the events of one streamed answer. Its ending is `response.completed` or `response.incomplete`; what comes behind
 * it says nothing. Items are known by `output_index`: some servers change the ids of an item with every event (GitHub
 * Copilot: recordings of vercel/ai, github-copilot-id-rotation.1).
 */
export class ResponsesStreamReader extends SseStreamReader {
  override done = false;
  readonly #as: ReadAs;
  readonly #writer = new ChunkWriter();
  readonly #items = new Map<number, OpenItem>();
  /** Places of the parts of reasoning among `reasoning_details`, by item and part. */
  readonly #details = new Map<string, number>();
  #texts = 0;
  #thoughts = 0;
  #events: StreamEvent[] = [];

  constructor(as: ReadAs) {
    super(MAX_EVENT_CHARACTERS);
    this.#as = as;
  }

  /** Before the ending no answer is whole, whatever of it was there. */
  override get complete(): boolean {
    return this.done;
  }

  protected override read(
    event: Json,
    { event: name }: { readonly event?: string | undefined },
    into: StreamEvent[],
  ): void {
    this.#events = into;
    const { response } = event;
    const type = stringOf(event["type"]) || stringOf(name);
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        if (isJson(response)) this.#identify(response);
        return;
      case "error":
        throw failureOf(isJson(event["error"]) ? event["error"] : { ...event, type: undefined });
      case "response.failed":
        throw failureOf(isJson(response) ? response["error"] : null);
      case "response.completed":
      case "response.incomplete":
        return this.#end(isJson(response) ? response : {}, type);
      default:
        return this.#item(type, event);
    }
  }

  #identify({ id, created_at: created, service_tier: tier }: Json): void {
    this.#writer.identify(id, {
      ...(Number.isSafeInteger(created) && { created }),
      ...(typeof tier === "string" && { service_tier: tier }),
    });
  }

  #end(response: Json, type: string): void {
    // Some servers tell an item only in the whole answer.
    for (const [index, item] of objects(response["output"]).entries()) {
      if (!this.#items.has(index)) this.#item(DONE, { type: DONE, output_index: index, item });
    }
    this.#identify(response);
    this.#close();
    const status = type === "response.incomplete" ? "incomplete" : "completed";
    const finish_reason = finishOf({ ...response, status }, this.#writer.called);
    this.#events.push(this.#writer.finish({ finish_reason }));
    const usage = usageOf(response);
    if (usage !== null) this.#events.push(this.#writer.usage(usage));
    this.done = true;
  }

  /** The end of arguments that were cut off with their call is never written: what is there stays as it is. */
  #close(): void {
    for (const item of this.#items.values()) item.done = true;
  }

  #item(type: string, from: Json): void {
    const content = isJson(from["item"]) ? withOwnName(from["item"], this.#as) : from["item"];
    const event = content === from["item"] ? from : { ...from, item: content };
    const index = Number.isSafeInteger(event["output_index"]) ? Number(event["output_index"]) : null;
    if (index === null) return this.#count(unreadText(type, event));
    const item = this.#items.get(index) ?? (isJson(content) ? this.#open(index, content) : null);
    if (item === null || item.done) return;
    const delta = stringOf(event["delta"]);
    const part = `${stringOf(type.split(".")[1])}/${Number(event["content_index"] ?? event["summary_index"] ?? 0)}`;
    switch (type) {
      case ADDED:
        return this.#added(index, item, isJson(content) ? content : {}, event);
      case DONE:
        return this.#done(index, item, isJson(content) ? content : {}, event);
      case "response.output_text.delta":
        return this.#addText(item, part, delta, event["logprobs"]);
      case "response.refusal.delta":
        return this.#addRefusal(item, part, delta);
      case "response.reasoning_summary_text.delta":
        return this.#addThought(index, item, part, delta, "summary");
      case "response.reasoning_text.delta":
        return this.#addThought(index, item, part, delta, "text");
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#addArguments(item, delta);
      case "response.output_text.annotation.added":
        return this.#annotate(event);
      default:
        this.#count(unreadText(type, event), item);
        // What of reasoning and of calls is not above repeats what is; of a message it is where its parts begin.
        if (type === "response.content_part.added" ? item.type === "message" : !CANONICAL.has(item.type)) {
          this.#pass({ ...event, type });
        }
    }
  }

  #open(index: number, { type, id }: Json): OpenItem {
    if (this.#items.size >= MAX_ITEMS) throw malformed("more items than can be answered");
    const item: OpenItem = {
      type: stringOf(type),
      id: stringOf(id),
      sent: new Map(),
      call: null,
      begun: false,
      done: false,
    };
    this.#items.set(index, item);
    return item;
  }

  #added(index: number, item: OpenItem, content: Json, event: Json): void {
    item.begun = true;
    const call = readCall(content, this.#as);
    if (call !== null) return this.#call(item, call, event);
    this.#pass(event);
    this.#fill(index, item, content);
  }

  /** Whatever of the item no event has brought. */
  #done(index: number, item: OpenItem, content: Json, event: Json): void {
    if (!item.begun) this.#added(index, item, content, { ...event, type: ADDED });
    this.#fill(index, item, content);
    if (item.call !== null && content["status"] !== "incomplete") this.#finishCall(item, item.call);
    if (!CANONICAL.has(item.type)) this.#count(producedText(content).slice(item.sent.get(UNREAD) ?? 0), item);
    const image = imageOf(content);
    if (image !== null && !this.#as.native) this.#delta({ images: [image] });
    if (content["type"] === "reasoning") this.#seal(index, item.id, content["encrypted_content"]);
    this.#pass(event);
    item.done = true;
  }

  #fill(index: number, item: OpenItem, content: Json): void {
    const unsent = (part: string, whole: unknown): string => stringOf(whole).slice(item.sent.get(part) ?? 0);
    const call = readCall(content, this.#as);
    if (call !== null && item.call !== null) this.#addArguments(item, call.argument.slice(item.sent.get("call") ?? 0));
    if (content["type"] === "message") {
      for (const [place, { type, text, refusal, logprobs, annotations }] of objects(content["content"]).entries()) {
        const part = `output_text/${place}`;
        const missing = type === "refusal" ? "" : unsent(part, text);
        // Annotations come with events of their own, unless the text did not.
        const whole = missing !== "" && !item.sent.has(part);
        this.#addText(item, part, missing, whole ? logprobs : null);
        if (whole) for (const annotation of objects(annotations)) this.#annotate({ annotation });
        this.#addRefusal(item, `refusal/${place}`, unsent(`refusal/${place}`, refusal));
      }
    }
    if (content["type"] === "reasoning") {
      for (const [place, { text }] of objects(content["content"]).entries()) {
        const part = `reasoning_text/${place}`;
        this.#addThought(index, item, part, unsent(part, text), "text");
      }
      for (const [place, { text }] of objects(content["summary"]).entries()) {
        const part = `reasoning_summary_text/${place}`;
        this.#addThought(index, item, part, unsent(part, text), "summary");
      }
    }
  }

  #addText(item: OpenItem, part: string, text: string, logprobs: unknown): void {
    if (text === "") return;
    const listed = logprobsOf(logprobs);
    // The items of an answer are one text to a client that has no items.
    const first = !this.#as.native && item.sent.size === 0 && this.#texts > 0;
    count(item, part, text);
    this.#texts += text.length;
    this.#delta({ content: first ? `\n\n${text}` : text }, text, listed === null ? {} : { logprobs: listed });
  }

  #addRefusal(item: OpenItem, part: string, refusal: string): void {
    if (refusal === "") return;
    count(item, part, refusal);
    this.#delta({ refusal }, refusal);
  }

  #addThought(index: number, item: OpenItem, part: string, text: string, kind: "text" | "summary"): void {
    if (text === "") return;
    const first = !item.sent.has(part);
    count(item, part, text);
    const detail = {
      type: `reasoning.${kind}`,
      index: this.#detail(`${index}/${part}`),
      [kind]: text,
      ...(first && kind === "summary" && { id: item.id, format: this.#as.format }),
    };
    const between = first && this.#thoughts > 0 ? "\n\n" : "";
    this.#thoughts += text.length;
    this.#delta({ reasoning_content: between + text, reasoning_details: [detail] }, text);
  }

  #seal(index: number, id: string, data: unknown): void {
    if (stringOf(data) === "") return;
    const { format } = this.#as;
    const place = this.#detail(`${index}/encrypted`);
    this.#delta({ reasoning_details: [{ type: "reasoning.encrypted", index: place, data, id, format }] });
  }

  #detail(key: string): number {
    const index = this.#details.get(key) ?? this.#details.size;
    this.#details.set(key, index);
    return index;
  }

  #call(item: OpenItem, call: ReadCall, event: Json): void {
    if (call.name === "") throw malformed("a tool call without a name");
    const native = this.#as.native ? nativeEvent(event) : {};
    const { index, event: begun } =
      call.free === "custom"
        ? this.#writer.customCall(call.id, call.name)
        : this.#writer.call(call.id, call.name, native);
    this.#events.push(begun);
    item.call = { index, free: call.free };
    this.#addArguments(item, call.argument);
  }

  #addArguments(item: OpenItem, delta: string): void {
    const { call } = item;
    if (call === null || delta === "") return;
    const first = !item.sent.has("call");
    count(item, "call", delta);
    this.#writeArguments(call, call.free === "wrapped" ? (first ? WRAPPED.begin : "") + WRAPPED.text(delta) : delta);
  }

  #finishCall(item: OpenItem, call: NonNullable<OpenItem["call"]>): void {
    const begun = item.sent.has("call");
    if (call.free === "wrapped") this.#writeArguments(call, (begun ? "" : WRAPPED.begin) + WRAPPED.end);
    else if (!begun && call.free === null) this.#writeArguments(call, "{}");
  }

  #writeArguments({ index, free }: NonNullable<OpenItem["call"]>, text: string): void {
    this.#events.push(
      free === "custom" ? this.#writer.callInput(index, text) : this.#writer.callArguments(index, text),
    );
  }

  #annotate(event: Json): void {
    const { annotation } = event;
    const known = isJson(annotation) ? citation(annotation) : null;
    if (known !== null) this.#events.push(this.#writer.annotations([known]));
    else if (isJson(annotation)) this.#pass({ type: "response.output_text.annotation.added", ...event });
  }

  /** Output without a canonical place is charged all the same. */
  #count(text: string, item: OpenItem | null = null): void {
    if (text === "") return;
    if (item !== null) count(item, UNREAD, text);
    this.#events.push(this.#writer.counted(text));
  }

  /** What has no canonical place goes to a client of the same format, and to no other. */
  #pass(event: Json): void {
    if (this.#as.native) this.#delta(nativeEvent(event));
  }

  #delta(delta: Json, text = "", more: Json = {}): void {
    this.#events.push(this.#writer.delta(delta, text, more));
  }
}

/** Types of items with a canonical place. */
const CANONICAL: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

function count({ sent }: OpenItem, part: string, text: string): void {
  sent.set(part, (sent.get(part) ?? 0) + text.length);
}

/** Under which what has no canonical place is counted in its item. */
const UNREAD = "unread";
/** Deltas of media in base64. */
const MEDIA_DELTA = /audio\.delta$|partial_image$/;

/** What the model produced in an event that has no canonical form, such as the code of an interpreter, or what it speaks. */
function unreadText(type: string, { delta }: Json): string {
  return type.endsWith(".delta") && !MEDIA_DELTA.test(type) ? stringOf(delta) : "";
}
