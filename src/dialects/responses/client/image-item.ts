import type { Json } from "../../../kit/index.ts";
import { readDataUrl } from "../../canonical/data-url.ts";
import type { Item, ItemParts } from "./item.ts";

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
