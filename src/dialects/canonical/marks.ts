import { isJson, type Json } from "../../kit/index.ts";
import { list, objects, pick } from "./json.ts";
import type { Report } from "./report.ts";

/*
 * Marks that end a prefix to cache: `cache_control` in Anthropic's form, `prompt_cache_breakpoint` in OpenAI's. A target
 * gets them in its own form, and a client is told each that a target does not take.
 */

export const MARKS = ["cache_control", "prompt_cache_breakpoint"] as const;

type MarkField = (typeof MARKS)[number];

/** A mark of an item in Anthropic's form, and the field that the client wrote it in; null: it has none. */
export function markOf(item: Json): { readonly field: MarkField; readonly mark: Json } | null {
  const { cache_control: control, prompt_cache_breakpoint: breakpoint } = item;
  if (isJson(control)) return { field: "cache_control", mark: control };
  return isJson(breakpoint) ? { field: "prompt_cache_breakpoint", mark: { type: "ephemeral" } } : null;
}

/** The marks of an item as they are. */
export function marksOf(item: Json): Json {
  return pick(item, MARKS);
}

/** Tells each mark of a canonical body, for a dialect that has none. */
export function dropMarks(body: Json, report: Report): void {
  const drop = (item: unknown, at: string): void => {
    if (isJson(item)) for (const field of MARKS) if (isJson(item[field])) report.drop(`${at}/${field}`);
  };
  for (const [index, message] of list(body["messages"]).entries()) {
    const at = `/messages/${index}`;
    drop(message, at);
    if (!isJson(message)) continue;
    // A text is not looked at: a long one would be decoded for nothing.
    const content: unknown = Object.getOwnPropertyDescriptor(message, "content")?.value;
    for (const [place, part] of list(content).entries()) drop(part, `${at}/content/${place}`);
    for (const [place, call] of objects(message["tool_calls"]).entries()) drop(call, `${at}/tool_calls/${place}`);
  }
  for (const [index, tool] of list(body["tools"]).entries()) drop(tool, `/tools/${index}`);
}
