import { isJson, type Json } from "../../../kit/index.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";

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

  say(kind: Kind, delta: string, logprobs: readonly Json[]): void {
    const part = this.#open(kind);
    part.text += delta;
    part.logprobs.push(...logprobs);
    const shown = kind === "output_text" ? { logprobs } : {};
    this.#emit(`response.${kind}.delta`, { delta, ...shown });
  }

  /** @param annotation in the form of chat completions; other kinds than citations of pages have no form there. */
  annotate(annotation: unknown): void {
    const citation = isJson(annotation) ? annotation["url_citation"] : null;
    if (!isJson(citation) || typeof citation["url"] !== "string") return;
    const { url, title, start_index: start, end_index: end } = citation;
    const shown = {
      type: "url_citation",
      url,
      title: typeof title === "string" ? title : "",
      start_index: Number.isInteger(start) ? start : 0,
      end_index: Number.isInteger(end) ? end : 0,
    };
    this.cite(shown);
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
    const { id, beside } = this.#at;
    return { type: "message", id, status, role: "assistant", ...beside, content: [...this.#done] };
  }

  #open(kind: Kind): Part {
    if (this.#part?.kind === kind) return this.#part;
    this.#closePart();
    const part: Part = { kind, text: "", annotations: [], logprobs: [] };
    this.#part = part;
    this.#emit("response.content_part.added", { part: shown(part) });
    return part;
  }

  #closePart(): void {
    const part = this.#part;
    if (part === null) return;
    const ended = part.kind === "refusal" ? { refusal: part.text } : { text: part.text, logprobs: part.logprobs };
    this.#emit(`response.${part.kind}.done`, ended);
    this.#emit("response.content_part.done", { part: shown(part) });
    this.#done.push(shown(part));
    this.#part = null;
  }

  #emit(type: string, fields: Json): void {
    this.#at.emit(type, { item_id: this.#at.id, content_index: this.#done.length, ...fields });
  }
}

function shown({ kind, text, annotations, logprobs }: Part): Json {
  if (kind === "refusal") return { type: kind, refusal: text };
  return { type: kind, text, annotations: [...annotations], logprobs: [...logprobs] };
}
