import { isJson, type Json } from "../../kit/index.ts";

/** An object and its changes; copied at the first that is one. */
export class Edits {
  readonly #own: Json;
  #copy: Record<string, unknown> | null = null;

  constructor(own: Json) {
    this.#own = own;
  }

  /** The very same object where nothing changed. */
  get object(): Json {
    return this.#copy ?? this.#own;
  }

  set(name: string, value: unknown): void {
    if (this.object[name] === value) return;
    this.#copy ??= { ...this.#own };
    this.#copy[name] = value;
  }

  remove(name: string): void {
    if (!Object.hasOwn(this.object, name)) return;
    this.#copy ??= { ...this.#own };
    delete this.#copy[name];
  }
}

/** A list with its objects changed; anything else, and a list in which none changes, as it is. */
export function changed(list: unknown, change: (item: Json, index: number) => Json): unknown {
  if (!Array.isArray(list)) return list;
  let items: unknown[] | null = null;
  for (const [index, item] of list.entries()) {
    const now: unknown = isJson(item) ? change(item, index) : item;
    if (now !== item) items ??= list.slice(0, index);
    items?.push(now);
  }
  return items ?? list;
}
