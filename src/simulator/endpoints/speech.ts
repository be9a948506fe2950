import { hash } from "node:crypto";
import { isJson } from "../../kit/index.ts";
import { countTokens } from "../answer.ts";
import {
  byteReply,
  jsonOf,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  type Reply,
  streamReply,
  tokensClaimed,
  tokenUsage,
} from "../endpoint.ts";
import { oneOf, parseModel, parseText, SimError, wrong } from "../fields.ts";
import type { Script } from "../script.ts";
import { AUDIO, type AudioFormat, SAMPLE_RATE_HZ } from "./audio.ts";

const OPENAI_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

/** `POST /audio/speech`. Any voice will do. */
export function readSpeech(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const input = parseText("input", body["input"]);
  if (!isJson(body["voice"])) parseText("voice", body["voice"]);
  const format: AudioFormat = AUDIO[oneOf("response_format", body["response_format"], OPENAI_FORMATS)];
  const stream = oneOf("stream_format", body["stream_format"], ["audio", "sse"]);
  const speed = body["speed"] ?? 1;
  if (typeof speed !== "number" || speed < 0.25 || speed > 4) throw wrong("speed", "a number from 0.25 to 4", speed);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const spoken = speechReply(input, format, speed, script);
      return stream === "sse" ? streamReply(audioEvents(spoken, input, script)) : spoken;
    },
  };
}

/** The parts of a sound as events, and what they cost. */
function* audioEvents({ parts }: Reply<Uint8Array>, input: string, script: Script): Generator<Part<string>> {
  let tokens = 0;
  for (const { data, units } of parts) {
    tokens++;
    const audio = Buffer.from(data).toString("base64");
    yield { data: `data: ${JSON.stringify({ type: "speech.audio.delta", audio })}\n\n`, ...(units && { units }) };
  }
  const claims = tokensClaimed(script) ?? { prompt: countTokens(input), completion: tokens };
  const usage = script.no_usage ? undefined : tokenUsage(claims);
  yield { data: `data: ${JSON.stringify({ type: "speech.audio.done", usage })}\n\n` };
}

const ELEVENLABS_MODEL = "eleven_multilingual_v2";
/** What ElevenLabs may be asked for: a codec, a rate, and for some a bit rate. */
const ELEVENLABS_FORMATS: readonly (readonly [RegExp, AudioFormat])[] = [
  [/^mp3_(?:22050_32|24000_48|44100_(?:32|64|96|128|192))$/, AUDIO.mp3],
  [/^opus_48000_(?:32|64|96|128|192)$/, AUDIO.opus],
  [/^wav_(?:8000|16000|22050|24000|32000|44100|48000)$/, AUDIO.wav],
  [/^(?:pcm_(?:8000|16000|22050|24000|32000|44100|48000)|[ua]law_8000)$/, AUDIO.pcm],
];

/** `POST /v1/text-to-speech/{voice}` and `…/stream` of ElevenLabs. Any voice will do. */
export function readTextToSpeech(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const text = parseText("text", body["text"]);
  const { model_id: model = ELEVENLABS_MODEL, voice_settings: settings } = body;
  if (typeof model !== "string" || model === "")
    throw elevenlabsRefusal("model_not_found", "A model with this ID does not exist.");
  const name = received.query.get("output_format") ?? "mp3_44100_128";
  const [, format] = ELEVENLABS_FORMATS.find(([pattern]) => pattern.test(name)) ?? [];
  if (!format) throw elevenlabsRefusal("invalid_output_format", `Output format '${name}' is not supported.`);
  const speed = isJson(settings) ? (settings["speed"] ?? 1) : 1;
  if (typeof speed !== "number" || speed < 0.7 || speed > 1.2)
    throw elevenlabsRefusal(
      "invalid_voice_settings",
      "Invalid setting for speed received, expected to be greater or equal to 0.7 and less or equal to 1.2.",
    );
  return { model, sim: body["sim"], reply: (script) => speechReply(text, format, speed, script) };
}

function elevenlabsRefusal(code: string, message: string): SimError {
  return new SimError(400, message, { code });
}

