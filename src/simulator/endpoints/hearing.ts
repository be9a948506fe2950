import { wavMilliseconds } from "../audio/wav.ts";
import type { Spoken } from "./subtitles.ts";

/** Of a file that is no WAV. */
const BYTES_PER_MILLISECOND = 16;

export interface Hearing {
  readonly text: string;
  readonly words: readonly Spoken[];
  readonly milliseconds: number;
}

/** What is heard in a file: its name and size, in words at even distances over all of its time. */
export function hear(name: string, bytes: Buffer): Hearing {
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
