import { isJson } from "../../kit/index.ts";
import { message } from "./refusal.ts";

/** All that a schema in `parameters` or `responseSchema` may say: a part of OpenAPI's. */
const NAMES = (
  "type format title description nullable enum default example anyOf propertyOrdering properties " +
  "required minProperties maxProperties items minItems maxItems minLength maxLength pattern minimum " +
  "maximum"
).split(" ");

/** @throws SimError 400 for a schema that says more. */
export function checkSchema(value: unknown, at: string): void {
  const { properties, items, anyOf } = message(value, at, NAMES);
  if (isJson(properties)) {
    for (const [name, inner] of Object.entries(properties)) checkSchema(inner, `${at}.properties[${name}]`);
  }
  if (items !== undefined) checkSchema(items, `${at}.items`);
  if (Array.isArray(anyOf)) for (const [index, inner] of anyOf.entries()) checkSchema(inner, `${at}.any_of[${index}]`);
}
