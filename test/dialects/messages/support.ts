import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, StreamReader } from "../../../src/dialects/dialect.ts";
import { type Call, isJson, type Json, type StreamEvent, type Target } from "../../../src/kit/index.ts";

export const chat = anthropic.codecs.chat as AnswerCodec;

/** At an upstream whose `accepts` names these fields and tools. */
export function accepting(fields: readonly string[] = []): AnswerCodec {
  return anthropic.at!({ baseUrl: "", headers: {}, accepts: { fields } }).codecs.chat as AnswerCodec;
}

export function decoderOf(call: Call): StreamReader {
  return chat.decoder!(call);
}

export function target(model: string): Target {
  const timeouts = { connect: 1, firstByte: 1, idle: 1, total: 1 };
  return { upstream: "a", model, weight: 1, timeouts, contextWindow: null, features: [] };
}

export function callOf(body: Json, more: Partial<Call> = {}): Call {
  return { ...readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...body }), ...more };
}

export const CHAT = callOf({ stream: true });
export const MESSAGES = callOf({ stream: true }, { dialect: "messages" });

/** The cases of a folder: every file is an object of them, by name. */
export function cases(folder: string): readonly (readonly [string, unknown])[] {
  const path = new URL(`${folder}/`, import.meta.url).pathname;
  return globSync("*.json", { cwd: path })
    .toSorted()
    .flatMap((file) => {
      const group = JSON.parse(readFileSync(join(path, file), "utf8")) as Json;
      return Object.entries(group).map(([name, one]) => [`${basename(file, ".json")}: ${name}`, one] as const);
    });
}

export interface Decoding {
  readonly events: readonly StreamEvent[];
  readonly fault: { readonly failure: string; readonly message: string } | null;
  readonly done: boolean;
  readonly complete: boolean;
}

/** What the decoder makes of a body that arrives in these pieces and then ends. */
export function decode(pieces: readonly Uint8Array[], call: Call): Decoding {
  const decoder = decoderOf(call);
  const events = pieces.flatMap((piece) => decoder.feed(piece));
  events.push(...decoder.finish());
  const { fault, done, complete } = decoder;
  return { events, fault: fault && { failure: fault.failure, message: fault.message }, done, complete };
}

/** A stream of these events as it comes over the wire. */
export function framed(events: readonly Json[]): Uint8Array {
  const frames = events.map(
    (event) => `event: ${typeof event["type"] === "string" ? event["type"] : ""}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return new TextEncoder().encode(frames.join(""));
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

const word = (value: unknown): string => (typeof value === "string" ? value : "");

/** The message that a client puts together from canonical chunks. */
export function assembled(events: readonly StreamEvent[]): { readonly message: Json; readonly choice: Json } {
  let [content, thought] = ["", ""];
  const calls: { id: unknown; type: unknown; function: { name: string; arguments: string } }[] = [];
  const details: Record<string, unknown>[] = [];
  const annotations: Json[] = [];
  let choice: Json = {};
  let refusal = "";
  for (const each of events.flatMap(({ data }) => list(data["choices"]))) {
    const delta = isJson(each["delta"]) ? each["delta"] : {};
    content += word(delta["content"]);
    thought += word(delta["reasoning_content"]);
    refusal += word(delta["refusal"]);
    annotations.push(...list(delta["annotations"]));
    for (const { index, type, text, ...rest } of list(delta["reasoning_details"])) {
      const detail = (details[Number(index)] ??= { type, ...(type === "reasoning.text" ? { text: "" } : {}) });
      if (typeof text === "string") detail["text"] = word(detail["text"]) + text;
      Object.assign(detail, rest);
    }
    for (const { index, id, type, function: called } of list(delta["tool_calls"])) {
      const call = (calls[Number(index)] ??= { id, type, function: { name: "", arguments: "" } });
      const { name, arguments: args } = isJson(called) ? called : {};
      call.function.name += word(name);
      call.function.arguments += word(args);
    }
    if (each["finish_reason"] !== null) choice = each;
  }
  const message = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(thought === "" ? {} : { reasoning_content: thought }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(refusal === "" ? {} : { refusal }),
  };
  return { message, choice };
}
