import type { AnswerFormat, Call, Json } from "../../kit/index.ts";
import { withoutNulls } from "../canonical/json.ts";

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
