import { cohere } from "../../../src/dialects/cohere/index.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import type { Call, Json } from "../../../src/kit/index.ts";
import { target } from "../../upstream/support/build.ts";
import type { Decoding } from "../decode.ts";
import { decode as decodeWith, type Written } from "../bedrock/support.ts";

export const codec = cohere.codecs.chat as AnswerCodec;

/** @param model by default one that thinks and sees. */
export function write(call: Call, model = "command-a-plus"): Written {
  const request = codec.request(call, target({ model }), "key");
  return { request, body: JSON.parse(request.body as string) as Json, dropped: request.dropped ?? [] };
}

/** The events as Cohere frames them. */
export function stream(...events: readonly Json[]): Uint8Array {
  const frames = events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  return new TextEncoder().encode(frames.join(""));
}

export function decode(pieces: readonly Uint8Array[]): Decoding {
  return decodeWith(pieces, codec);
}
