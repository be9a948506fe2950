import { isJson, type Json } from "./json.ts";
import type { Usage } from "./money.ts";
import type { StreamEvent } from "./reply.ts";

/*
 * One answer to a chat in its two forms: complete, and as the events of a stream. What stands in only one of them, such as
 * an upstream's own events, would be lost: such an answer has no other form.
 */

/** Texts that deltas add to; lists that they append to. */
const TEXTS: ReadonlySet<string> = new Set(["content", "reasoning_content", "refusal"]);
const LISTS: ReadonlySet<string> = new Set(["annotations", "images"]);
/** Lists whose items come in pieces, each under its index. */
const PIECES: ReadonlySet<string> = new Set(["reasoning_details", "tool_calls"]);
/** Fields of items that come in pieces; the others come once. */
const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data", "arguments", "input"]);

/** The complete answer that a stream's events make; null where it has none. */
export function answerOfEvents(events: readonly StreamEvent[]): Json | null {
  const choices = new Map<unknown, Choice>();
  let answer: Json = {};
  let usage: unknown;
  for (const { data } of events) {
    const { choices: listed, object: _object, usage: counted, ...head } = data;
    answer = { ...head, ...answer };
    if (isJson(counted)) usage = counted;
    for (const piece of objects(listed)) {
      const choice = choices.get(piece["index"]) ?? new Choice();
      choices.set(piece["index"], choice);
      if (!choice.add(piece)) return null;
    }
  }
  if (choices.size === 0) return null;
  const whole = [...choices.values()].map((choice) => choice.whole());
  return { ...answer, object: "chat.completion", choices: whole, ...(usage !== undefined && { usage }) };
}

/** One choice, put together of its deltas. */
class Choice {
  #fields: Json = {};
  readonly #message: Record<string, unknown> = { role: "assistant", content: null };
  readonly #pieces = new Map<string, Map<unknown, Json>>();
  #logprobs: Record<string, unknown> | null = null;

  /** @returns false for what has no place in a complete answer. */
  add({ delta, finish_reason: finish, logprobs, ...fields }: Json): boolean {
    this.#fields = { ...this.#fields, ...fields, ...(typeof finish === "string" && { finish_reason: finish }) };
    if (isJson(logprobs)) this.#logprobs = { ...this.#logprobs, ...appended(this.#logprobs ?? {}, logprobs) };
    return !isJson(delta) || Object.entries(delta).every(([name, value]) => this.#addField(name, value));
  }

  whole(): Json {
    const pieces = [...this.#pieces].map(([name, byIndex]) => [name, [...byIndex.values()].map(withoutIndex)] as const);
    const message = { ...this.#message, ...(Object.fromEntries(pieces) as Json) };
    return { ...this.#fields, message, ...(this.#logprobs !== null && { logprobs: this.#logprobs }) };
  }

  #addField(name: string, value: unknown): boolean {
    if (name === "role" || value === null || value === undefined) return true;
    if (TEXTS.has(name) && typeof value === "string") {
      const before = this.#message[name];
      // The empty text of a first delta says nothing: calls come without a content.
      if (value !== "") this.#message[name] = (typeof before === "string" ? before : "") + value;
      return true;
    }
    if (!Array.isArray(value)) return false;
    if (LISTS.has(name)) Object.assign(this.#message, appended(this.#message, { [name]: value }));
    else if (PIECES.has(name)) for (const piece of objects(value)) this.#addPiece(name, piece);
    else return false;
    return true;
  }

  #addPiece(name: string, piece: Json): void {
    let byIndex = this.#pieces.get(name);
    if (byIndex === undefined) this.#pieces.set(name, (byIndex = new Map()));
    const key = piece["index"];
    byIndex.set(key, grown(byIndex.get(key) ?? {}, piece));
  }
}

function appended(before: Json, lists: Json): Json {
  const joined = Object.entries(lists).map(([name, list]) => {
    const first = before[name];
    return [name, Array.isArray(first) && Array.isArray(list) ? [...first, ...list] : (list ?? first ?? null)] as const;
  });
  return Object.fromEntries(joined) as Json;
}

function grown(item: Json, piece: Json): Json {
  const fields: Record<string, unknown> = { ...item };
  for (const [name, value] of Object.entries(piece)) {
    const before = fields[name];
    if (isJson(value)) fields[name] = grown(isJson(before) ? before : {}, value);
    else if (GROWING.has(name) && typeof value === "string")
      fields[name] = (typeof before === "string" ? before : "") + value;
    else fields[name] = value;
  }
  return fields;
}

function withoutIndex({ index: _index, ...item }: Json): Json {
  return item;
}

/** The events of a stream that a complete answer makes; null where it has none. @param usage what the last one counts. */
export function eventsOfAnswer(body: Json, usage: Usage): readonly StreamEvent[] | null {
  const { choices, usage: counted, object: _object, ...fields } = body;
  const listed = objects(choices);
  if (listed.length === 0 || "native" in fields) return null;
  const head = { ...fields, object: "chat.completion.chunk" };
  const events: StreamEvent[] = [];
  for (const { message, logprobs, finish_reason, ...choice } of listed) {
    const deltas = isJson(message) ? deltasOf(message) : null;
    if (deltas === null) return null;
    for (const delta of deltas) {
      const told = typeof delta["content"] === "string" && delta["content"] !== "" && isJson(logprobs) && { logprobs };
      const one = { index: choice["index"], delta, ...told, finish_reason: null };
      events.push({ data: { ...head, choices: [one] }, text: textOf(delta) });
    }
    events.push({ data: { ...head, choices: [{ ...choice, delta: {}, finish_reason }] }, text: "" });
  }
  if (isJson(counted)) events.push({ data: { ...head, choices: [], usage: counted }, text: "", usage });
  return events;
}

/** The deltas of a message, thoughts first; null where it has more than they can say. */
function deltasOf({ role: _role, ...message }: Json): readonly Json[] | null {
  const { reasoning_content, reasoning_details, ...rest } = message;
  const deltas: Json[] = [{ role: "assistant", content: "" }];
  const thoughts = {
    ...(isText(reasoning_content) && { reasoning_content }),
    ...(Array.isArray(reasoning_details) && { reasoning_details: indexed(reasoning_details) }),
  };
  if (Object.keys(thoughts).length > 0) deltas.push(thoughts);
  for (const [name, value] of Object.entries(rest)) {
    if (value === null || value === undefined || value === "") continue;
    if (TEXTS.has(name) && typeof value === "string") deltas.push({ [name]: value });
    else if (name === "tool_calls" && Array.isArray(value)) deltas.push({ tool_calls: indexed(value) });
    else if (LISTS.has(name)) deltas.push({ [name]: value });
    else return null;
  }
  return deltas;
}

function indexed(items: readonly unknown[]): readonly Json[] {
  return objects(items).map((item, index) => ({ index, ...item }));
}

function textOf(delta: Json): string {
  return ["content", "reasoning_content", "refusal"].map((name) => (isText(delta[name]) ? delta[name] : "")).join("");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
