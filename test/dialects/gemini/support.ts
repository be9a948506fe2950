import { readChat } from "../../../src/dialects/chat/client.ts";
import { chat } from "../../../src/dialects/gemini/index.ts";
import { type Call, isJson, type Json, type StreamEvent } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { type Decoding, decodeWith } from "../decode.ts";

export const MODEL = "gemini-2.5-flash";
export const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

export function callOf(body: Json = {}): Call {
  return readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...body });
}

export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly dropped: readonly string[];
}

/** What goes to the upstream for a call. */
export function send(call: Call, model = MODEL, apiKey = "k"): Sent {
  const { path, headers, body, dropped = [] } = chat.request(call, testTarget("alpha", { model }), apiKey);
  return { path, headers, body: JSON.parse(body as string) as Json, dropped };
}

/** An event stream of these payloads. */
export function sse(payloads: readonly unknown[], newline = "\n"): Uint8Array {
  return bytes(payloads.map((one) => `data: ${JSON.stringify(one)}${newline}${newline}`).join(""));
}

/** What the decoder makes of a body that arrives in these pieces and then ends. */
export function decode(pieces: readonly Uint8Array[], call: Call = callOf({ stream: true })): Decoding {
  return decodeWith(chat.decoder(call), pieces);
}

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
export const words = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a client puts together from chunks; written apart from the codec's own. */
export function reassemble(events: readonly StreamEvent[]): Json {
  const messages = new Map<number, Record<string, unknown>>();
  const ends = new Map<number, Json>();
  let usage: unknown = null;
  for (const { data } of events) {
    usage = data["usage"] ?? usage;
    for (const choice of list(data["choices"])) {
      const index = Number(choice["index"]);
      const delta = isJson(choice["delta"]) ? choice["delta"] : {};
      const message = messages.get(index) ?? {};
      messages.set(index, message);
      if (delta["role"] !== undefined) message["role"] = delta["role"];
      for (const key of ["content", "reasoning_content"]) {
        if (delta[key] !== undefined) message[key] = words(message[key]) + words(delta[key]);
      }
      for (const { index: at, ...call } of list(delta["tool_calls"])) put(message, "tool_calls", Number(at), call);
      for (const { index: at, ...detail } of list(delta["reasoning_details"])) {
        const before =
          list(message["reasoning_details"])[Number(at)] ?? (detail["type"] === "reasoning.text" ? { text: "" } : {});
        const text = "text" in before ? { text: words(before["text"]) + words(detail["text"]) } : {};
        put(message, "reasoning_details", Number(at), { ...before, ...detail, ...text });
      }
      for (const key of ["images", "annotations"]) {
        if (delta[key] !== undefined) message[key] = [...list(message[key]), ...list(delta[key])];
      }
      if (choice["finish_reason"] !== null) {
        const { finish_reason, native_finish_reason } = choice;
        ends.set(index, { index, finish_reason, native_finish_reason });
      }
    }
  }
  const choices = [...messages].map(([index, message]) => ({
    ...ends.get(index),
    message: { role: "assistant", content: null, ...message },
  }));
  return { choices, usage };
}

function put(message: Record<string, unknown>, key: string, at: number, item: Json): void {
  const items = [...list(message[key])];
  items[at] = item;
  message[key] = items;
}
