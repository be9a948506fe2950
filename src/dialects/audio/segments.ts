import type { Cue } from "../subtitles.ts";

/** Seconds that a segment lasts at most, unless one word lasts longer. */
const LONGEST = 10;
/** Seconds of silence that end a segment. */
const PAUSE = 1;
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
 * Their texts are pieces of `text` and together all of it; where the words are not those of the text, the words.
 */
export function segmentsOf(text: string, words: readonly Cue[]): readonly Cue[] {
  const places = placesIn(text, words);
  return spans(words).map(({ first, next, start, end }) => {
    const said = places
      ? text.slice(places[first], places[next]).trim()
      : words
          .slice(first, next)
          .map((word) => word.text)
          .join(" ");
    return { start, end, text: said };
  });
}

function spans(words: readonly Cue[]): readonly Span[] {
  const spans: Span[] = [];
  let open: Span | null = null;
  for (const [index, word] of words.entries()) {
    const start = Math.min(open?.start ?? word.start, word.start);
    const end = Math.max(open?.end ?? word.end, word.end);
    if (open === null || endsBefore(word, words[index - 1]) || end - start > LONGEST) {
      if (open !== null) spans.push(open);
      open = { first: index, next: index + 1, start: word.start, end: word.end };
    } else {
      open = { first: open.first, next: index + 1, start, end };
    }
  }
  return open === null ? spans : [...spans, open];
}

function endsBefore(word: Cue, before: Cue | undefined): boolean {
  return before !== undefined && (SENTENCE_END.test(before.text) || word.start - before.end > PAUSE);
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
