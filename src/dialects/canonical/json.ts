import { isJson, type Json } from "../../kit/index.ts";

const decoder = new TextDecoder();

/** The parsed value, or undefined when it is not JSON. */
export function parseJson(source: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof source === "string" ? source : decoder.decode(source)) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Runs what goes as deep into a value as it is nested: `JSON.parse` accepts deeper nesting than `JSON.stringify`, or any
 * recursion, can follow.
 * @param tooDeep whose fault that is: without it the client's own request would be answered 500.
 */
export function guardDepth<T>(run: () => T, tooDeep: () => Error): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
}

/** A list, empty for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Adds the items to the list. Not `push(...items)`: a call takes some hundred thousand arguments, and a client sends more. */
export function append<Item>(to: Item[], items: Iterable<Item>): void {
  for (const item of items) to.push(item);
}

/** The objects of a list. */
export function objects(value: unknown): readonly Json[] {
  return list(value).filter(isJson);
}

/** A text, empty for anything else. */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** `{name: value}`, or nothing where the value is null or not given. */
export function given(name: string, value: unknown): Json {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** The object without the named fields. */
export function omit(object: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));
}

/** The object without the named fields and those that are null, which stands for "not given". */
export function extraFields(object: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !names.has(name) && value !== null));
}

/** Those of the named fields that a body has, some under other names; null stands for "not given". */
export function pick(body: Json, names: readonly string[], renamed: Readonly<Record<string, string>> = {}): Json {
  const pairs = [...names.map((name) => [name, name] as const), ...Object.entries(renamed)];
  const fields = pairs.map(([name, upstream]) => [upstream, body[name]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null));
}

/** The body without those of the named fields that are null: strict upstreams refuse it where OpenAI's API does not. */
export function withoutNulls(body: Json, names: readonly string[]): Json {
  if (names.every((name) => body[name] !== null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || !names.includes(name)));
}

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

  /**
   * Without the fields that are null, which stands for "not given". A long text is not read for that.
   * @param kept the name of one that may be null.
   */
  removeNulls(kept = ""): void {
    const { object } = this;
    for (const name of Object.keys(object))
      if (name !== kept && Object.getOwnPropertyDescriptor(object, name)?.value === null) this.remove(name);
  }
}

/** A list with its objects changed; anything else, and a list in which none changes, as it is. */
export function changed(list: unknown, change: (item: Json, index: number) => Json): unknown {
  if (!Array.isArray(list)) return list;
  let items: unknown[] | null = null;
  for (let index = 0; index < list.length; index++) {
    const item: unknown = list[index];
    const now: unknown = isJson(item) ? change(item, index) : item;
    if (now !== item) items ??= list.slice(0, index);
    items?.push(now);
  }
  return items ?? list;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
