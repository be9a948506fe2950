import { isJson, type Json, type Upload } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { dropped } from "../canonical/report.ts";
import type { Decoded } from "../dialect.ts";

/** A week: more than any one file can hold; a time above it is a defect of the upstream. */
const MAX_SECONDS = 604_800;

interface Transcript {
  readonly text: string;
  /** A language tag, yet to be checked: `eng` is `en` to clients. */
  readonly language: unknown;
  /** Seconds of audio; null when the upstream did not measure it. */
  readonly duration: number | null;
  readonly words: readonly Cue[];
  readonly segments: readonly Cue[];
}

/** The canonical answer of a transcription, metered to the millisecond. */
export function transcript({ text, language, duration, words, segments }: Transcript): Decoded {
  const body = {
    text,
    language: languageTag(language),
    duration: duration ?? undefined,
    segments: segments.map((segment, id) => ({ id, start: segment.start, end: segment.end, text: segment.text })),
    words: words.map((word) => ({ word: word.text, start: word.start, end: word.end })),
  };
  const milliseconds = duration === null ? null : Math.round(duration * 1000);
  return {
    body,
    usage: milliseconds === null ? null : { prompt: 0, completion: 0, cached: 0, reasoning: 0, milliseconds },
  };
}

/**
 * What a list says was said and when, without what is blank. A time that is left out is that of the entry before.
 * @throws AttemptError "protocol" for times or texts that are none.
 */
export function readCues(list: unknown, what: "words" | "segments", textOf: (entry: Json) => unknown): readonly Cue[] {
  const wrong = malformed(`${what} that are none`);
  if (!Array.isArray(list)) throw wrong;
  const cues: Cue[] = [];
  let before = 0;
  for (const entry of list as readonly unknown[]) {
    if (!isJson(entry)) throw wrong;
    const text = textOf(entry);
    const start = secondsOr(entry["start"], before);
    const end = secondsOr(entry["end"], start);
    if (typeof text !== "string" || start === null || end === null) throw wrong;
    before = Math.max(start, end);
    if (text.trim() !== "") cues.push({ start, end: before, text: text.trim() });
  }
  return cues;
}

function secondsOr(value: unknown, otherwise: number | null): number | null {
  return value === undefined || value === null ? otherwise : seconds(value);
}

/** A measure of time, never below 0; null when it is none or not to be believed. */
export function seconds(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= MAX_SECONDS ? value : null;
}

function languageTag(tag: unknown): string | undefined {
  if (typeof tag !== "string" || tag === "") return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return tag;
  }
}

/** Seconds that a segment lasts at most, unless one word lasts longer. */
const MAX_SEGMENT_SECONDS = 10;
/** Seconds of silence that end a segment. */
const MIN_PAUSE_SECONDS = 1;
const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/u;

