import { type AnswerFormat, type Call, invalidRequest, isJson, type Json, type Upload } from "../../kit/index.ts";
import { audioMilliseconds } from "../speech/audio.ts";
import { escaped } from "../canonical/report.ts";
import { type Cue, srt, vtt } from "../speech/transcript.ts";

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

/** The one heard, else the one the client named, else "". */
function languageOf({ language }: Json, call: Call): string {
  const [heard, named] = [language, call.body["language"]];
  if (typeof heard === "string" && heard !== "") return heard;
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
