import { isJson, type Json } from "../kit/index.ts";

/** A list, empty for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list. */
export function objects(value: unknown): readonly Json[] {
  return list(value).filter(isJson);
}

/** Adds the items to the list. Not `push(...items)`: a call takes some hundred thousand arguments, and a client sends more. */
export function append<Item>(to: Item[], items: Iterable<Item>): void {
  for (const item of items) to.push(item);
}

/** A text, empty for anything else. */
export function text(value: unknown): string {
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
export function beside(object: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !names.has(name) && value !== null));
}
