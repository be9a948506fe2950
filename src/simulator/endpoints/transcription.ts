import { hash } from "node:crypto";
import {
  jsonReply,
  type ParsedRequest,
  type ReceivedRequest,
  type Reply,
  textReply,
  tokensClaimed,
  tokenUsage,
} from "../endpoint.ts";
import { badParameter, oneOf, parseModel, SimError } from "../fields.ts";
import type { Claims, ReceivedFile } from "../ledger.ts";
import type { Script } from "../script.ts";
import { wavMilliseconds } from "./audio.ts";

const FORMATS = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const;
const GRANULARITIES = ["segment", "word"] as const;
const WORDS_IN_SEGMENT = 6;
/** Of a file that is no WAV. */
const BYTES_PER_MILLISECOND = 16;

/** A part of a transcript with its place in the file, in milliseconds. */
interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Transcript {
  readonly text: string;
  readonly words: readonly TimedText[];
  readonly milliseconds: number;
}

/** A transcript as OpenAI writes it. */
interface Transcription extends Transcript {
  readonly segments: readonly TimedText[];
  readonly language: string;
  readonly granularities: readonly string[];
}

/** `POST /audio/transcriptions`: a form. The transcript names the file and its size. */
export async function readTranscription(received: ReceivedRequest): Promise<ParsedRequest> {
  const form = await parseForm(received);
  const file = form.get("file");
  if (!(file instanceof File)) throw badParameter("file", "Missing required parameter: 'file'.");
  const model = parseModel(received.deployment ?? form.get("model"));
  if (file.size === 0) throw badParameter("file", "The audio file is empty.");
  const bytes = Buffer.from(await file.arrayBuffer());
  const format = oneOf("response_format", form.get("response_format"), FORMATS);
  const granularities = form
    .getAll("timestamp_granularities[]")
    .map((one) => oneOf("timestamp_granularities", one, GRANULARITIES));
  const transcript = transcribe(file.name, bytes);
  const named = form.get("language");
  const language = typeof named === "string" && named !== "" ? named : "english";
  return {
    model,
    sim: form.get("sim") ?? undefined,
    upload: describeUpload(file, bytes, form),
    reply: (script) => {
      const count = script.segments ?? Math.ceil(transcript.words.length / WORDS_IN_SEGMENT);
      const segments = segmentsOf(transcript.words, count);
      return write(format, { ...transcript, segments, language, granularities }, script);
    },
  };
}

/** `POST /v1/speech-to-text` of ElevenLabs: the space between words is an entry of its own. */
export async function readSpeechToText(received: ReceivedRequest): Promise<ParsedRequest> {
  const form = await parseForm(received);
  const model = form.get("model_id");
  if (typeof model !== "string" || model === "") throw new SimError(422, "model_id: Field required");
  const file = form.get("file");
  if (!(file instanceof File)) {
    const message = "Must provide either file or cloud_storage_url parameter.";
    throw new SimError(400, message, { code: "invalid_parameters" });
  }
  if (file.size === 0) throw new SimError(400, "The uploaded file is empty.", { code: "empty_file" });
  const bytes = Buffer.from(await file.arrayBuffer());
  const { text, words, milliseconds } = transcribe(file.name, bytes);
  const language = form.get("language_code");
  return {
    model,
    sim: form.get("sim") ?? undefined,
    upload: describeUpload(file, bytes, form),
    reply: (script) => {
      const claims = secondsClaimed(milliseconds, script);
      const body = {
        language_code: typeof language === "string" ? language : "eng",
        language_probability: 1,
        text,
        words: words.flatMap((word, index) => [
          ...(index > 0 ? [elevenlabsEntry({ text: " ", start: word.start, end: word.start }, "spacing")] : []),
          elevenlabsEntry(word, "word"),
        ]),
        ...(claims && { audio_duration_secs: claims.seconds }),
      };
      return jsonReply(200, { data: JSON.stringify(body), claims, units: { milliseconds } });
    },
  };
}

function elevenlabsEntry(word: TimedText, type: "word" | "spacing"): object {
  return { text: word.text, ...inSeconds(word), type, speaker_id: "speaker_0", logprob: 0 };
}

const DEEPGRAM_MODEL = "base-general";

/** `POST /v1/listen` of Deepgram: the body is the file. Its name is unknown. */
export function readListen({ body, headers, query }: ReceivedRequest): ParsedRequest {
  const { "content-type": type = "" } = headers;
  if (/^application\/json\b/i.test(type))
    throw new SimError(400, "Bad Request: remote files are not simulated; send the audio as the body.");
  if (body.length === 0) throw new SimError(400, "Bad Request: failed to process audio: corrupt or unsupported data");
  const model = query.get("model") ?? DEEPGRAM_MODEL;
  const sha256 = hash("sha256", body);
  const { text, words, milliseconds } = transcribe("audio", body);
  const fields = Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
  const alternative = {
    transcript: text,
    confidence: 1,
    words: words.map((word) => ({
      word: word.text.toLowerCase().replace(/\W+$/, ""),
      ...inSeconds(word),
      confidence: 1,
      punctuated_word: word.text,
    })),
  };
  const detects = query.get("detect_language") === "true";
  const channel = {
    alternatives: [alternative],
    ...(detects && { detected_language: "en", language_confidence: 1 }),
  };
  return {
    model,
    sim: query.get("sim") ?? undefined,
    upload: { name: "", type, size: body.length, sha256, fields },
    reply: (script) => {
      const claims = secondsClaimed(milliseconds, script);
      const metadata = {
        request_id: `sim-${sha256.slice(0, 24)}`,
        sha256,
        created: "2026-01-01T00:00:00.000Z",
        ...(claims && { duration: claims.seconds }),
        channels: 1,
        models: ["simulated"],
        model_info: { simulated: { name: model, version: "simulated", arch: "simulated" } },
      };
      const data = JSON.stringify({ metadata, results: { channels: [channel] } });
      return jsonReply(200, { data, claims, units: { milliseconds } });
    },
  };
}

