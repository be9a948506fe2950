import { hash } from "node:crypto";
import { badParameter, SimError } from "../error.ts";
import type { Asked, Received } from "./endpoint.ts";
import { oneOf, parseModel } from "../fields.ts";
import type { ReceivedFile } from "../ledger.ts";
import type { Claims } from "../part.ts";
import { jsonReply, textReply } from "../reply.ts";
import type { Reply } from "../reply.ts";
import type { Script } from "../script.ts";
import { srt, vtt } from "./subtitles.ts";
import type { Spoken } from "./subtitles.ts";
import { hear } from "./hearing.ts";

const FORMATS = ["json", "text", "srt", "vtt", "verbose_json"] as const;
const GRANULARITIES = ["segment", "word"] as const;
const WORDS_IN_SEGMENT = 6;

interface Heard {
  readonly text: string;
  readonly words: readonly Spoken[];
  readonly segments: readonly Spoken[];
  readonly language: string;
  readonly granularities: readonly string[];
  readonly milliseconds: number;
}

/** `POST /audio/transcriptions`: a form. The transcript names the file and its size. */
export async function readTranscription(received: Received): Promise<Asked> {
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
  const { text, words, milliseconds } = hear(file.name, bytes);
  const language = form.get("language");
  return {
    model,
    sim: form.get("sim") ?? undefined,
    upload: describe(file, bytes, form),
    reply: (script) => {
      const segments = group(words, script.segments ?? Math.ceil(words.length / WORDS_IN_SEGMENT));
      const spoken = typeof language === "string" && language !== "" ? language : "english";
      return write(format, { text, words, segments, language: spoken, granularities, milliseconds }, script);
    },
  };
}

export async function parseForm({ body, headers }: Received): Promise<FormData> {
  try {
    return await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  } catch {
    throw new SimError(400, "We could not parse your multipart/form-data request.");
  }
}

export function describe({ name, type, size }: File, bytes: Buffer, form: FormData): ReceivedFile {
  const fields = Map.groupBy(form, ([field]) => field);
  fields.delete("file");
  return {
    name,
    type,
    size,
    sha256: hash("sha256", bytes),
    fields: Object.fromEntries(
      [...fields].map(([field, pairs]) => [
        field,
        pairs.map(([, value]) => (typeof value === "string" ? value : value.name)),
      ]),
    ),
  };
}

function write(format: (typeof FORMATS)[number], heard: Heard, script: Script): Reply {
  const { text, segments, milliseconds } = heard;
  const units = { milliseconds };
  if (format === "text") return textReply({ data: `${text}\n`, units });
  if (format === "srt") return textReply({ data: srt(segments), units });
  if (format === "vtt") return textReply({ data: vtt(segments), units });
  const claims = claimsOf(milliseconds, script);
  const body = { ...(format === "verbose_json" ? verbose(heard, claims) : { text }), usage: usageOf(claims) };
  return jsonReply(200, { data: JSON.stringify(body), claims, units });
}

/** Seconds, or tokens for a script that claims tokens. */
function claimsOf(milliseconds: number, script: Script): Claims | undefined {
  if (script.no_usage) return undefined;
  const prompt = script["usage.prompt"];
  const completion = script["usage.completion"];
  if (prompt !== undefined || completion !== undefined) return { prompt: prompt ?? 0, completion: completion ?? 0 };
  return { seconds: script["usage.seconds"] ?? milliseconds / 1_000 };
}

function usageOf(claims: Claims | undefined): object | undefined {
  if (claims === undefined) return undefined;
  if ("seconds" in claims) return { type: "duration", seconds: claims.seconds };
  const { prompt, completion } = claims;
  const total = Number(prompt) + Number(completion);
  return { type: "tokens", input_tokens: prompt, output_tokens: completion, total_tokens: total };
}

function verbose({ text, words, segments, language, granularities }: Heard, claims: Claims | undefined): object {
  const wants = (granularity: string) => granularities.includes(granularity);
  return {
    task: "transcribe",
    language,
    duration: claims?.seconds,
    text,
    segments: wants("segment") || !wants("word") ? segments.map(written) : undefined,
    words: wants("word") ? words.map((word) => ({ word: word.text, ...seconds(word) })) : undefined,
  };
}

function written(segment: Spoken, id: number): object {
  return {
    id,
    seek: 0,
    ...seconds(segment),
    text: ` ${segment.text}`,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.25,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function seconds({ start, end }: Spoken): { readonly start: number; readonly end: number } {
  return { start: start / 1_000, end: end / 1_000 };
}

function group(words: readonly Spoken[], count: number): readonly Spoken[] {
  const size = Math.min(count, words.length);
  return Array.from({ length: size }, (_, index) => {
    const at = (of: number) => Math.floor((of * words.length) / size);
    const own = words.slice(at(index), at(index + 1));
    return { text: own.map(({ text }) => text).join(" "), start: own[0]?.start ?? 0, end: own.at(-1)?.end ?? 0 };
  });
}
