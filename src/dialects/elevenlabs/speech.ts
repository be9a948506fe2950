import { invalidRequest, isJson, type Json } from "../../kit/index.ts";
import type { ByteCodec } from "../dialect.ts";
import { pick } from "../fields.ts";
import { speech as openai } from "../openai/speech.ts";
import { dropped } from "../pointers.ts";
import { postJson } from "../requests.ts";
import { paceWithin } from "../audio/pace.ts";
import { withKey } from "./requests.ts";

/** `output_format` for each `response_format`; WAV and PCM at the rate of OpenAI's, which every plan may ask for. */
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ["mp3", "mp3_44100_128"],
  ["opus", "opus_48000_64"],
  ["wav", "wav_24000"],
  ["pcm", "pcm_24000"],
]);
/** What ElevenLabs knows beyond the canonical fields, under the same names. */
const OWN = ["language_code", "seed", "previous_text", "next_text", "apply_text_normalization"];
const CARRIED: ReadonlySet<string> = new Set(["input", "voice", "response_format", "speed", "stream_format", ...OWN]);
const SLOWEST = 0.7;
const FASTEST = 1.2;

/** Text to speech: the voice is part of the path, the format a query. A `speed` out of bounds is brought to the nearest. */
export const speech = {
  type: "bytes",

  request({ body }, target, apiKey) {
    const format = FORMATS.get(body["response_format"] ?? "mp3");
    if (format === undefined) throw invalidRequest("/response_format", `must be ${formats()} for this model`);
    const { speed, exact } = paceWithin(body["speed"], SLOWEST, FASTEST);
    const { voice_settings: own, ...rest } = body;
    const settings: Json = { ...(isJson(own) && own), ...(speed !== null && { speed }) };
    const written = {
      text: body["input"],
      model_id: target.model,
      ...pick(body, OWN),
      ...(Object.keys(settings).length > 0 && { voice_settings: settings }),
    };
    const path = `/v1/text-to-speech/${voiceSegment(body["voice"])}?output_format=${format}`;
    return {
      ...withKey(postJson(path, "", written, "*/*"), apiKey),
      dropped: [...dropped(isJson(own) ? rest : body, CARRIED), ...(exact ? [] : ["/speed"])],
    };
  },

  contentType: (upstream, call) => openai.contentType(upstream, call),
} satisfies ByteCodec;

function formats(): string {
  const names = [...FORMATS.keys()];
  return `${names.slice(0, -1).join(", ")} or ${String(names.at(-1))}`;
}

/** @throws GatewayError for what is no segment of a path: it would lead elsewhere, or has no UTF-8. */
function voiceSegment(voice: unknown): string {
  if (typeof voice !== "string" || /^\.{0,2}$/.test(voice) || !voice.isWellFormed()) {
    throw invalidRequest("/voice", "must be the id of a voice");
  }
  return encodeURIComponent(voice);
}
