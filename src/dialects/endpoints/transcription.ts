import {
  type AnswerFormat,
  AttemptError,
  type Call,
  invalidRequest,
  isJson,
  type Json,
  type Upload,
  type Usage,
} from "../../kit/index.ts";
import { escaped } from "../canonical/report.ts";
import { bearer, multipartForm, parseAnswer } from "../canonical/requests.ts";
import { readUsage } from "../canonical/usage.ts";
import type { AnswerCodec } from "../dialect.ts";
import { audioMilliseconds, type Cue, seconds, srt, vtt } from "../speech/transcript.ts";

const PLAIN_TEXT = "text/plain; charset=utf-8";

/**
 * The canonical call of a transcription form that its schema has accepted. A list loses the `[]` of its name, numbers
 * are numbers.
 * @param fields the text fields; those whose name ends in `[]` as lists of strings.
 */
export async function readTranscription(fields: Json, upload: Upload): Promise<Call> {
  if (fields["stream"] === "true") throw invalidRequest("/stream", "is not supported for transcriptions");
  return {
    kind: "transcription",
    model: String(fields["model"]),
    stream: false,
    body: canonical(fields),
    promptBytes: 0,
    maxOutput: 0,
    units: { milliseconds: await audioMilliseconds(upload) },
    upload,
  };
}

function canonical(fields: Json): Json {
  const body = new Map<string, unknown>();
  for (const [field, value] of Object.entries(fields)) {
    const name = Array.isArray(value) ? field.replace(/\[\]$/, "") : field;
    if (body.has(name)) throw invalidRequest(`/${escaped(name)}`, `is given both as ${name} and as ${name}[]`);
    // A form has no way to leave a field out but to leave it empty.
    if (name !== "stream" && value !== "") body.set(name, field === "temperature" ? Number(value) : value);
  }
  return Object.fromEntries(body);
}

/**
 * Answers to a transcription client in the `response_format` it asked for: json is the specification's object, the
 * others are OpenAI's. Priced by the second: no text is counted.
 */
export function transcriptionFormat(call: Call): AnswerFormat {
  const asked = call.body["response_format"];
  return {
    contentType: asked === "text" || asked === "srt" || asked === "vtt" ? PLAIN_TEXT : "application/json",
    answer: (body) => answer(body, call, asked),
    promptText: () => "",
    producedText: () => "",
    stream: null,
  };
}

function answer(body: Json, call: Call, asked: unknown): string {
  switch (asked) {
    case "text":
      return `${textOf(body)}\n`;
    case "srt":
      return srt(cues(body, call));
    case "vtt":
      return vtt(cues(body, call));
    case "verbose_json":
      return JSON.stringify(verbose(body, call));
    default:
      return JSON.stringify({ text: textOf(body), segments: segmentsOf(body), language: languageOf(body, call) });
  }
}

function verbose(body: Json, call: Call): Json {
  const { task, duration, words } = body;
  return {
    task: typeof task === "string" ? task : "transcribe",
    language: languageOf(body, call),
    ...(typeof duration === "number" && { duration }),
    text: textOf(body),
    segments: segmentsOf(body),
    ...(Array.isArray(words) && { words }),
  };
}

function textOf({ text }: Json): string {
  return typeof text === "string" ? text : "";
}

function segmentsOf({ segments }: Json): readonly unknown[] {
  return Array.isArray(segments) ? segments : [];
}

/** The one detected, else the one the client named, else "". */
function languageOf({ language }: Json, call: Call): string {
  const [detected, named] = [language, call.body["language"]];
  if (typeof detected === "string" && detected !== "") return detected;
  return typeof named === "string" ? named : "";
}

/** One a segment; without segments one for the whole text. */
function cues(body: Json, { units }: Call): readonly Cue[] {
  const parts = segmentsOf(body).filter(isCue);
  if (parts.length > 0) return parts;
  const { duration } = body;
  const end = typeof duration === "number" ? duration : (units?.milliseconds ?? 0) / 1000;
  return [{ start: 0, end, text: textOf(body) }];
}

function isCue(part: unknown): part is Cue {
  return (
    isJson(part) && Number.isFinite(part["start"]) && Number.isFinite(part["end"]) && typeof part["text"] === "string"
  );
}

/** Transcription, the upstream half. Upstreams are asked for JSON only: text and subtitles are made from it. */
export const transcription = {
  type: "answer",

  request(call, target, apiKey) {
    const { upload } = call;
    if (upload === undefined) throw new TypeError("a transcription has no upload");
    const { contentType, body } = multipartForm(formFields({ ...upstreamBody(call.body), model: target.model }), [
      "file",
      upload,
    ]);
    return {
      method: "POST",
      path: "/audio/transcriptions",
      headers: { ...bearer(apiKey), "content-type": contentType, accept: "application/json" },
      body,
    };
  },

  answer(bytes) {
    const body = parseAnswer(bytes);
    const { text } = body;
    const segments = body["segments"] ?? [];
    const words = body["words"] ?? [];
    if (typeof text !== "string") throw new AttemptError("protocol", "upstream sent an answer without text");
    if (!isTimed(segments, "text")) throw new AttemptError("protocol", "upstream sent segments that are none");
    if (!isTimed(words, "word")) throw new AttemptError("protocol", "upstream sent words that are none");
    const duration = durationOf(body);
    return {
      body: { ...body, segments, words: body["words"] ?? undefined, duration: duration ?? undefined },
      usage: usageOf(body, duration),
    };
  },

  decoder: null,
} satisfies AnswerCodec;

/** What the client wants, as what the gateway can make it from. */
function upstreamBody(body: Json): Json {
  switch (body["response_format"]) {
    case "srt":
    case "vtt":
      return { ...body, response_format: "verbose_json", timestamp_granularities: ["segment"] };
    case "verbose_json":
      return body;
    default:
      return { ...body, response_format: "json" };
  }
}

function formFields(body: Json): readonly (readonly [string, string])[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) return [[name, written(value)] as const];
    return value.map((item: unknown) => [`${name}[]`, written(item)] as const);
  });
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A list of objects that say from when to when, in seconds, and what. */
function isTimed(value: unknown, what: "text" | "word"): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item) =>
        isJson(item) &&
        typeof item[what] === "string" &&
        Number.isFinite(item["start"]) &&
        Number.isFinite(item["end"]),
    )
  );
}

/**
 * Seconds of audio by the upstream's measure; null when it gave none, or one that is not to be believed. Mistral's has a
 * name of its own (https://docs.mistral.ai/capabilities/audio/).
 */
function durationOf({ duration, usage }: Json): number | null {
  return (
    measured(duration) ??
    (isJson(usage) ? (measured(usage["seconds"]) ?? measured(usage["prompt_audio_seconds"])) : null)
  );
}

/** Some upstreams write it as text. */
function measured(value: unknown): number | null {
  return seconds(typeof value === "string" && value.trim() !== "" ? Number(value) : value);
}

/** Tokens without a duration say nothing of the audio: its length stays out, so that a price by the second estimates it. */
function usageOf({ usage }: Json, duration: number | null): Usage | null {
  const counts = isJson(usage) && {
    prompt_tokens: usage["input_tokens"] ?? usage["prompt_tokens"],
    completion_tokens: usage["output_tokens"] ?? usage["completion_tokens"],
  };
  const tokens = readUsage({ usage: counts });
  if (duration === null) return tokens;
  const none: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  return { ...(tokens ?? none), milliseconds: Math.round(duration * 1000) };
}
