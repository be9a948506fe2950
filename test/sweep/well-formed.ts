import { isJson, type Json } from "../../src/kit/index.ts";
import type { FormatName } from "../e2e/support/formats.ts";

/** What is wrong with the form of an answer, whole or streamed; empty when nothing is. */
export function misshapen(format: FormatName, streamed: boolean, text: string): readonly string[] {
  if (!streamed) return problemsOf(() => WHOLE[format](parse(text)));
  return problemsOf(() => STREAMED[format](text));
}

class Misshapen extends Error {}

function problemsOf(check: () => void): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Misshapen || error instanceof SyntaxError) return [error.message];
    throw error;
  }
}

function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (!holds) throw new Misshapen(found === undefined ? what : `${what}: ${JSON.stringify(found)?.slice(0, 200)}`);
}

const parse = (text: string): Json => JSON.parse(text) as Json;
const object = (value: unknown): Json => (isJson(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

const FINISHES = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);
const STOPS = new Set(["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"]);

const WHOLE: Readonly<Record<FormatName, (answer: Json) => void>> = {
  chat(answer) {
    must(answer["object"] === "chat.completion", "object", answer["object"]);
    const choices = list(answer["choices"]);
    must(choices.length > 0, "no choice");
    for (const choice of choices) {
      must(FINISHES.has(String(choice["finish_reason"])), "finish_reason", choice["finish_reason"]);
      const message = object(choice["message"]);
      must(message["role"] === "assistant", "role", message["role"]);
      const calls = list(message["tool_calls"]);
      must("content" in message, "a message without content");
      for (const { id, type, function: made, custom } of calls)
        if (type === "custom") checkCustomCall(id, object(custom));
        else checkCall(id, object(made));
      must(calls.length > 0 === (choice["finish_reason"] === "tool_calls"), "calls and finish_reason differ", choice);
    }
    must(typeof object(answer["usage"])["prompt_tokens"] === "number", "no usage");
  },
  messages(answer) {
    must(answer["type"] === "message" && answer["role"] === "assistant", "not a message");
    must(STOPS.has(String(answer["stop_reason"])), "stop_reason", answer["stop_reason"]);
    const blocks = list(answer["content"]);
    for (const block of blocks) checkBlock(block);
    const calls = blocks.some(({ type }) => type === "tool_use");
    must(calls === (answer["stop_reason"] === "tool_use"), "calls and stop_reason differ", answer["stop_reason"]);
    must(typeof object(answer["usage"])["input_tokens"] === "number", "no usage");
  },
  responses: (answer) => checkResponse(answer),
};

function checkCall(id: unknown, { name, arguments: input }: Json): void {
  must(typeof id === "string" && id !== "", "a call without an id", id);
  must(typeof name === "string" && name !== "", "a call without a name", name);
  must(typeof input === "string" && isJson(parse(input)), "arguments that are no object", input);
}

function checkCustomCall(id: unknown, { name, input }: Json): void {
  must(typeof id === "string" && id !== "", "a call without an id", id);
  must(typeof name === "string" && name !== "", "a call without a name", name);
  must(typeof input === "string", "an input that is no text", input);
}

function checkBlock(block: Json): void {
  switch (block["type"]) {
    case "text":
      return must(typeof block["text"] === "string", "a text block without text");
    case "thinking":
      return must(typeof block["thinking"] === "string" && typeof block["signature"] === "string", "thinking", block);
    case "redacted_thinking":
      return must(typeof block["data"] === "string", "redacted_thinking", block);
    case "tool_use":
      must(typeof block["id"] === "string" && typeof block["name"] === "string", "tool_use", block);
      return must(isJson(block["input"]), "tool_use without input", block);
    default:
      must(/^server_tool_use$|_tool_result$/.test(String(block["type"])), "an unknown block", block);
  }
}

function checkResponse(answer: Json): void {
  must(answer["object"] === "response", "object", answer["object"]);
  must(["completed", "incomplete"].includes(String(answer["status"])), "status", answer["status"]);
  const output = list(answer["output"]);
  must(output.length > 0, "no output");
  for (const item of output) checkItem(item);
  must(typeof object(answer["usage"])["input_tokens"] === "number", "no usage");
}

function checkItem(item: Json): void {
  must(typeof item["id"] === "string", "an item without an id", item);
  switch (item["type"]) {
    case "message":
      must(item["role"] === "assistant", "role", item["role"]);
      for (const part of list(item["content"]))
        must(["output_text", "refusal"].includes(String(part["type"])), "a part", part);
      return;
    case "function_call":
      return checkCall(item["call_id"], item);
    case "custom_tool_call":
      return must(typeof item["call_id"] === "string" && typeof item["input"] === "string", "custom_tool_call", item);
    case "reasoning":
      return must(Array.isArray(item["summary"]), "reasoning without summary", item);
    default:
      must(/_call$|_output$/.test(String(item["type"])), "an unknown item", item);
  }
}

interface Event {
  /** Empty where the stream names none. */
  readonly name: string;
  readonly data: string;
}

function eventsIn(text: string): readonly Event[] {
  must(text.endsWith("\n\n"), "the stream does not end with an event");
  return text
    .slice(0, -2)
    .split("\n\n")
    .filter((frame) => !frame.startsWith(":"))
    .map((frame) => {
      const [, name = "", data] = /^(?:event: ([^\n]*)\n)?data: ([^\n]*)$/.exec(frame) ?? [];
      must(data !== undefined, "a frame", frame);
      return { name, data };
    });
}

const STREAMED: Readonly<Record<FormatName, (text: string) => void>> = {
  chat(text) {
    const events = eventsIn(text);
    must(events.at(-1)?.data === "[DONE]", "no [DONE] at the end", events.at(-1)?.data);
    const chunks = events.slice(0, -1).map(({ data }) => parse(data));
    for (const chunk of chunks) must(chunk["object"] === "chat.completion.chunk", "not a chunk", chunk);
    const choices = Map.groupBy(
      chunks.flatMap(({ choices }) => list(choices)),
      ({ index }) => index,
    );
    must(choices.size > 0, "no choice");
    for (const pieces of choices.values()) checkChoice(pieces);
  },
  messages(text) {
    const events = eventsIn(text).map(({ name, data }) => {
      const event = parse(data);
      must(event["type"] === name, `event ${name}`, event);
      return event;
    });
    checkMessageEvents(events.filter(({ type }) => type !== "ping"));
  },
  responses(text) {
    const events = eventsIn(text).map(({ name, data }, index) => {
      const event = parse(data);
      must(event["type"] === name, `event ${name}`, event);
      must(event["sequence_number"] === index, `sequence_number at ${index}`, event["sequence_number"]);
      return event;
    });
    checkResponseEvents(events);
  },
};

/** Role first, one finish last, calls numbered from 0, each begun by its id and name. */
function checkChoice(pieces: readonly Json[]): void {
  must(object(pieces[0]?.["delta"])["role"] === "assistant", "the first delta has no role", pieces[0]);
  const finish = pieces.findIndex((piece) => (piece["finish_reason"] ?? null) !== null);
  must(finish === pieces.length - 1, "a finish_reason that is not the last", pieces[finish]);
  must(FINISHES.has(String(pieces[finish]?.["finish_reason"])), "finish_reason", pieces[finish]);
  const begun = new Map<unknown, { id: unknown; type: unknown; name: string; text: string }>();
  for (const call of pieces.flatMap(({ delta }) => list(object(delta)["tool_calls"]))) {
    const known = begun.get(call["index"]);
    const type = known?.type ?? call["type"];
    const made = object(call[type === "custom" ? "custom" : "function"]);
    if (known === undefined) {
      must(call["index"] === begun.size, "index of a call", call);
      must(
        ["function", "custom"].includes(String(type)) && typeof made["name"] === "string",
        "the first piece of a call",
        call,
      );
    }
    begun.set(call["index"], {
      id: known?.id ?? call["id"],
      type,
      name: (known?.name ?? "") + textOf(made["name"]),
      text: (known?.text ?? "") + textOf(made[type === "custom" ? "input" : "arguments"]),
    });
  }
  for (const { id, type, name, text } of begun.values())
    if (type === "custom") checkCustomCall(id, { name, input: text });
    else checkCall(id, { name, arguments: text });
  const calls = pieces[finish]?.["finish_reason"] === "tool_calls";
  must(begun.size > 0 === calls, "calls and finish_reason differ", pieces[finish]);
}

function checkMessageEvents(events: readonly Json[]): void {
  const [first, ...rest] = events;
  must(first?.["type"] === "message_start", "no message_start first", first);
  must(isJson(object(first["message"])["usage"]), "message_start without usage", first);
  const last = rest.at(-1);
  must(last?.["type"] === "message_stop", "no message_stop at the end", last);
  const delta = rest.at(-2);
  must(delta?.["type"] === "message_delta", "no message_delta before the end", delta);
  must(STOPS.has(String(object(delta["delta"])["stop_reason"])), "stop_reason", delta);
  let open = false;
  let count = 0;
  for (const event of rest.slice(0, -2)) {
    must(event["index"] === (open ? count - 1 : count) || !("index" in event), "index", event);
    switch (event["type"]) {
      case "content_block_start":
        must(!open, "a block within a block", event);
        checkBlock({ input: {}, ...object(event["content_block"]) });
        open = true;
        count += 1;
        break;
      case "content_block_delta":
        must(open, "a delta without a block", event);
        break;
      case "content_block_stop":
        must(open, "a stop without a block", event);
        open = false;
        break;
      default:
        must(false, "an unknown event", event);
    }
  }
  must(!open, "a block that does not end");
}

function checkResponseEvents(events: readonly Json[]): void {
  must(events[0]?.["type"] === "response.created", "no response.created first", events[0]);
  const last = events.at(-1);
  must(/^response\.(?:completed|incomplete)$/.test(String(last?.["type"])), "the last event", last);
  checkResponse(object(last?.["response"]));
  const output = list(object(last?.["response"])["output"]);
  const added = events.filter(({ type }) => type === "response.output_item.added");
  const done = events.filter(({ type }) => type === "response.output_item.done");
  must(added.length === output.length && done.length === output.length, "items added, done and told differ", [
    added.length,
    done.length,
    output.length,
  ]);
  for (const [index, event] of added.entries()) must(event["output_index"] === index, "output_index", event);
}
