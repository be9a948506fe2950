/** Spoken text with its place in the file, in milliseconds. */
export interface Spoken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function srt(segments: readonly Spoken[]): string {
  return segments
    .map(({ text, start, end }, index) => `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${text}\n\n`)
    .join("");
}

export function vtt(segments: readonly Spoken[]): string {
  const cues = segments.map(({ text, start, end }) => `${clock(start, ".")} --> ${clock(end, ".")}\n${text}\n\n`);
  return `WEBVTT\n\n${cues.join("")}`;
}

function clock(milliseconds: number, point: string): string {
  const seconds = milliseconds / 1_000;
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) => padded(part, 2));
  return `${parts.join(":")}${point}${padded(milliseconds % 1_000, 3)}`;
}

function padded(value: number, width: number): string {
  return String(Math.floor(value)).padStart(width, "0");
}
