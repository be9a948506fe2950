import type { Json } from "../../kit/index.ts";
import type { AnswerCodec } from "../dialect.ts";
import { malformed } from "../errors.ts";
import { pick } from "../fields.ts";
import { multipartForm } from "../multipart.ts";
import { parseAnswer } from "../requests.ts";
import type { Cue } from "../subtitles.ts";
import { droppedOfForm } from "../audio/form.ts";
import { withKey } from "./requests.ts";
import { segmentsOf } from "../audio/segments.ts";
import { readCues, seconds, transcript } from "../audio/transcript.ts";

/** `tag_audio_events` is ElevenLabs' own. */
const CARRIED = ["language", "temperature", "tag_audio_events"];

/** Transcription with times of every word; noises are not written into the text unless the client asks for them. */
export const transcription = {
  type: "answer",

  request({ body, upload }, target, apiKey) {
    if (upload === undefined) throw new TypeError("a transcription has no upload");
    const fields = {
      model_id: target.model,
      timestamps_granularity: "word",
      tag_audio_events: false,
      ...pick(body, ["temperature", "tag_audio_events"], { language: "language_code" }),
    };
    const written = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
    const form = multipartForm(written, ["file", upload]);
    const headers = { "content-type": form.contentType, accept: "application/json" };
    const request = { method: "POST", path: "/v1/speech-to-text", headers, body: form.body } as const;
    return { ...withKey(request, apiKey), dropped: droppedOfForm(body, CARRIED) };
  },

  answer(bytes) {
    const { text, words: entries, language_code: language, audio_duration_secs: measured } = parseAnswer(bytes);
    if (typeof text !== "string") throw malformed("an answer without text");
    const words = readCues(entries ?? [], "words", wordOf);
    return transcript({
      text,
      language,
      duration: seconds(measured) ?? endOf(words),
      words,
      segments: segmentsOf(text, words),
    });
  },

  decoder: null,
} satisfies AnswerCodec;

/** The space between words is an entry of its own. */
function wordOf({ type, text }: Json): unknown {
  return type === "spacing" ? "" : text;
}

/** Older models do not measure the audio: it is as long as somebody speaks. */
function endOf(words: readonly Cue[]): number | null {
  return words.length === 0 ? null : words.reduce((latest, { end }) => Math.max(latest, end), 0);
}
