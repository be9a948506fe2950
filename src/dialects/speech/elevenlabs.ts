import { invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { errorMessage as commonMessage, malformed, publicMessage } from "../canonical/errors.ts";
import { parseJson, pick } from "../canonical/json.ts";
import { dropped } from "../canonical/report.ts";
import { getJson, multipartForm, parseAnswer, postJson } from "../canonical/requests.ts";
import type { AnswerCodec, ByteCodec, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { speech as openai, speedWithin } from "../endpoints/speech.ts";
import { type Cue, droppedOfForm, readCues, seconds, segmentsOf, transcript } from "./transcript.ts";

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
const MIN_SPEED = 0.7;
const MAX_SPEED = 1.2;

/** Text to speech: the voice is part of the path, the format a query. A `speed` out of bounds is brought to the nearest. */
export const speech = {
  type: "bytes",

  request({ body }, target, apiKey) {
    const format = FORMATS.get(body["response_format"] ?? "mp3");
    if (format === undefined) throw invalidRequest("/response_format", `must be ${formats()} for this model`);
    const { speed, exact } = speedWithin(body["speed"], MIN_SPEED, MAX_SPEED);
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

/** `tag_audio_events` is ElevenLabs' own. */
const CARRIED_OF_FORM = ["language", "temperature", "tag_audio_events"];

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
    return { ...withKey(request, apiKey), dropped: droppedOfForm(body, CARRIED_OF_FORM) };
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

/** The words of `{detail: {status, message}}`, `{detail: "…"}` or `{detail: [{loc, msg}]}`, fit for a client. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body) || !isJson(body["detail"])) return commonMessage(bytes);
  const { message } = body["detail"];
  return typeof message === "string" ? publicMessage(message) : "";
}

/** A request with ElevenLabs' key; no header for an empty one. */
export function withKey<Request extends { readonly headers: UpstreamRequest["headers"] }>(
  request: Request,
  apiKey: string,
): Request {
  return apiKey === "" ? request : { ...request, headers: { ...request.headers, "xi-api-key": apiKey } };
}

/** ElevenLabs' API. The client's `voice` is a voice's id there. */
export const elevenlabs: UpstreamDialect = {
  name: "elevenlabs",
  codecs: { speech, transcription },
  probe: (apiKey) => withKey(getJson("/v1/models", ""), apiKey),
  errorMessage,
};
