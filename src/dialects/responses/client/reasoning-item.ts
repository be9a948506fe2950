import type { Json } from "../../../kit/index.ts";
import type { ReasoningDetail } from "../../canonical/message.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";
import { seal } from "./reasoning.ts";

type Detail = { -readonly [Key in "text" | "signature" | "data" | "summary" | "id" | "format"]?: string } & {
  type: string;
};

/** Thoughts before an answer, shown as a summary or in full, with what their provider wants back. */
export class ReasoningItem implements Item {
  readonly type = "reasoning";
  readonly #at: ItemParts;
  readonly #details = new Map<unknown, Detail>();
  readonly #done: Json[] = [];
  /** Whether the text is shown as a summary: clients that asked for one read nothing else. */
  #summary: boolean;
  /** The part that grows; null before the first. */
  #part: { readonly key: unknown; text: string } | null = null;
  #text = "";

  constructor(at: ItemParts, summary: boolean) {
    this.#at = at;
    this.#summary = summary;
    at.emit("response.output_item.added", {
      item: { type: "reasoning", id: at.id, status: "in_progress", ...at.beside, summary: [] },
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

  /** Adds a piece of a detail to the pieces under the same index. */
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
    const { id, beside } = this.#at;
    const encrypted = seal(this.#canonical());
    const item = {
      type: "reasoning",
      id,
      status,
      ...beside,
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
    this.#done.push(this.#shown(text));
    this.#part = null;
  }

  #emitPart(what: "added" | "done", text: string): void {
    const name = this.#summary ? "reasoning_summary_part" : "content_part";
    this.#emit(`response.${name}.${what}`, { part: this.#shown(text) });
  }

  #shown(text: string): Json {
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
