import { isJson, type Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";

/** 400 about one place of the request. */
export function bad(at: string, what: string): SimError {
  return new SimError(400, `* GenerateContentRequest.${at}: ${what}`);
}

/** An object with no other names than these. @throws SimError 400 as the interface refuses what its messages do not have. */
export function message(value: unknown, at: string, names: readonly string[]): Json {
  if (!isJson(value)) throw new SimError(400, `Invalid value at '${at}', expected an object.`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  throw new SimError(400, `Invalid JSON payload received. Unknown name "${unknown}" at '${at}': Cannot find field.`);
}

/** A list, or nothing. @throws SimError 400 */
export function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new SimError(400, `Invalid value at '${at}', expected a list.`);
}
