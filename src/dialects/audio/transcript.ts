import { isJson, type Json } from "../../kit/index.ts";
import type { Decoded } from "../dialect.ts";
import { malformed } from "../errors.ts";
import type { Cue } from "../subtitles.ts";

/** A week: more than any one file can hold; a time above it is a defect of the upstream. */
const MAX_SECONDS = 604_800;

export interface Heard {
  readonly text: string;
  /** A language tag, yet to be checked: `eng` is `en` to clients. */
  readonly language: unknown;
  /** Seconds of audio; null when the upstream did not measure it. */
  readonly duration: number | null;
  readonly words: readonly Cue[];
  readonly segments: readonly Cue[];
}

/** The canonical answer of a transcription, metered to the millisecond. */
export function transcript({ text, language, duration, words, segments }: Heard): Decoded {
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
