import { AttemptError, isJson, type Json, type Usage } from "../../kit/index.ts";
import { bearer, multipartForm, parseAnswer } from "../canonical/requests.ts";
import { readUsage } from "../canonical/usage.ts";
import { seconds } from "../speech/transcript.ts";
import type { AnswerCodec } from "../dialect.ts";

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
