import type { ByteCodec } from "../dialect.ts";
import { postJson } from "../canonical/requests.ts";

/** What OpenAI announces for each `response_format`. */
const TYPES: ReadonlyMap<unknown, string> = new Map([
  ["mp3", "audio/mpeg"],
  ["opus", "audio/opus"],
  ["aac", "audio/aac"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
]);
const AUDIO = /^audio\/[\w!#$&^.+-]+ *(?:;[\x20-\x7e]*)?$/i;
const BYTES = /^application\/octet-stream *(?:;|$)/i;

/** Text to speech, the upstream half; the canonical shape is the same, so nothing is translated. */
export const speech = {
  type: "bytes",

  request(call, target, apiKey) {
    return postJson("/audio/speech", apiKey, { ...call.body, model: target.model }, "*/*");
  },

  contentType(upstream, call) {
    if (AUDIO.test(upstream)) return upstream;
    return BYTES.test(upstream) ? (TYPES.get(call.body["response_format"]) ?? "audio/mpeg") : null;
  },
} satisfies ByteCodec;
