import type { AnswerFormat, Call, Json } from "../../kit/index.ts";
import { withoutNulls } from "../canonical/json.ts";
import { postJson } from "../canonical/requests.ts";
import type { ByteCodec } from "../dialect.ts";

const OPTIONAL = ["response_format", "speed", "instructions", "stream_format"];

/** The canonical call of a speech body that its schema has accepted. */
export function readSpeech(body: Json): Call {
  const input = String(body["input"]);
  return {
    kind: "speech",
    model: String(body["model"]),
    stream: false,
    body: withoutNulls(body, OPTIONAL),
    promptBytes: Buffer.byteLength(input),
    maxOutput: 0,
    units: { characters: codePoints(input) },
  };
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Speech is relayed as the upstream sends it: there is nothing to write and nothing that costs tokens. */
export function speechFormat(_call: Call): AnswerFormat {
  return {
    contentType: "application/octet-stream",
    answer() {
      throw new TypeError("speech is relayed as bytes");
    },
    promptText: () => "",
    producedText: () => "",
    stream: null,
  };
}

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

interface Speed {
  /** null: the voice's own. */
  readonly speed: number | null;
  /** Whether it is what the client asked for. */
  readonly exact: boolean;
}

/** A client's `speed` as near as a provider with these bounds comes to it. */
export function speedWithin(asked: unknown, min: number, max: number): Speed {
  if (typeof asked !== "number" || asked === 1) return { speed: null, exact: true };
  const speed = Math.min(Math.max(asked, min), max);
  return { speed: speed === 1 ? null : speed, exact: speed === asked };
}
