import { messagesFormat, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import {
  type AnswerExtras,
  type Bill,
  isJson,
  type Json,
  type StreamEvent,
  type StreamFormat,
  type Usage,
} from "../../../../src/kit/index.ts";

export const ROUTE = "route/a";

export function usage(prompt: number, completion: number, more: Partial<Usage> = {}): Usage {
  return { prompt, completion, cached: 0, reasoning: 0, ...more };
}

export const bill: Bill = { usage: usage(7, 5), estimated: true, charge: 1n };
export const extras: AnswerExtras = { id: "x-1", created: 1, provider: "P", latencyMs: 1, bill };

export function request(more: Json = {}): Json {
  return { model: ROUTE, max_tokens: 100, messages: [{ role: "user", content: "hi" }], ...more };
}

export function streamFormat(): StreamFormat {
  return messagesFormat(readMessages(request({ stream: true }))).stream;
}

/** A message as a client gets it from a complete canonical answer. */
export function answered(body: Json): Json {
  return JSON.parse(messagesFormat(readMessages(request())).answer(body, extras)) as Json;
}

/** The canonical answer with this message. */
export function answer(message: Json, choice: Json = { finish_reason: "stop" }, more: Json = {}): Json {
  const whole = { role: "assistant", content: null, ...message };
  return {
    id: "c1",
    object: "chat.completion",
    model: "up",
    choices: [{ index: 0, message: whole, ...choice }],
    ...more,
  };
}

/** What engines that write recursively throw for a value nested too deeply. */
export function unwritable(): never {
  throw new RangeError("Maximum call stack size exceeded");
}

/** A canonical chunk. */
export function chunk(delta: Json, choice: Json = { finish_reason: null }, counted?: Usage): StreamEvent {
  const data = {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "up",
    choices: [{ index: 0, delta, ...choice }],
  };
  return { data, text: "", ...(counted === undefined ? {} : { usage: counted }) };
}

export const finish = (reason: string, more: Json = {}): StreamEvent => chunk({}, { finish_reason: reason, ...more });

export const said = (content: string): StreamEvent => chunk({ content });
export const begun = (index: number, name: string, args = "", more: Json = {}): StreamEvent =>
  chunk({
    tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args }, ...more }],
  });
export const args = (index: number, text: string): StreamEvent =>
  chunk({ tool_calls: [{ index, function: { arguments: text } }] });
export const thought = (index: number, detail: Json): StreamEvent =>
  chunk({ reasoning_details: [{ type: "reasoning.text", index, ...detail }] });

/** The whole text of a stream that ends cleanly. */
export function written(events: readonly StreamEvent[]): string {
  const format = streamFormat();
  return events.map((event) => format.event(event)).join("") + format.done(bill);
}

/** The payloads of a stream. @throws when a frame is none. */
export function frames(text: string): readonly Json[] {
  if (text !== "" && !text.endsWith("\n\n")) throw new Error("the last frame is not closed");
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((frame) => {
      const parts = /^event: (\w+)\ndata: ([^\n\r]*)$/.exec(frame);
      if (parts === null) throw new Error(`no frame: ${frame}`);
      const data = JSON.parse(parts[2]!) as Json;
      if (data["type"] !== parts[1]) throw new Error(`event ${parts[1]} is not ${String(data["type"])}`);
      return data;
    });
}

/** What a client makes of a stream. @throws for anything that its rules forbid. */
export function assembled(payloads: readonly Json[]): { readonly message: Json; readonly content: readonly Json[] } {
  const events = payloads.filter(({ type }) => type !== "ping");
  const [start, ...rest] = events;
  if (start?.["type"] !== "message_start" || !isJson(start["message"])) throw new Error("no message_start");
  const content: Record<string, unknown>[] = [];
  const json: string[] = [];
  let open = false;
  let last: Json | null = null;
  let stopped = false;
  for (const event of rest) {
    if (stopped) throw new Error("something after message_stop");
    if (last !== null && event["type"] !== "message_stop") throw new Error("something after message_delta");
    switch (event["type"]) {
      case "content_block_start":
        if (open || event["index"] !== content.length) throw new Error(`block ${String(event["index"])} out of turn`);
        content.push({ ...(event["content_block"] as Json) });
        json.push("");
        open = true;
        break;
      case "content_block_delta":
        if (!open || event["index"] !== content.length - 1) throw new Error("a delta of no open block");
        apply(content.at(-1)!, event["delta"] as Json, json);
        break;
      case "content_block_stop":
        if (!open || event["index"] !== content.length - 1) throw new Error("the end of no open block");
        open = false;
        break;
      case "message_delta":
        if (open) throw new Error("a block is open at the end");
        last = event;
        break;
      case "message_stop":
        stopped = true;
        break;
      default:
        throw new Error(`unknown ${String(event["type"])}`);
    }
  }
  if (last === null || !stopped) throw new Error("no ending");
  content.forEach((block, index) => {
    if ("input" in block && json[index] !== "") block["input"] = parsed(json[index]!);
  });
  const { type: _, delta, ...beside } = last;
  return { content, message: { ...start["message"], ...beside, ...(delta as Json), content } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { _raw: text };
  }
}

function apply(block: Record<string, unknown>, delta: Json, json: string[]): void {
  const append = (name: string): void => {
    if (delta[name] === "" || typeof delta[name] !== "string") throw new Error(`an empty ${name}`);
    block[name] = String(block[name]) + delta[name];
  };
  switch (`${String(block["type"])} ${String(delta["type"])}`) {
    case "text text_delta":
      return append("text");
    case "thinking thinking_delta":
      return append("thinking");
    case "thinking signature_delta":
      block["signature"] = delta["signature"];
      return;
    case "text citations_delta":
      block["citations"] = [...((block["citations"] as readonly unknown[] | undefined) ?? []), delta["citation"]];
      return;
    default:
      if (delta["type"] !== "input_json_delta" || !("input" in block)) throw new Error("a delta of another kind");
      json[json.length - 1] += String(delta["partial_json"]);
  }
}
