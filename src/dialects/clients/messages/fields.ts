import { isJson, type Json } from "../../../kit/index.ts";
import { withNative } from "../../anthropic/native.ts";

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objects(value: unknown): readonly Json[] {
  return list(value).filter(isJson);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** `{name: value}`, or nothing where the value is null or not given. */
export function given(name: string, value: unknown): Json {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** The further fields of a Messages object, as its canonical counterpart carries them; null stands for "not given". */
export function leftover(fields: Json): Json {
  return withNative(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
}

/** The object without the named fields. */
export function omit(object: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));
}

/*
 * Encrypted reasoning of the Responses API goes back with the id of its item and to those alone that can read it, and a
 * block has no place for either: they stand before the data, as `responses1.<format>.<id>.<data>`.
 */
const OF_ITEM = /^responses1\.([\w-]*)\.([\w-]*)\./;
const WORD = /^[\w-]*$/;

/** The `data` of a block for a detail of encrypted reasoning. */
export function sealedData({ data, id, format = "" }: Json): string {
  const known = typeof id === "string" && WORD.test(id) && typeof format === "string" && WORD.test(format);
  return known ? `responses1.${format}.${id}.${text(data)}` : text(data);
}

/** The fields of the detail that a block's `data` stands for. */
export function unsealedData(sealed: string): Json {
  const [head, format, id] = OF_ITEM.exec(sealed) ?? [];
  if (head === undefined) return { data: sealed };
  return { data: sealed.slice(head.length), id, ...(format !== "" && { format }) };
}
