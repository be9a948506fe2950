/**
 * The words of a command as a POSIX shell splits them, without anything else that a shell does: `'…'` holds its text as it
 * is, in `"…"` a backslash stands before `"` and `\`, outside of quotes before any character. Null where a quote is not
 * closed, or nothing follows a backslash.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02
 */
export function splitWords(command: string): readonly string[] | null {
  const words: string[] = [];
  /** Null between words; an empty pair of quotes is a word. */
  let word: string | null = null;
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!;
    if (/[ \t\r\n]/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= "";
    if (character === "'" || character === '"') {
      const quoted = quotedAt(command, at);
      if (quoted === null) return null;
      word += quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      const next = command[at + 1];
      if (next === undefined) return null;
      word += next;
      at += 1;
    } else word += character;
  }
  if (word !== null) words.push(word);
  return words;
}

/** The text in the quotes that open at a place, and where they close. */
function quotedAt(command: string, start: number): { readonly text: string; readonly end: number } | null {
  const quote = command[start]!;
  let text = "";
  for (let at = start + 1; at < command.length; at += 1) {
    const character = command[at]!;
    if (character === quote) return { text, end: at };
    const next = command[at + 1];
    if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
      text += next;
      at += 1;
    } else text += character;
  }
  return null;
}
