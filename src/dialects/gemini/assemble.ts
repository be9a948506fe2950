import { isJson, type Json } from "../../kit/index.ts";
import { append } from "../json-fields.ts";

/** A choice of a complete answer from all the choices of its deltas, in their order. */
export function assembled(choices: readonly Json[]): Json {
  let content = "";
  let reasoning = "";
  const details: Json[] = [];
  const lists: Record<string, Json[]> = { tool_calls: [], images: [], annotations: [] };
  const logprobs: unknown[] = [];
  let last: Json = {};
  for (const choice of choices) {
    const { delta, ...rest } = choice;
    last = rest;
    if (isJson(rest["logprobs"])) append(logprobs, jsons(rest["logprobs"]["content"]));
    if (!isJson(delta)) continue;
    content += words(delta["content"]);
    reasoning += words(delta["reasoning_content"]);
    for (const detail of jsons(delta["reasoning_details"])) addDetail(details, detail);
    for (const [name, items] of Object.entries(lists)) append(items, jsons(delta[name]));
  }
  const calls = lists["tool_calls"]!.map(unindexed);
  const { images = [], annotations = [] } = lists;
  const empty = content === "" && (calls.length > 0 || last["finish_reason"] === "content_filter");
  return {
    ...last,
    ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
    message: {
      role: "assistant",
      content: empty ? null : content,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details.map(unindexed) }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(images.length > 0 && { images }),
      ...(annotations.length > 0 && { annotations }),
    },
  };
}

/** Pieces of one detail share an index. */
function addDetail(details: Json[], piece: Json): void {
  const at = details.findIndex(({ index }) => index === piece["index"]);
  const before = details[at];
  if (before === undefined) {
    details.push(piece["type"] === "reasoning.text" ? { ...piece, text: piece["text"] ?? "" } : piece);
    return;
  }
  details[at] = { ...before, ...piece, text: words(before["text"]) + words(piece["text"]) };
}

/** Complete answers have their lists in order. */
function unindexed(item: Json): Json {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "index"));
}

function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function jsons(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
