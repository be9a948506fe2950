import { isJson } from "../../src/kit/index.ts";

/** Every place of a value, the elements of a list being one: `choices[].delta.role`. Contents of `free` are not looked at. */
export function placesOf(value: unknown, free: ReadonlySet<string> = new Set(), at = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => placesOf(item, free, `${at}[]`));
  if (!isJson(value)) return [at];
  if (free.has(at)) return [at];
  const inner = Object.entries(value).flatMap(([key, item]) => placesOf(item, free, at === "" ? key : `${at}.${key}`));
  return at === "" ? inner : [at, ...inner];
}