async function parseForm({ body, headers }: ReceivedRequest): Promise<FormData> {
  try {
    return await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  } catch {
    throw new SimError(400, "We could not parse your multipart/form-data request.");
  }
}

function describeUpload({ name, type, size }: File, bytes: Buffer, form: FormData): ReceivedFile {
  const groups = Map.groupBy(form, ([field]) => field);
  groups.delete("file");
  const fields = [...groups].map(
    ([field, pairs]) => [field, pairs.map(([, value]) => (typeof value === "string" ? value : value.name))] as const,
  );
  return { name, type, size, sha256: hash("sha256", bytes), fields: Object.fromEntries(fields) };
}

/** The name and size of a file, in words at even distances over all of its time. */
function transcribe(name: string, bytes: Buffer): Transcript {
  const milliseconds = wavMilliseconds(bytes) ?? Math.ceil(bytes.length / BYTES_PER_MILLISECOND);
  const text = `This is a simulated transcript of ${name}, ${bytes.length} bytes.`;
  const words = text.split(" ");
  const at = (index: number) => Math.round((index * milliseconds) / words.length);
  return {
    text,
    words: words.map((word, index) => ({ text: word, start: at(index), end: at(index + 1) })),
    milliseconds,
  };
}

function segmentsOf(words: readonly TimedText[], count: number): readonly TimedText[] {
  const size = Math.min(count, words.length);
  return Array.from({ length: size }, (_, index) => {
    const at = (of: number) => Math.floor((of * words.length) / size);
    const own = words.slice(at(index), at(index + 1));
    return { text: own.map(({ text }) => text).join(" "), start: own[0]?.start ?? 0, end: own.at(-1)?.end ?? 0 };
  });
}

function write(format: (typeof FORMATS)[number], transcription: Transcription, script: Script): Reply {
  const { text, segments, milliseconds } = transcription;
  const units = { milliseconds };
  if (format === "text") return textReply({ data: `${text}\n`, units });
  if (format === "srt") return textReply({ data: subtitles(segments, ","), units });
  if (format === "vtt") return textReply({ data: `WEBVTT\n\n${subtitles(segments, ".")}`, units });
  const claims = tokensClaimed(script) ?? secondsClaimed(milliseconds, script);
  const more = format === "verbose_json" ? verbose(transcription, claims) : { text };
  const body = { ...(format === "diarized_json" ? diarized(transcription) : more), usage: usageOf(claims) };
  return jsonReply(200, { data: JSON.stringify(body), claims, units });
}

/** SRT with a comma before the milliseconds, whose cues are numbered; WebVTT with a point. */
function subtitles(segments: readonly TimedText[], point: "," | "."): string {
  return segments
    .map(({ text, start, end }, index) => {
      const number = point === "," ? `${index + 1}\n` : "";
      return `${number}${clock(start, point)} --> ${clock(end, point)}\n${text}\n\n`;
    })
    .join("");
}

function clock(milliseconds: number, point: string): string {
  const seconds = milliseconds / 1_000;
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) => padded(part, 2));
  return `${parts.join(":")}${point}${padded(milliseconds % 1_000, 3)}`;
}

function padded(value: number, width: number): string {
  return String(Math.floor(value)).padStart(width, "0");
}

function secondsClaimed(milliseconds: number, script: Script): Claims | undefined {
  return script.no_usage ? undefined : { seconds: script["usage.seconds"] ?? milliseconds / 1_000 };
}

function usageOf(claims: Claims | undefined): object | undefined {
  if (claims === undefined) return undefined;
  if ("seconds" in claims) return { type: "duration", seconds: claims.seconds };
  return { type: "tokens", ...tokenUsage(claims) };
}

function verbose(transcription: Transcription, claims: Claims | undefined): object {
  const { text, words, segments, language, granularities } = transcription;
  const wants = (granularity: string) => granularities.includes(granularity);
  return {
    task: "transcribe",
    language,
    duration: claims?.seconds,
    text,
    segments: wants("segment") || !wants("word") ? segments.map(verboseSegment) : undefined,
    words: wants("word") ? words.map((word) => ({ word: word.text, ...inSeconds(word) })) : undefined,
  };
}

/** Who said what: one speaker. */
function diarized({ text, segments, milliseconds }: Transcription): object {
  return {
    task: "transcribe",
    duration: milliseconds / 1_000,
    text,
    segments: segments.map((segment, index) => ({
      type: "transcript.text.segment",
      id: `seg_${index}`,
      ...inSeconds(segment),
      text: ` ${segment.text}`,
      speaker: "A",
    })),
  };
}

function verboseSegment(segment: TimedText, id: number): object {
  return {
    id,
    seek: 0,
    ...inSeconds(segment),
    text: ` ${segment.text}`,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.25,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function inSeconds({ start, end }: TimedText): { readonly start: number; readonly end: number } {
  return { start: start / 1_000, end: end / 1_000 };
}
