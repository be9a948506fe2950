import { isJson, type Json, readDataUrl } from "../../../kit/index.ts";
import { append } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/json.ts";
import type { ReasoningDetail } from "../../canonical/message.ts";
import { seal } from "../native.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";
import { freeformInput, type ToolName } from "./tools.ts";

type Kind = "output_text" | "refusal";

interface Part {
  readonly kind: Kind;
  text: string;
  readonly annotations: Json[];
  readonly logprobs: Json[];
}

/** What the assistant says: text, and a refusal beside it. */
export class MessageItem implements Item {
  readonly type = "message";
  readonly #at: ItemParts;
  readonly #done: Json[] = [];
  #part: Part | null = null;

  constructor(at: ItemParts) {
    this.#at = at;
    at.emit("response.output_item.added", { item: this.#item("in_progress") });
  }

  /** Begins another part. */
  begin(kind: Kind): void {
    this.#closePart();
    this.#open(kind);
  }

  add(kind: Kind, delta: string, logprobs: readonly Json[]): void {
    const part = this.#open(kind);
    part.text += delta;
    append(part.logprobs, logprobs);
    const more = kind === "output_text" ? { logprobs } : {};
    this.#emit(`response.${kind}.delta`, { delta, ...more });
  }

  /** @param annotation in the form of chat completions; other kinds than citations of pages have no form there. */
  annotate(annotation: unknown): void {
    const citation = isJson(annotation) ? annotation["url_citation"] : null;
    if (!isJson(citation) || typeof citation["url"] !== "string") return;
    const { url, title, start_index: start, end_index: end } = citation;
    this.cite({
      type: "url_citation",
      url,
      title: typeof title === "string" ? title : "",
      start_index: Number.isInteger(start) ? start : 0,
      end_index: Number.isInteger(end) ? end : 0,
    });
  }

  /** @param annotation in the form of this API. */
  cite(annotation: Json): void {
    const { annotations } = this.#open("output_text");
    this.#emit("response.output_text.annotation.added", { annotation_index: annotations.length, annotation });
    annotations.push(annotation);
  }

  close(status: ItemStatus): Json {
    this.#closePart();
    const item = this.#item(status);
    this.#at.emit("response.output_item.done", { item });
    return item;
  }

  #item(status: ItemStatus | "in_progress"): Json {
    const { id, native } = this.#at;
    return { type: "message", id, status, role: "assistant", ...native, content: [...this.#done] };
  }

  #open(kind: Kind): Part {
    if (this.#part?.kind === kind) return this.#part;
    this.#closePart();
    const part: Part = { kind, text: "", annotations: [], logprobs: [] };
    this.#part = part;
    this.#emit("response.content_part.added", { part: writtenPart(part) });
    return part;
  }

  #closePart(): void {
    const part = this.#part;
    if (part === null) return;
    const ended = part.kind === "refusal" ? { refusal: part.text } : { text: part.text, logprobs: part.logprobs };
    this.#emit(`response.${part.kind}.done`, ended);
    this.#emit("response.content_part.done", { part: writtenPart(part) });
    this.#done.push(writtenPart(part));
    this.#part = null;
  }

  #emit(type: string, fields: Json): void {
    this.#at.emit(type, { item_id: this.#at.id, content_index: this.#done.length, ...fields });
  }
}

function writtenPart({ kind, text, annotations, logprobs }: Part): Json {
  if (kind === "refusal") return { type: kind, refusal: text };
  return { type: kind, text, annotations: [...annotations], logprobs: [...logprobs] };
}

type Detail = { -readonly [Key in "text" | "signature" | "data" | "summary" | "id" | "format"]?: string } & {
  type: string;
};

/** Thoughts before an answer, as a summary or in full, with what their provider needs back. */
export class ReasoningItem implements Item {
  readonly type = "reasoning";
  readonly #at: ItemParts;
  readonly #details = new Map<unknown, Detail>();
  readonly #done: Json[] = [];
  /** Whether the text is sent as a summary: clients that asked for one read nothing else. */
  #summary: boolean;
  /** The part that grows; null before the first. */
  #part: { readonly key: unknown; text: string } | null = null;
  #text = "";

