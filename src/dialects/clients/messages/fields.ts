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
