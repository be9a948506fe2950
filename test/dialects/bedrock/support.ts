import { EventStreamCodec } from "@smithy/eventstream-codec";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import type { AnswerCodec, UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { AttemptError, type Call, type Json } from "../../../src/kit/index.ts";
import { type Decoding, decodeWith } from "../decode.ts";
import { call as plainCall, target } from "../../upstream/support/build.ts";

/** At an upstream that accepts tiers, which are rates. */
const accepting = bedrock.at!({ baseUrl: "", headers: {}, accepts: { fields: ["service_tier"] } });
export const codec = accepting.codecs.chat as AnswerCodec;
export const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/** A call with these messages and fields; the rest of the call as `changes` say. */
export function chatCall(body: Json, changes: Partial<Call> = {}): Call {
  const whole = { messages: [{ role: "user", content: "hi" }], ...body, model: "route/m" };
  return plainCall({ body: whole, ...changes });
}

export interface Written {
  readonly request: UpstreamRequest;
  readonly body: Json;
  readonly dropped: readonly string[];
}

/** What a call becomes for a model of Bedrock's. */
export function write(call: Call, model = CLAUDE, key = "key"): Written {
  const request = codec.request(call, target({ model }), key);
  return { request, body: JSON.parse(request.body as string) as Json, dropped: request.dropped ?? [] };
}

const frames = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : new TextDecoder().decode(input)),
  (input) => new TextEncoder().encode(input),
);

/** One frame of an event stream. */
export function frame(headers: Readonly<Record<string, string>>, body: string): Uint8Array {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  return frames.encode({ headers: Object.fromEntries(typed), body: new TextEncoder().encode(body) });
}

/** A recorded event, `{<type>: payload}`, as a frame. */
export function eventFrame(event: Json): Uint8Array {
  const [[type, payload] = ["", {}]] = Object.entries(event);
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return frame(headers, JSON.stringify(payload));
}

export function exceptionFrame(type: string, message: string): Uint8Array {
  const headers = { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" };
  return frame(headers, JSON.stringify({ message }));
}

export function stream(...events: readonly Json[]): Uint8Array {
  return Buffer.concat(events.map(eventFrame));
}

/** How something ends: the class of failure, or what else was thrown; "done" when nothing was. */
export function outcome(run: () => unknown): string {
  try {
    run();
    return "done";
  } catch (error) {
    return error instanceof AttemptError ? error.failure : String(error);
  }
}

/** What may become of any answer whatever. */
export const OUTCOMES = /^(done|protocol|status|timeout)$/;
/** What a decoder makes of a body that arrives in these pieces and then ends. */
export function decode(pieces: readonly Uint8Array[], from: AnswerCodec = codec): Decoding {
  return decodeWith(from.decoder!(chatCall({}, { stream: true })), pieces);
}
