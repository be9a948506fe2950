import type { Json } from "../../../kit/index.ts";
import type { ReasoningDetail } from "../../canonical.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";
import { seal } from "./reasoning.ts";

type Detail = { -readonly [Key in "text" | "signature" | "data" | "summary" | "id"]?: string } & { type: string };

/** Thoughts before an answer, shown as a summary or in full, with what their provider wants back. */
export class ReasoningItem implements Item {
  readonly type = "reasoning";
  readonly #at: ItemParts;
  readonly #summary: boolean;
  readonly #details = new Map<unknown, Detail>();
  #text = "";

  /** @param summary whether the text is shown as one: clients that asked for a summary read nothing else. */
  constructor(at: ItemParts, summary: boolean) {
    this.#at = at;
    this.#summary = summary;
    at.emit("response.output_item.added", {
      item: { type: "reasoning", id: at.id, status: "in_progress", summary: [] },
    });
  }

  think(delta: string): void {
    if (this.#text === "") this.#partAdded();
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
    for (const name of ["signature", "id"] as const) {
      const value = piece[name];
      if (typeof value === "string") detail[name] = value;
    }
  }

  close(status: ItemStatus): Json {
    const part = this.#part(this.#text);
    const shown = this.#text === "" ? [] : [part];
    if (shown.length > 0) this.#partDone(part);
    const encrypted = seal(this.#canonical());
    const item = {
      type: "reasoning",
      id: this.#at.id,
      status,
      summary: this.#summary ? shown : [],
      ...(!this.#summary && { content: shown }),
      ...(encrypted !== null && { encrypted_content: encrypted }),
    };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }

  #part(text: string): Json {
    return { type: this.#summary ? "summary_text" : "reasoning_text", text };
  }

  #partAdded(): void {
    const type = this.#summary ? "response.reasoning_summary_part.added" : "response.content_part.added";
    this.#emit(type, { part: this.#part("") });
  }

  #partDone(part: Json): void {
    const name = this.#summary ? "reasoning_summary_text" : "reasoning_text";
    this.#emit(`response.${name}.done`, { text: this.#text });
    this.#emit(this.#summary ? "response.reasoning_summary_part.done" : "response.content_part.done", { part });
  }

  #emit(type: string, fields: Json): void {
    const index = this.#summary ? "summary_index" : "content_index";
    this.#at.emit(type, { item_id: this.#at.id, [index]: 0, ...fields });
  }

  /** A signature whose text came only as `reasoning_content` is one of that text. */
  #canonical(): readonly ReasoningDetail[] {
    const details = [...this.#details.values()];
    const signed = details.filter(({ type }) => type === "reasoning.text");
    if (signed.length === 1 && signed[0]!.text === undefined) signed[0]!.text = this.#text;
    return details.flatMap((detail) => canonical(detail) ?? []);
  }
}

function canonical({ type, text = "", signature, data, summary, id }: Detail): ReasoningDetail | null {
  const named = id === undefined ? {} : { id };
  if (type === "reasoning.text") return { type, text, ...(signature !== undefined && { signature }) };
  if (type === "reasoning.encrypted" && data !== undefined) return { type, data, ...named };
  if (type === "reasoning.summary" && summary !== undefined) return { type, summary, ...named };
  return null;
}
