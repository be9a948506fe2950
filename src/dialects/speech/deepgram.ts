import { invalidRequest, isJson, type Json, type Upload } from "../../kit/index.ts";
import { errorMessage as commonMessage, malformed, publicMessage } from "../canonical/errors.ts";
import { parseJson } from "../canonical/json.ts";
import { dropped } from "../canonical/report.ts";
import { getJson, parseAnswer, postJson } from "../canonical/requests.ts";
import type { AnswerCodec, ByteCodec, StreamedBody, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { speech as openai, speedWithin } from "../endpoints/speech.ts";
import { type Cue, droppedOfForm, readCues, seconds, segmentsOf, transcript } from "./transcript.ts";

type Query = Readonly<Record<string, string>>;

/** For each `response_format`; the compressed ones have a fixed rate, WAV and PCM get that of OpenAI's. */
const FORMATS: ReadonlyMap<unknown, Query> = new Map<unknown, Query>([
  ["mp3", { encoding: "mp3" }],
  ["opus", { encoding: "opus", container: "ogg" }],
  ["aac", { encoding: "aac" }],
  ["flac", { encoding: "flac" }],
  ["wav", { encoding: "linear16", container: "wav", sample_rate: "24000" }],
  ["pcm", { encoding: "linear16", container: "none", sample_rate: "24000" }],
]);
const CARRIED: ReadonlySet<string> = new Set(["input", "voice", "response_format", "speed", "stream_format"]);
/** Models whose speaking rate can be set. */
const WITH_SPEED = /^aura-2-.*-(?:en|es)$/;
const MIN_SPEED = 0.7;
const MAX_SPEED = 1.5;

/** Text to speech: all but the text is a query. A `speed` out of bounds is brought to the nearest. */
export const speech = {
  type: "bytes",

  request({ body }, target, apiKey) {
    const format = FORMATS.get(body["response_format"] ?? "mp3");
    if (format === undefined) {
      throw invalidRequest("/response_format", `must be one of ${[...FORMATS.keys()].join(", ")} for this model`);
    }
    const model = spokenModel(target.model, body["voice"]);
    const [min, max] = WITH_SPEED.test(model.name) ? [MIN_SPEED, MAX_SPEED] : [1, 1];
    const { speed, exact } = speedWithin(body["speed"], min, max);
    const query = new URLSearchParams({ model: model.name, ...format });
    if (speed !== null) query.set("speed", String(speed));
    return {
      ...withToken(postJson(`/v1/speak?${query.toString()}`, "", { text: body["input"] }, "*/*"), apiKey),
      dropped: [...dropped(body, CARRIED), ...(model.asked ? [] : ["/voice"]), ...(exact ? [] : ["/speed"])],
    };
  },

  contentType: (upstream, call) => openai.contentType(upstream, call),
} satisfies ByteCodec;

/** A model with its voice and language: `aura-2-thalia-en`. */
const WITH_VOICE = /.-[a-z]{2,}-[a-z]{2}$/i;
/** `thalia` or `thalia-en`. No digit begins it: `2-thalia-en` would turn `aura` into another family, at another price. */
const VOICE = /^[a-z]+(?:-[a-z]{2})?$/i;

export interface SpokenModel {
  readonly name: string;
  /** Whether it is the voice that the client asked for. */
  readonly asked: boolean;
}

/**
 * Deepgram's models are voices: a target that is a family (`aura-2`) is completed by the client's voice, in English
 * unless it names its language; a target that has a voice already speaks with that one.
 * @throws GatewayError for a voice that completes no model.
 */
export function spokenModel(model: string, voice: unknown): SpokenModel {
  const prefix = `${model}-`;
  const chosen = typeof voice === "string" ? voice : "";
  if (WITH_VOICE.test(model)) return { name: model, asked: `-${prefix}`.includes(`-${chosen}-`) };
  const own = chosen.startsWith(prefix) ? chosen.slice(prefix.length) : chosen;
  if (!VOICE.test(own)) {
    throw invalidRequest("/voice", 'must be the name of a voice, such as "thalia" or "thalia-en"');
  }
  return { name: `${prefix}${own.includes("-") ? own : `${own}-en`}`, asked: true };
}

const MEDIA_TYPE = /^(?:audio|video)\/[\w!#$&^.+-]+/i;

/** Transcription of the bare file; without a language the upstream finds it out. */
export const transcription = {
  type: "answer",

  request({ body, upload }, target, apiKey) {
    if (upload === undefined) throw new TypeError("a transcription has no upload");
    const { language, temperature } = body;
    const query = new URLSearchParams({ model: target.model, smart_format: "true" });
    if (typeof language === "string") query.set("language", language);
    else query.set("detect_language", "true");
    const headers = { "content-type": mediaType(upload), accept: "application/json" };
    const request = {
      method: "POST",
      path: `/v1/listen?${query.toString()}`,
      headers,
      body: bareFile(upload),
    } as const;
    return {
      ...withToken(request, apiKey),
      // Nothing here is left to chance, which is what a temperature of 0 asks for.
      dropped: droppedOfForm(body, temperature === 0 ? ["language", "temperature"] : ["language"]),
    };
  },

  answer(bytes) {
    const { results, metadata } = parseAnswer(bytes);
    const { channels, utterances } = objectOf(results);
    const { alternatives, detected_language: language } = firstOf(channels);
    const { transcript: text, words: entries, paragraphs } = firstOf(alternatives);
    if (typeof text !== "string") throw malformed("an answer without text");
    const words = readCues(entries ?? [], "words", (word) => word["punctuated_word"] ?? word["word"]);
    const measured = [
      sentencesOf(paragraphs),
      readCues(utterances ?? [], "segments", (utterance) => utterance["transcript"]),
    ];
    return transcript({
      text,
      language,
      duration: seconds(objectOf(metadata)["duration"]),
      words,
      segments: measured.find((segments) => segments.length > 0) ?? segmentsOf(text, words),
    });
  },

  decoder: null,
} satisfies AnswerCodec;

/** The file as it is. JSON would be an order to fetch another one, so what is no medium is only bytes. */
function mediaType({ contentType }: Upload): string {
  return MEDIA_TYPE.exec(contentType)?.[0] ?? "application/octet-stream";
}

function bareFile(upload: Upload): StreamedBody {
  return { length: upload.size, read: () => upload.read() };
}

function sentencesOf(paragraphs: unknown): readonly Cue[] {
  const list = objectOf(paragraphs)["paragraphs"] ?? [];
  if (!Array.isArray(list)) throw malformed("segments that are none");
  const sentences = list.flatMap((paragraph: unknown) => objectOf(paragraph)["sentences"] ?? []);
  return readCues(sentences, "segments", (sentence) => sentence["text"]);
}

function firstOf(list: unknown): Json {
  return objectOf(Array.isArray(list) ? list[0] : null);
}

function objectOf(value: unknown): Json {
  return isJson(value) ? value : {};
}

/** The message of `{err_code, err_msg}` or `{category, message, details}`, fit for a client. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body)) return "";
  const { err_msg, message, details } = body;
  const texts = [err_msg ?? message, details].filter((part) => typeof part === "string");
  return texts.length > 0 ? publicMessage(texts.join(" ")) : commonMessage(bytes);
}

/** A request with Deepgram's key, which is no Bearer; no header for an empty one. */
export function withToken<Request extends { readonly headers: UpstreamRequest["headers"] }>(
  request: Request,
  apiKey: string,
): Request {
  return apiKey === "" ? request : { ...request, headers: { ...request.headers, authorization: `Token ${apiKey}` } };
}

/** Deepgram's API. A speech target's `model` is a family, such as `aura-2`, or a whole voice (see `spokenModel`). */
export const deepgram: UpstreamDialect = {
  name: "deepgram",
  codecs: { speech, transcription },
  probe: (apiKey) => withToken(getJson("/v1/projects", ""), apiKey),
  errorMessage,
};