const DEEPGRAM_VOICE = "aura-asteria-en";
/** What an encoding of Deepgram may be asked for with; the first container is its own. */
interface Encoding {
  readonly containers: readonly string[];
  /** Whether its rate may be chosen. */
  readonly rated: boolean;
  readonly format: AudioFormat;
}
const DEEPGRAM_ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ["mp3", { containers: [], rated: false, format: AUDIO.mp3 }],
  ["opus", { containers: ["ogg"], rated: false, format: AUDIO.opus }],
  ["flac", { containers: [], rated: true, format: AUDIO.flac }],
  ["aac", { containers: [], rated: false, format: AUDIO.aac }],
  ["linear16", { containers: ["wav", "none"], rated: true, format: AUDIO.wav }],
]);

/** `POST /v1/speak` of Deepgram: all but the text is in the query; the model is the voice. */
export function readSpeak(received: ReceivedRequest): ParsedRequest {
  const { query } = received;
  const { text, sim } = jsonOf(received);
  if (typeof text !== "string" || text === "")
    throw new SimError(400, "Bad Request: the request body must contain a 'text' that is not empty");
  const format = deepgramFormat(query);
  return {
    model: query.get("model") ?? DEEPGRAM_VOICE,
    sim: sim ?? query.get("sim") ?? undefined,
    reply: (script) => speechReply(text, format, 1, script),
  };
}

function deepgramFormat(query: URLSearchParams): AudioFormat {
  const encoding = DEEPGRAM_ENCODINGS.get(query.get("encoding") ?? "mp3");
  if (!encoding) throw unsupported("encoding is not supported");
  const container = query.get("container") ?? encoding.containers[0];
  if (container !== undefined && !encoding.containers.includes(container))
    throw unsupported("`container` is not applicable to this encoding");
  const rate = query.get("sample_rate");
  if (rate !== null && !encoding.rated) throw unsupported("`sample_rate` is not applicable to this encoding");
  if (container !== "none") return encoding.format;
  return { ...AUDIO.pcm, contentType: `audio/l16;rate=${rate ?? "24000"};channels=1` };
}

function unsupported(what: string): SimError {
  return new SimError(400, `Unsupported audio format: ${what}`, { code: "UNSUPPORTED_AUDIO_FORMAT" });
}

/** The sound of a code point takes 48 ms. */
const SAMPLES_PER_CHARACTER = (SAMPLE_RATE_HZ * 48) / 1_000;
/** A body has as many parts; those of a longer text grow, up to as many frames. */
const USUAL_PARTS = 64;
const MAXIMUM_PART_FRAMES = 64;

/** Sound of a length in proportion to the text, in parts. */
function speechReply(text: string, format: AudioFormat, speed: number, script: Script): Reply<Uint8Array> {
  const characters = Array.from(text).length;
  const frames = Math.ceil((characters * SAMPLES_PER_CHARACTER) / speed / format.samples);
  const seed = Number.parseInt(hash("sha256", text).slice(0, 8), 16);
  return byteReply(format.contentType, audioParts(format, frames, seed, characters, script));
}

function* audioParts(
  format: AudioFormat,
  usualFrames: number,
  seed: number,
  characters: number,
  { chunks, chunk_bytes = 0 }: Script,
): Generator<Part<Uint8Array>> {
  const share = Math.ceil(usualFrames / (chunks || USUAL_PARTS));
  const size = Math.max(
    1,
    Math.ceil(chunk_bytes / format.bytes),
    chunks === undefined ? Math.min(share, MAXIMUM_PART_FRAMES) : share,
  );
  const frames = chunks === undefined ? usualFrames : chunks * size;
  for (let from = 0; from < frames; from += size) {
    const count = Math.min(size, frames - from);
    const sound = Array.from({ length: count }, (_, index) => format.frame(from + index, frames, seed));
    if (from > 0) yield { data: Buffer.concat(sound) };
    else
      yield { data: Buffer.concat([format.head?.(frames, seed) ?? Buffer.alloc(0), ...sound]), units: { characters } };
  }
}
