/*
 * A text as finders read it: digits of any script and width are ASCII digits, blanks are spaces, dashes are hyphens, dots
 * are full stops, and invisible characters are gone. People and programs write the same number in all of these ways.
 */

const ONLY_ASCII = /^[\0-\x7f]*$/;
const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
const BLANK = /^\p{Zs}$/u;
/** Dashes, and the signs for minus that people take for one. */
const DASH = /^[\p{Pd}\u2212\u2043\u02d7\u2796]$/u;
/** Dots in the middle and at the foot of a line. */
const DOT = /^[\u00b7\u2022\u2024\u2027\u2219\u22c5\u3002\u30fb\uff0e\uff61\uff65]$/;
const DIGIT = /^\p{Nd}$/u;
/** A character that one of the above is for and that NFKC keeps. Most texts have none, and stay as they are. */
const IS_FOLDED =
  /\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}|(?!-)\p{Pd}|(?!\d)\p{Nd}|[\u2212\u2043\u02d7\u2796\u00b7\u2022\u2027\u2219\u22c5\u3002\u30fb]/u;

export interface Folded {
  readonly text: string;
  /** Where in the original a part of `text` begins and ends. */
  readonly span: (start: number, end: number) => { readonly start: number; readonly end: number };
}

export function folded(text: string): Folded {
  if (ONLY_ASCII.test(text) || (text.normalize("NFKC") === text && !IS_FOLDED.test(text)))
    return { text, span: (start, end) => ({ start, end }) };
  let read = "";
  /** Where the character begins and ends that each unit of `read` was made of. */
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = character <= "\x7f" ? character : plainly(character);
    for (let count = 0; count < plain.length; count += 1) {
      starts.push(at);
      ends.push(at + character.length);
    }
    read += plain;
    at += character.length;
  }
  return { text: read, span: (start, end) => ({ start: starts[start]!, end: ends[end - 1]! }) };
}

function plainly(character: string): string {
  if (INVISIBLE.test(character)) return "";
  if (BLANK.test(character)) return " ";
  if (DASH.test(character)) return "-";
  if (DOT.test(character)) return ".";
  if (DIGIT.test(character)) return digitOf(character);
  // Letters that only look otherwise, such as those of full width (NFKC).
  return character.normalize("NFKC");
}

/** Unicode has the ten digits of a script one after the other, and the mathematical ones as five such rows. */
function digitOf(character: string): string {
  const plain = character.normalize("NFKC");
  if (plain <= "9") return plain;
  const code = character.codePointAt(0)!;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}
