export interface Mutant {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly from: string;
  readonly to: string;
  /** The whole file with the mistake in it. */
  readonly text: string;
}

/** Each kind of mistake: what it looks for, and what stands there instead. */
const MISTAKES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/ === /g, () => " !== "],
  [/ !== /g, () => " === "],
  [/ < /g, () => " <= "],
  [/ <= /g, () => " < "],
  [/ > /g, () => " >= "],
  [/ >= /g, () => " > "],
  [/ && /g, () => " || "],
  [/ \|\| /g, () => " && "],
  [/ \+ /g, () => " - "],
  [/ - /g, () => " + "],
  [/(?<=[=(,:?] ?)true\b/g, () => "false"],
  [/(?<=[=(,:?] ?)false\b/g, () => "true"],
  [/\b(?:[1-9]\d{0,3})\b(?=[;,) ])/g, (number) => String(Number(number) + 1)],
  // A statement that is a call is left out.
  [/(?<=^ {2,})(?:await )?(?:this\.)?#?[a-z][\w.]*\([^;{}]*\);$/gm, () => ";"],
  [/(?<=^ {2,})if \([^{}\n]*\) return;$/gm, () => ";"],
];

/** Everything that could be got wrong in a file, in the order of its kinds. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const shown = masked(text);
  const found: Mutant[] = [];
  for (const [pattern, replace] of MISTAKES) {
    for (const { 0: match, index } of shown.matchAll(pattern)) {
      const from = text.slice(index, index + match.length);
      const to = replace(from);
      const line = text.slice(0, index).split("\n").length;
      found.push({ file, line, from, to, text: text.slice(0, index) + to + text.slice(index + from.length) });
    }
  }
  return found;
}

const DECLARATION =
  /^( *)(?:export |default |async |static |readonly |get |set |\*|const )*(?:function\*? )?(#?[A-Za-z_]\w*)(?: = |<[^(]*>)?(?:async )?\(/;
const STATEMENTS: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "return", "catch", "await", "throw"]);

/** The names of the functions and methods around a line, the innermost first: formatted text is told by its indentation. */
export function functionsAround(text: string, line: number): string[] {
  const rows = text.split("\n");
  const names: string[] = [];
  let inner = Infinity;
  for (let at = line - 1; at >= 0; at -= 1) {
    const row = rows[at]!;
    const indent = row.search(/\S/);
    // What closes a list of parameters belongs to the declaration above.
    if (indent < 0 || indent >= inner || /^\s*[)\]}]/.test(row)) continue;
    const name = /[({]$/.test(row) ? DECLARATION.exec(row)?.[2] : undefined;
    inner = indent;
    if (name !== undefined && !STATEMENTS.has(name)) names.push(name);
  }
  return names;
}

/** The text with its comments, strings, imports and types' lines blanked: as long as before. */
function masked(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, blank)
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, blank)
    .replaceAll(/^import [\s\S]*?;$/gm, blank)
    .replaceAll(/^(?:export )?(?:interface|type) [\s\S]*?^(?:\}|[^\n]*;$)/gm, blank);
}

function blank(part: string): string {
  return part.replaceAll(/[^\n]/g, "\0");
}

/** `count` of them, spread by a seed. */
export function pick<Item>(from: readonly Item[], count: number, seed: number): Item[] {
  const random = generator(seed);
  const left = [...from];
  const chosen: Item[] = [];
  while (chosen.length < count && left.length > 0) {
    const at = Math.floor(random() * left.length);
    chosen.push(left[at]!);
    left[at] = left.at(-1)!;
    left.pop();
  }
  return chosen;
}

/** Mulberry32: numbers from 0 to below 1. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
