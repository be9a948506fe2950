/** Characters that one match may have. */
export const MAX_MATCH_CHARACTERS = 512;
const MAX_BLANKS = 8;

/** What an expression is made of. */
export type Part =
  | { readonly type: "unit"; readonly unit: string }
  | { readonly type: "class"; readonly of: Class }
  | { readonly type: "all" | "any"; readonly parts: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly least: number; readonly most: number };

/** A word or an expression, read. */
export interface Expression {
  readonly part: Part;
  readonly beginsAtBorder: boolean;
  readonly endsAtBorder: boolean;
}

const WORD = /[\p{L}\p{N}_]/u;
/** Characters that nobody sees, which would hide a word. */
export const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
/** First halves of those beyond U+FFFF: of shorthand, of music, of tags and variation selectors. */
export const INVISIBLE_HIGHS: ReadonlySet<string> = new Set([
  "\ud82f",
  "\ud834",
  "\udb40",
  "\udb41",
  "\udb42",
  "\udb43",
]);

export const LAST_ASCII = "\u007f";

export function isWord(unit: string): boolean {
  if (unit > LAST_ASCII) return WORD.test(unit);
  return (unit >= "a" && unit <= "z") || (unit >= "A" && unit <= "Z") || (unit >= "0" && unit <= "9") || unit === "_";
}

/** Without case, and without what only looks otherwise (NFKC), such as the full width. */
export function folded(unit: string): string {
  const plain = unit > LAST_ASCII ? unit.normalize("NFKC") : unit;
  const lower = (plain.length === 1 ? plain : unit).toLowerCase();
  return lower.length === 1 ? lower : unit;
}

const ASCII_COUNT = 128;

/** A class of characters. Many states share one: what it says of a character is looked up. */
export class Class {
  readonly #tested: RegExp;
  readonly #ascii: readonly boolean[];
  #last = "";
  #hasLast = false;

  /** @param source as in a regular expression. */
  constructor(source: string) {
    this.#tested = new RegExp(`^${source}$`, "isu");
    this.#ascii = Array.from({ length: ASCII_COUNT }, (_, code) => this.#tested.test(String.fromCharCode(code)));
  }

  /** @param read the unit, folded. */
  has(unit: string, read: string): boolean {
    const code = unit.charCodeAt(0);
    if (code < ASCII_COUNT) return this.#ascii[code]!;
    if (unit !== this.#last) {
      this.#last = unit;
      this.#hasLast = this.#tested.test(read) || this.#tested.test(unit);
    }
    return this.#hasLast;
  }
}

/** A word or a phrase, taken as it is. */
export function literal(word: string, whole: boolean): Expression {
  const blank: Part = { type: "repeat", part: classOf(String.raw`\s`), least: 1, most: MAX_BLANKS };
  const units = visible(word).trim().replaceAll(/\s+/g, " ").split("");
  const parts = units.map((unit) => (unit === " " ? blank : unitOf(unit)));
  return { part: { type: "all", parts }, beginsAtBorder: whole, endsAtBorder: whole };
}

/** Texts are read without invisible characters, so those of an expression would never be found. */
function visible(text: string): string {
  return text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
}

function classOf(source: string): Part {
  return { type: "class", of: new Class(source) };
}

/** How many characters it matches at least, or at most. */
export function lengthOf(part: Part, bound: "least" | "most"): number {
  switch (part.type) {
    case "unit":
    case "class":
      return 1;
    case "all":
      return part.parts.reduce((sum, one) => sum + lengthOf(one, bound), 0);
    case "any":
      return Math[bound === "least" ? "min" : "max"](...part.parts.map((one) => lengthOf(one, bound)));
    case "repeat":
      return part[bound] * lengthOf(part.part, bound);
  }
}

/** Reads the regular expressions that can be followed in bounded time and memory. */
export class Parser {
  readonly #source: string;
  #at = 0;

  /** @throws Error for what is no regular expression. */
  constructor(source: string) {
    this.#source = source;
    try {
      RegExp(source, "u");
    } catch (cause) {
      throw new Error(`${source} is no regular expression`, { cause });
    }
  }

  read(): Expression {
    const beginsAtBorder = this.#take("\\b");
    const part = this.#alternatives();
    const endsAtBorder = this.#take("\\b");
    if (this.#at < this.#source.length) throw this.#unsupported(this.#source[this.#at]!);
    return { part, beginsAtBorder, endsAtBorder };
  }

  #alternatives(): Part {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { type: "any", parts };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !/^(?:[|)]|\\b$)/.test(this.#source.slice(this.#at))) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { type: "all", parts };
  }

  #repeated(part: Part): Part {
    const [written, least, more, most] = this.#match(/\{(\d+)(?:(,)(\d*))?\}/y) ?? [];
    if (written !== undefined) {
      if (more !== undefined && most === "") throw this.#unsupported(written);
      const times = { least: Number(least), most: Number(most ?? least) };
      if (times.most > MAX_MATCH_CHARACTERS) throw this.#unsupported(written);
      return this.#repeated({ type: "repeat", part, ...times });
    }
    if (this.#take("?")) return this.#repeated({ type: "repeat", part, least: 0, most: 1 });
    return part;
  }

  #atom(): Part {
    const open = this.#match(/\((?:\?:)?(?!\?)/y);
    if (open !== null) {
      const part = this.#alternatives();
      this.#take(")");
      return part;
    }
    const many = this.#match(/\[(?:[^\]\\]|\\[^])*\]|\\[pP]\{[^}]*\}|\\[dDwWsS]|\./y);
    if (many !== null) return classOf(this.#inPlane(many[0]));
    const escape = this.#match(/\\(?:[nrtfv]|x[\da-fA-F]{2}|u[\da-fA-F]{4})/y);
    if (escape !== null) return unitOf(BLANK_ESCAPES.get(escape[0][1]!) ?? codeOf(escape[0].slice(2)));
    const [, plain] =
      this.#match(/\\?([\ud800-\udbff][\udc00-\udfff]|[^\\()[\]{}*+?|^$.\w]|(?<!\\)\w|(?<=\\)[\\()[\]{}*+?|^$./-])/y) ??
      [];
    if (plain !== undefined)
      return plain.length === 1 ? unitOf(plain) : { type: "all", parts: visible(plain).split("").map(unitOf) };
    throw this.#unsupported(this.#source.slice(this.#at, this.#at + 2));
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #take(text: string): boolean {
    const taken = this.#source.startsWith(text, this.#at);
    if (taken) this.#at += text.length;
    return taken;
  }

  /** @throws Error for a class that would have halves of characters in it: it would find none of them. */
  #inPlane(source: string): string {
    if (!/[\ud800-\udfff]|\\u\{0*1?[\da-fA-F]{5}\}|\\u[dD][89a-fA-F]/.test(source)) return source;
    throw new Error(`${this.#source} has a class with characters beyond U+FFFF: write them as alternatives`);
  }

  #unsupported(what: string): Error {
    const hint =
      "write how often at most, as {1,20}, and \\b at the ends alone; there is no ^, $, look-around or reference";
    return new Error(`${this.#source} has ${what}, which takes unbounded time or text: ${hint}`);
  }
}

const BLANK_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["f", "\f"],
  ["v", "\v"],
]);

/** What texts are read without is no part of an expression. */
function unitOf(unit: string): Part {
  return INVISIBLE.test(unit) ? { type: "all", parts: [] } : { type: "unit", unit: folded(unit) };
}

function codeOf(hexadecimal: string): string {
  return String.fromCharCode(Number.parseInt(hexadecimal, 16));
}
