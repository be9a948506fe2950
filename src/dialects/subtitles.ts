/** A text and when it is shown, in seconds. */
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

/** In order, in milliseconds, each shown for a moment at least, without those that say nothing. */
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
  const [clock, rest] = [parts.map((part) => String(part).padStart(2, "0")).join(":"), milliseconds % 1000];
  return `${clock}${point}${String(rest).padStart(3, "0")}`;
}
