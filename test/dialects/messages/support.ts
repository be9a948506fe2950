import { anthropic } from "../../../src/dialects/messages/index.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, StreamReader } from "../../../src/dialects/dialect.ts";
import { type Call, isJson, type Json, type StreamEvent, type Target } from "../../../src/kit/index.ts";

import { assemble } from "../assemble.ts";
import { type Cases, casesOfFiles } from "../cases.ts";
import { type Decoding, decodeWith } from "../decode.ts";

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
export const cases = (folder: string): readonly (readonly [string, unknown])[] =>
  (casesOfFiles(new URL(`${folder}/`, import.meta.url)) as Cases<Json>).flatMap(([file, group]) =>
    Object.entries(group).map(([name, one]) => [`${file}: ${name}`, one] as const),
  );

/** What the decoder makes of a body that arrives in these pieces and then ends. */
export const decode = (pieces: readonly Uint8Array[], call: Call): Decoding => decodeWith(decoderOf(call), pieces);

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

/** The message that a client puts together from canonical chunks. */
export function assembled(events: readonly StreamEvent[]): { readonly message: Json; readonly choice: Json } {
  const choice = assemble(events.map(({ data }) => data));
  return { message: choice["message"] as Json, choice };
}
