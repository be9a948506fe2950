import { hash } from "node:crypto";
import { isJson } from "../../kit/index.ts";
import { AUDIO, RATE } from "../audio/formats.ts";
import type { AudioFormat } from "../audio/formats.ts";
import { jsonOf } from "./endpoint.ts";
import type { Asked, Received } from "./endpoint.ts";
import { oneOf, parseModel, parseText, wrong } from "../fields.ts";
import type { Part } from "../part.ts";
import { byteReply, type Reply } from "../reply.ts";
import type { Script } from "../script.ts";

const FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
/** Of each code point: 48 ms. */
const SAMPLES = (RATE * 48) / 1_000;
/** Of a longer text the pieces grow, up to as many frames. */
const PIECES = 64;
const LARGEST = 64;

/** `POST /audio/speech`: sound of a length in proportion to the text, in pieces. Any voice will do. */
export function readSpeech(received: Received): Asked {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const input = parseText("input", body["input"]);
  if (!isJson(body["voice"])) parseText("voice", body["voice"]);
  const format: AudioFormat = AUDIO[oneOf("response_format", body["response_format"], FORMATS)];
  oneOf("stream_format", body["stream_format"], ["audio"]);
  const speed = body["speed"] ?? 1;
  if (typeof speed !== "number" || speed < 0.25 || speed > 4) throw wrong("speed", "a number from 0.25 to 4", speed);
  return { model, sim: body["sim"], reply: (script) => spoken(input, format, speed, script) };
}

/** The sound of a text. `contentType` stands for the format's own. */
export function spoken(
  text: string,
  format: AudioFormat,
  speed: number,
  script: Script,
  contentType = format.contentType,
): Reply<Uint8Array> {
  const characters = Array.from(text).length;
  const frames = Math.ceil((characters * SAMPLES) / speed / format.samples);
  const seed = Number.parseInt(hash("sha256", text).slice(0, 8), 16);
  return byteReply(contentType, pieces(format, frames, seed, characters, script));
}

function* pieces(
  format: AudioFormat,
  wanted: number,
  seed: number,
  characters: number,
  { chunks, chunk_bytes = 0 }: Script,
): Generator<Part<Uint8Array>> {
  const share = Math.ceil(wanted / (chunks || PIECES));
  const size = Math.max(
    1,
    Math.ceil(chunk_bytes / format.bytes),
    chunks === undefined ? Math.min(share, LARGEST) : share,
  );
  const frames = chunks === undefined ? wanted : chunks * size;
  for (let from = 0; from < frames; from += size) {
    const count = Math.min(size, frames - from);
    const piece = Array.from({ length: count }, (_, index) => format.frame(from + index, frames, seed));
    if (from === 0) yield { data: Buffer.concat([format.head(frames, seed), ...piece]), units: { characters } };
    else yield { data: Buffer.concat(piece) };
  }
}
