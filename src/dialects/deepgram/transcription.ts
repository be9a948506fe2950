import { isJson, type Json, type Upload } from "../../kit/index.ts";
import type { AnswerCodec, StreamedBody } from "../dialect.ts";
import { droppedOfForm } from "../audio/form.ts";
import { segmentsOf } from "../audio/segments.ts";
import { readCues, seconds, transcript } from "../audio/transcript.ts";
import { malformed } from "../errors.ts";
import { parseAnswer } from "../requests.ts";
import type { Cue } from "../subtitles.ts";
import { withToken } from "./requests.ts";

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
    const spoken = [sentencesOf(paragraphs), readCues(utterances ?? [], "segments", (said) => said["transcript"])];
    return transcript({
      text,
      language,
      duration: seconds(objectOf(metadata)["duration"]),
      words,
      segments: spoken.find((segments) => segments.length > 0) ?? segmentsOf(text, words),
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
