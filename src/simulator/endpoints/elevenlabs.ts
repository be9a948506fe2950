import { isJson } from "../../kit/index.ts";
import { AUDIO } from "../audio/formats.ts";
import type { AudioFormat } from "../audio/formats.ts";
import { SimError } from "../error.ts";
import { parseText } from "../fields.ts";
import { jsonReply } from "../reply.ts";
import { jsonOf } from "./endpoint.ts";
import type { Asked, Received } from "./endpoint.ts";
import { hear } from "./hearing.ts";
import { spoken } from "./speech.ts";
import type { Spoken } from "./subtitles.ts";
import { describe, parseForm } from "./transcription.ts";

const MODEL = "eleven_multilingual_v2";
/** What may be asked for: a codec, a rate, and for some a bit rate. */
const FORMATS: readonly (readonly [RegExp, AudioFormat])[] = [
  [/^mp3_(?:22050_32|24000_48|44100_(?:32|64|96|128|192))$/, AUDIO.mp3],
  [/^opus_48000_(?:32|64|96|128|192)$/, AUDIO.opus],
  [/^wav_(?:8000|16000|22050|24000|32000|44100|48000)$/, AUDIO.wav],
  [/^(?:pcm_(?:8000|16000|22050|24000|32000|44100|48000)|[ua]law_8000)$/, AUDIO.pcm],
];
const SLOWEST = 0.7;
const FASTEST = 1.2;

/** `POST /v1/text-to-speech/{voice}` and `…/stream`. Any voice will do. */
export function readTextToSpeech(received: Received): Asked {
  const body = jsonOf(received);
  const text = parseText("text", body["text"]);
  const { model_id: model = MODEL, voice_settings: settings } = body;
  if (typeof model !== "string" || model === "") throw bad("model_not_found", "A model with this ID does not exist.");
  const name = received.query.get("output_format") ?? "mp3_44100_128";
  const [, format] = FORMATS.find(([pattern]) => pattern.test(name)) ?? [];
  if (!format) throw bad("invalid_output_format", `Output format '${name}' is not supported.`);
  const speed = isJson(settings) ? (settings["speed"] ?? 1) : 1;
  if (typeof speed !== "number" || speed < SLOWEST || speed > FASTEST)
    throw bad(
      "invalid_voice_settings",
      "Invalid setting for speed received, expected to be greater or equal to 0.7 and less or equal to 1.2.",
    );
  return { model, sim: body["sim"], reply: (script) => spoken(text, format, speed, script) };
}

/** `POST /v1/speech-to-text`: the space between words is an entry of its own. */
export async function readSpeechToText(received: Received): Promise<Asked> {
  const form = await parseForm(received);
  const model = form.get("model_id");
  if (typeof model !== "string" || model === "") throw new SimError(422, "model_id: Field required");
  const file = form.get("file");
  if (!(file instanceof File))
    throw bad("invalid_parameters", "Must provide either file or cloud_storage_url parameter.");
  if (file.size === 0) throw bad("empty_file", "The uploaded file is empty.");
  const bytes = Buffer.from(await file.arrayBuffer());
  const { text, words, milliseconds } = hear(file.name, bytes);
  const language = form.get("language_code");
  return {
    model,
    sim: form.get("sim") ?? undefined,
    upload: describe(file, bytes, form),
    reply: (script) => {
      const seconds = script["usage.seconds"] ?? milliseconds / 1_000;
      const body = {
        language_code: typeof language === "string" ? language : "eng",
        language_probability: 1,
        text,
        words: words.flatMap((word, index) =>
          index === 0 ? [entry(word, "word")] : [spaceBefore(word), entry(word, "word")],
        ),
        ...(!script.no_usage && { audio_duration_secs: seconds }),
      };
      const claims = script.no_usage ? undefined : { seconds };
      return jsonReply(200, { data: JSON.stringify(body), claims, units: { milliseconds } });
    },
  };
}

function bad(code: string, message: string): SimError {
  return new SimError(400, message, { code });
}

function entry({ text, start, end }: Spoken, type: "word" | "spacing"): object {
  return { text, start: start / 1_000, end: end / 1_000, type, speaker_id: "speaker_0", logprob: 0 };
}

function spaceBefore({ start }: Spoken): object {
  return entry({ text: " ", start, end: start }, "spacing");
}