/** Words from `first` up to `next`, in seconds. */
interface Span {
  readonly first: number;
  readonly next: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Words in the order in which they were said, as segments: a sentence each, or less where it is long or has a pause.
 * Their texts are parts of `text` and together all of it; where the words are not those of the text, the words.
 */
export function segmentsOf(text: string, words: readonly Cue[]): readonly Cue[] {
  const places = placesIn(text, words);
  return spans(words).map(({ first, next, start, end }) => {
    const segment = places
      ? text.slice(places[first], places[next]).trim()
      : words
          .slice(first, next)
          .map((word) => word.text)
          .join(" ");
    return { start, end, text: segment };
  });
}

function spans(words: readonly Cue[]): readonly Span[] {
  const spans: Span[] = [];
  let open: Span | null = null;
  for (const [index, word] of words.entries()) {
    const start = Math.min(open?.start ?? word.start, word.start);
    const end = Math.max(open?.end ?? word.end, word.end);
    if (open === null || endsBefore(word, words[index - 1]) || end - start > MAX_SEGMENT_SECONDS) {
      if (open !== null) spans.push(open);
      open = { first: index, next: index + 1, start: word.start, end: word.end };
    } else {
      open = { first: open.first, next: index + 1, start, end };
    }
  }
  return open === null ? spans : [...spans, open];
}

function endsBefore(word: Cue, before: Cue | undefined): boolean {
  return before !== undefined && (SENTENCE_END.test(before.text) || word.start - before.end > MIN_PAUSE_SECONDS);
}

/** Where each word begins in the text; null unless the text is these words with nothing but space between them. */
function placesIn(text: string, words: readonly Cue[]): readonly number[] | null {
  const places: number[] = [];
  let at = 0;
  for (const word of words) {
    at += text.slice(at).search(/\S|$/);
    if (!text.startsWith(word.text, at)) return null;
    places.push(at);
    at += word.text.length;
  }
  return text.slice(at).trim() === "" ? places : null;
}

/** What an answer is made from without the upstream's help: it always has times of words and of segments. */
const MADE_HERE = ["response_format", "timestamp_granularities", "timestamp_granularities[]"];

/** Pointers of the fields of a transcription form that are not carried; a list has the name that it has in forms. */
export function droppedOfForm(body: Json, carried: readonly string[]): string[] {
  const form = Object.entries(body).map(([name, value]) => [Array.isArray(value) ? `${name}[]` : name, value] as const);
  return dropped(Object.fromEntries(form), new Set([...MADE_HERE, ...carried]));
}

/** A text and its times, in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** SubRip. */
export function srt(cues: readonly Cue[]): string {
  return timed(cues)
    .map(({ start, end, text }, index) => {
      // Readers take the arrow for a line of times, wherever it stands.
      const safe = text.replace(/-{2,}>/g, "->");
      return `${index + 1}\n${time(start, ",")} --> ${time(end, ",")}\n${safe}\n\n`;
    })
    .join("");
}

/** WebVTT (W3C), without styles. */
export function vtt(cues: readonly Cue[]): string {
  const blocks = timed(cues).map(({ start, end, text }) => {
    const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${time(start, ".")} --> ${time(end, ".")}\n${safe}\n\n`;
  });
  return `WEBVTT\n\n${blocks.join("")}`;
}

/** In order, in milliseconds, each at least one long, without empty ones. */
function timed(cues: readonly Cue[]): readonly Cue[] {
  return cues
    .map(({ start, end, text }) => {
      const from = milliseconds(start);
      return { start: from, end: Math.max(milliseconds(end), from + 1), text: lines(text) };
    })
    .filter(({ text }) => text !== "")
    .toSorted((a, b) => a.start - b.start);
}

/** An empty line ends a cue. */
function lines(text: string): string {
  return text
    .split(/[\r\n\v\f\x85\u2028\u2029]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}

function milliseconds(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1000));
}

function time(milliseconds: number, point: "," | "."): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [clock, fraction] = [parts.map((part) => String(part).padStart(2, "0")).join(":"), milliseconds % 1000];
  return `${clock}${point}${String(fraction).padStart(3, "0")}`;
}

/** Where a WAV file's data begin is looked for in so many bytes. */
const MAX_HEAD_BYTES = 64 * 1024;
/** What the estimate of other files goes by: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
const PCM_FORMAT = 1;
const FLOAT_FORMAT = 3;
const EXTENSIBLE_FORMAT = 0xfffe;

/** Milliseconds of audio in a file: exact by the header of a WAV file, else an estimate by its size. */
export async function audioMilliseconds(upload: Upload): Promise<number> {
  return wavMilliseconds(await readHead(upload), upload.size) ?? Math.ceil((upload.size * 1000) / BYTES_PER_SECOND);
}

async function readHead(upload: Upload): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let missing = MAX_HEAD_BYTES;
  for await (const chunk of upload.read()) {
    chunks.push(chunk.subarray(0, missing));
    missing -= chunk.length;
    if (missing <= 0) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Milliseconds by the header of a WAV file (RIFF/WAVE, RF64), rounded half up; null for anything else.
 * @param head its first bytes.
 * @param size bytes of the whole file.
 */
export function wavMilliseconds(head: Uint8Array, size: number): number | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const name = (at: number): string => String.fromCharCode(...head.subarray(at, at + 4));
  if (!["RIFF", "RF64", "BW64"].includes(name(0)) || name(8) !== "WAVE") return null;
  let perSecond: number | null = null;
  for (let at = 12; at + 8 <= head.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (name(at) === "fmt ") perSecond = bytesPerSecond(view, start, length);
    if (name(at) === "data") {
      // Written while recording, the length is 0 or all ones; a cut file holds less than it says.
      const available = Math.max(0, size - start);
      const bytes = length === 0 ? available : Math.min(length, available);
      return perSecond === null ? null : Math.round((bytes * 1000) / perSecond);
    }
    // Chunks begin at even places.
    at = start + length + (length % 2);
  }
  return null;
}

/** Of a `fmt ` chunk; null when it is not plausible: a forged one must not make an hour look like a moment. */
function bytesPerSecond(view: DataView, start: number, length: number): number | null {
  if (length < 16 || start + length > view.byteLength) return null;
  const declared = view.getUint16(start, true);
  const format = declared === EXTENSIBLE_FORMAT && length >= 40 ? view.getUint16(start + 24, true) : declared;
  const rate = view.getUint32(start + 4, true);
  if (format !== PCM_FORMAT && format !== FLOAT_FORMAT) return within(view.getUint32(start + 8, true), 100, 1_000_000);
  const channels = within(view.getUint16(start + 2, true), 1, 64);
  const bits = within(view.getUint16(start + 14, true), 1, 64);
  if (channels === null || bits === null || within(rate, 1_000, 768_000) === null) return null;
  return rate * channels * Math.ceil(bits / 8);
}

function within(value: number, min: number, max: number): number | null {
  return value >= min && value <= max ? value : null;
}
