import type { Json } from "../kit/index.ts";

/** Those of the named fields that a body has, some under other names; null stands for "not given". */
export function pick(body: Json, names: readonly string[], renamed: Readonly<Record<string, string>> = {}): Json {
  const wanted = [...names.map((name) => [name, name] as const), ...Object.entries(renamed)];
  const fields = wanted.map(([name, upstream]) => [upstream, body[name]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null));
}

/** The body without those of the named fields that are null: strict upstreams refuse it where OpenAI's API does not. */
export function withoutNulls(body: Json, names: readonly string[]): Json {
  if (names.every((name) => body[name] !== null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || !names.includes(name)));
}

/** What a dialect reads of an assistant message, and what only says something of the answer it once was. */
export const ASSISTANT_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "refusal",
  "tool_calls",
  "annotations",
  "block_order",
  "cache_control",
]);