  constructor(at: ItemParts, summary: boolean) {
    this.#at = at;
    this.#summary = summary;
    at.emit("response.output_item.added", {
      item: { type: "reasoning", id: at.id, status: "in_progress", ...at.native, summary: [] },
    });
  }

  /** @param key of the part that the text belongs to; left out: the one that grows. */
  think(delta: string, summary: boolean, key?: unknown): void {
    if (this.#text === "") this.#summary = summary;
    if (this.#part !== null && key !== undefined && key !== this.#part.key) this.#closePart();
    if (this.#part === null) {
      this.#part = { key, text: "" };
      this.#emitPart("added", "");
    }
    this.#part.text += delta;
    this.#text += delta;
    this.#emit(this.#summary ? "response.reasoning_summary_text.delta" : "response.reasoning_text.delta", { delta });
  }

  /** Adds a delta of a detail to those under the same index. */
  detail(piece: Json): void {
    const { type, index } = piece;
    if (typeof type !== "string") return;
    const key = index ?? this.#details.size;
    const detail = this.#details.get(key) ?? { type };
    this.#details.set(key, detail);
    for (const name of ["text", "summary", "data"] as const) {
      const value = piece[name];
      if (typeof value === "string") detail[name] = (detail[name] ?? "") + value;
    }
    for (const name of ["signature", "id", "format"] as const) {
      const value = piece[name];
      if (typeof value === "string") detail[name] = value;
    }
  }

  close(status: ItemStatus): Json {
    this.#closePart();
    const { id, native } = this.#at;
    const encrypted = seal(this.#canonical());
    const item = {
      type: "reasoning",
      id,
      status,
      ...native,
      summary: this.#summary ? this.#done : [],
      ...(!this.#summary && { content: this.#done }),
      ...(encrypted !== null && { encrypted_content: encrypted }),
    };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }

  #closePart(): void {
    if (this.#part === null) return;
    const { text } = this.#part;
    this.#emit(`response.${this.#summary ? "reasoning_summary_text" : "reasoning_text"}.done`, { text });
    this.#emitPart("done", text);
    this.#done.push(this.#written(text));
    this.#part = null;
  }

  #emitPart(what: "added" | "done", text: string): void {
    const name = this.#summary ? "reasoning_summary_part" : "content_part";
    this.#emit(`response.${name}.${what}`, { part: this.#written(text) });
  }

  #written(text: string): Json {
    return { type: this.#summary ? "summary_text" : "reasoning_text", text };
  }

  #emit(type: string, fields: Json): void {
    const index = this.#summary ? "summary_index" : "content_index";
    this.#at.emit(type, { item_id: this.#at.id, [index]: this.#done.length, ...fields });
  }

  /** A signature whose text came only as `reasoning_content` is one of that text. */
  #canonical(): readonly ReasoningDetail[] {
    const details = [...this.#details.values()];
    const signed = details.filter(({ type }) => type === "reasoning.text");
    if (signed.length === 1 && signed[0]!.text === undefined) signed[0]!.text = this.#text;
    return details.flatMap((detail) => canonical(detail) ?? []);
  }
}

function canonical({ type, text = "", signature, data, summary, id, format }: Detail): ReasoningDetail | null {
  const named = { ...(id !== undefined && { id }), ...(format !== undefined && { format }) };
  if (type === "reasoning.text") return { type, text, ...(signature !== undefined && { signature }) };
  if (type === "reasoning.encrypted" && data !== undefined) return { type, data, ...named };
  if (type === "reasoning.summary" && summary !== undefined) return { type, summary, ...named };
  return null;
}

/** A call of one of the client's functions. */
export class FunctionItem implements Item {
  readonly type = "function_call";
  readonly #at: ItemParts;
  readonly #call: Json;
  #arguments = "";

  constructor(at: ItemParts, callId: string, tool: ToolName) {
    this.#at = at;
    this.#call = head(this.type, at, callId, tool);
    at.emit("response.output_item.added", { item: { ...this.#call, arguments: "", status: "in_progress" } });
  }

  add(delta: string): void {
    if (delta === "") return;
    this.#arguments += delta;
    this.#at.emit("response.function_call_arguments.delta", { item_id: this.#at.id, delta });
  }

  close(status: ItemStatus): Json {
    // No arguments are an empty object; cut off before the first one they are nothing.
    if (this.#arguments === "" && status === "completed") this.add("{}");
    const { name } = this.#call;
    const ended = { arguments: this.#arguments };
    this.#at.emit("response.function_call_arguments.done", { item_id: this.#at.id, name, ...ended });
    const item = { ...this.#call, ...ended, status };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }
}

/** What arguments of one text begin with, as far as the text. */
const WRAPPED = /^\s*\{\s*"input"\s*:\s*"/;
/** What can be read of a JSON text that goes on: whole characters and escapes, up to its end. */
const READABLE = /(?:[^"\\]+|\\(?:u[\da-fA-F]{4}|[^u]))*/y;
/** The first half of a character that comes as two escapes or units. */
const HALF = /(?:\\u[dD][89abAB][\da-fA-F]{2}|[\uD800-\uDBFF])$/;

/** A call of one of the client's tools that take free text, which stands in JSON while it comes. */
export class CustomItem implements Item {
  readonly type = "custom_tool_call";
  readonly #at: ItemParts;
  readonly #call: Json;
  #arguments = "";
  /** Of the arguments: where the text that was not sent yet begins; -1 before it has begun. */
  #next = -1;
  #sent = "";

  constructor(at: ItemParts, callId: string, tool: ToolName) {
    this.#at = at;
    this.#call = head(this.type, at, callId, tool);
    at.emit("response.output_item.added", { item: { ...this.#call, input: "" } });
  }

  add(delta: string): void {
    this.#arguments += delta;
    if (this.#next < 0) this.#next = WRAPPED.exec(this.#arguments)?.[0].length ?? -1;
    if (this.#next < 0) return;
    READABLE.lastIndex = this.#next;
    const text = READABLE.exec(this.#arguments)?.[0] ?? "";
    const whole = text.slice(0, text.length - (HALF.exec(text)?.[0].length ?? 0));
    const read = parseJson(`"${whole}"`);
    if (typeof read !== "string") return;
    this.#next += whole.length;
    this.#send(read);
  }

  close(): Json {
    const input = freeformInput(this.#arguments);
    // Arguments in another shape are known at their end.
    if (input.startsWith(this.#sent)) this.#send(input.slice(this.#sent.length));
    this.#at.emit("response.custom_tool_call_input.done", { item_id: this.#at.id, input });
    const item = { ...this.#call, input };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }

  #send(delta: string): void {
    if (delta === "") return;
    this.#sent += delta;
    this.#at.emit("response.custom_tool_call_input.delta", { item_id: this.#at.id, delta });
  }
}

/** What a call says of itself from its beginning to its end. */
function head(type: string, { id, native }: ItemParts, callId: string, { name, namespace }: ToolName): Json {
  return { type, id, call_id: callId, name, ...(namespace !== undefined && { namespace }), ...native };
}

/** The base64 of an inlined image; null for one that is somewhere else. */
export function inlined(url: string): string | null {
  const data = readDataUrl(url);
  return data?.type.startsWith("image/") ? data.base64 : null;
}

/** An image that the model made. It comes whole. */
export class ImageItem implements Item {
  readonly type = "image_generation_call";
  readonly #at: ItemParts;
  readonly #result: string;

  constructor(at: ItemParts, result: string) {
    this.#at = at;
    this.#result = result;
    const call = { type: "image_generation_call", id: at.id };
    at.emit("response.output_item.added", { item: { ...call, status: "in_progress", result: null } });
    at.emit("response.image_generation_call.in_progress", { item_id: at.id });
  }

  close(): Json {
    const item = { type: "image_generation_call", id: this.#at.id, status: "completed", result: this.#result };
    this.#at.emit("response.image_generation_call.completed", { item_id: this.#at.id });
    this.#at.emit("response.output_item.done", { item });
    return item;
  }
}
