import { definePlugin, GatewayError, streamTexts, type TextChange, withAnswerTexts, withCallTexts } from "#kit";
import type { GuardWordsOptions } from "#schema";

/** Refuses or masks words and expressions in what is asked and answered, wherever a stream breaks them. */
export default definePlugin<GuardWordsOptions>({
  name: "guard-words",
  stage: "transform",
  schema: new URL("../schemas/plugins/guard-words.schema.json", import.meta.url),
  setup({ words = [], patterns = [], action = "refuse", in: where, replacement = "***", whole_words: whole = true }) {
    if (words.length + patterns.length === 0) throw new Error("there are neither words nor patterns");
    const machine = compiled(words, patterns, whole);
    const looks = (place: "request" | "answer"): boolean => where?.includes(place) ?? true;
    const begin = (what: string) => (): TextChange => new Search(machine, action === "mask" ? replacement : null, what);
    const change = (what: string) => (text: string, about: { readonly fixed: boolean }) => {
      const search = begin(what)();
      const changed = search.add(text) + search.end();
      // A signed thought that was changed would be refused by the one who made it.
      return about.fixed ? text : changed;
    };
    const [request, answer] = ["Invalid request: it", "The answer"];
    return {
      ...(looks("request") && { transform: (call) => withCallTexts(call, change(request)) }),
      ...(looks("answer") && {
        stream: () => streamTexts(begin(answer)),
        response: (body) => withAnswerTexts(body, change(answer)),
      }),
    };
  },
});

/** A state of the machine. Steps that need no character are worked out when it is built. */
interface State {
  /** Its number among the machine's. */
  readonly id: number;
  readonly exact: Map<string, State[]>;
  /** Those of `exact` that several expressions begin with; empty in states that end one. */
  readonly begins: Map<string, State>;
  readonly classes: { readonly of: Class; readonly to: readonly State[] }[];
  /** What was read so far is a match; `border`: if what follows does not go on with the word. */
  readonly match: "always" | "border" | null;
}

interface Machine {
  /** Where a match may begin anywhere, and where it may only begin a word. */
  readonly anywhere: State;
  readonly atBorder: State;
  readonly reached: Reached;
}

/** Where among those that one character reaches a state is, by its number. For all searches: a step is not interrupted. */
interface Reached {
  /** Of the step that is being made; older entries of `rounds` do not count. */
  round: number;
  readonly rounds: Float64Array;
  readonly places: Uint32Array;
}

const WORD = /[\p{L}\p{N}_]/u;
/** Characters that nobody sees, which would hide a word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

const LAST_ASCII = "\u007f";

function isWord(unit: string): boolean {
  if (unit > LAST_ASCII) return WORD.test(unit);
  return (unit >= "a" && unit <= "z") || (unit >= "A" && unit <= "Z") || (unit >= "0" && unit <= "9") || unit === "_";
}

/** Without case, and without what only looks otherwise (NFKC), such as the full width. */
function folded(unit: string): string {
  const plain = unit > LAST_ASCII ? unit.normalize("NFKC") : unit;
  const lower = (plain.length === 1 ? plain : unit).toLowerCase();
  return lower.length === 1 ? lower : unit;
}

const ASCII_COUNT = 128;

/** A class of characters. Many states share one: what it says of a character is looked up. */
class Class {
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

/**
 * Looks for matches in one pass, whatever the expressions are: of each state it follows the match that began first. What
 * overlaps is masked as one.
 */
class Search implements TextChange {
  readonly #machine: Machine;
  /** null: a match is refused. */
  readonly #mask: string | null;
  readonly #what: string;
  /** States that are reached, and where the match of each began. Places count from the beginning of the text. */
  #live: State[] = [];
  #starts: number[] = [];
  /** Those of the character before, while the next ones are found. */
  #left: State[] = [];
  #leftStarts: number[] = [];
  /** Matches if the next character is no part of the word. */
  #pending: { readonly start: number; readonly end: number }[] = [];
  /** Matches that a longer one may still begin before or grow out of; none overlap. */
  #found: { readonly start: number; readonly end: number }[] = [];
  /** What was not passed on yet, and where it begins. */
  #held = "";
  #from = 0;
  #at = 0;
  #maskedTo = 0;
  #afterWord = false;
  #out = "";

  constructor(machine: Machine, mask: string | null, what: string) {
    this.#machine = machine;
    this.#mask = mask;
    this.#what = what;
  }

  add(piece: string): string {
    this.#held += piece;
    for (let at = 0; at < piece.length; at += 1) this.#step(piece[at]!);
    return this.#take(this.#firstOpen());
  }

  end(): string {
    this.#live = [];
    this.#starts = [];
    for (const { start, end } of this.#pending.splice(0)) this.#accept(start, end);
    return this.#take(this.#at);
  }

  #step(unit: string): void {
    if (unit > LAST_ASCII && INVISIBLE.test(unit)) {
      this.#at += 1;
      return;
    }
    const read = folded(unit);
    const inWord = isWord(unit);
    if (this.#pending.length > 0) {
      const pending = this.#pending.splice(0);
      if (!(inWord && this.#afterWord)) for (const { start, end } of pending) this.#accept(start, end);
    }
    const { anywhere, atBorder, reached } = this.#machine;
    reached.round += 1;
    [this.#live, this.#left] = [this.#left, this.#live];
    [this.#starts, this.#leftStarts] = [this.#leftStarts, this.#starts];
    this.#live.length = 0;
    this.#starts.length = 0;
    for (let index = 0; index < this.#left.length; index += 1) {
      this.#follow(this.#left[index]!, this.#leftStarts[index]!, unit, read);
    }
    this.#follow(anywhere, this.#at, unit, read);
    if (!(inWord && this.#afterWord)) this.#follow(atBorder, this.#at, unit, read);
    this.#afterWord = inWord;
    this.#at += 1;
    for (let index = 0; index < this.#live.length; index += 1) {
      const { match } = this.#live[index]!;
      if (match === null) continue;
      const start = this.#starts[index]!;
      if (match === "always") this.#accept(start, this.#at);
      else this.#pending.push({ start, end: this.#at });
    }
    if (this.#found.length > 0) this.#write(this.#firstOpen());
  }

  #follow({ exact, classes }: State, start: number, unit: string, read: string): void {
    const to = exact.size === 0 ? undefined : exact.get(read);
    if (to !== undefined) this.#reach(to, start);
    for (const one of classes) if (one.of.has(unit, read)) this.#reach(one.to, start);
  }

  #reach(states: readonly State[], start: number): void {
    const { round, rounds, places } = this.#machine.reached;
    for (const state of states) {
      const { id } = state;
      if (rounds[id] !== round) {
        rounds[id] = round;
        places[id] = this.#live.push(state) - 1;
        this.#starts.push(start);
      } else if (this.#starts[places[id]!]! > start) this.#starts[places[id]!] = start;
    }
  }

  #accept(start: number, end: number): void {
    if (this.#mask === null) {
      throw new GatewayError("INVALID_REQUEST", `${this.#what} has words that are not allowed`);
    }
    let whole = { start, end };
    while (this.#found.length > 0 && this.#found.at(-1)!.end > whole.start) {
      const last = this.#found.pop()!;
      whole = { start: Math.min(last.start, whole.start), end: Math.max(last.end, whole.end) };
    }
    this.#found.push(whole);
  }

  /** Before it nothing can become part of a match any more. */
  #firstOpen(): number {
    let first = this.#at;
    for (const start of this.#starts) if (start < first) first = start;
    for (const { start } of this.#pending) if (start < first) first = start;
    return first;
  }

  /** Writes the matches that begin before `open`, with the text before each. */
  #write(open: number): void {
    while (this.#found.length > 0 && this.#found[0]!.start < open) {
      const { start, end } = this.#found.shift()!;
      // What overlaps one that is written already belongs to it.
      if (start >= this.#maskedTo) this.#out += this.#cut(start) + this.#mask;
      this.#cut(end);
      this.#maskedTo = Math.max(this.#maskedTo, end);
    }
  }

  #cut(to: number): string {
    const count = Math.max(0, to - this.#from);
    const text = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    this.#from += count;
    return text;
  }

  #take(open: number): string {
    this.#write(open);
    const text = this.#out + this.#cut(Math.min(open, this.#found[0]?.start ?? open));
    this.#out = "";
    return text;
  }
}

/** What an expression is made of. */
type Part =
  | { readonly type: "unit"; readonly unit: string }
  | { readonly type: "class"; readonly of: Class }
  | { readonly type: "all" | "any"; readonly parts: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly least: number; readonly most: number };

interface Expression {
  readonly part: Part;
  readonly beginsAtBorder: boolean;
  readonly endsAtBorder: boolean;
}

/** Of all expressions together: what a character may cost. */
const MAX_STATES = 20_000;
const MAX_MATCH_CHARACTERS = 512;
const MAX_BLANKS = 8;

/** @throws Error for an expression that cannot be followed in bounded time, or that matches the empty text. */
function compiled(words: readonly string[], patterns: readonly string[], whole: boolean): Machine {
  let count = 0;
  const made = (match: State["match"] = null): State => {
    if (count > MAX_STATES) throw new Error("the words and patterns are too many, or repeat too much");
    count += 1;
    return { id: count - 1, exact: new Map(), begins: new Map(), classes: [], match };
  };
  const [anywhere, atBorder] = [made(), made()];
  const ends = { border: made("border"), always: made("always") };
  const build = (part: Part, next: readonly State[]): readonly State[] => {
    if (part.type === "all") return part.parts.reduceRight((behind, one) => build(one, behind), next);
    if (part.type === "any") return [...new Set(part.parts.flatMap((one) => build(one, next)))];
    if (part.type === "repeat") {
      let behind = next;
      for (let times = part.most; times > 0; times -= 1) {
        const once = build(part.part, behind);
        behind = times > part.least ? [...new Set([...once, ...next])] : once;
      }
      return behind;
    }
    const state = made();
    if ("unit" in part) state.exact.set(part.unit, [...next]);
    else if ("of" in part) state.classes.push({ of: part.of, to: next });
    return [state];
  };
  const expressions = [
    ...words.map((word) => [word, literal(word, whole)] as const),
    ...patterns.map((pattern) => [pattern, new Parser(pattern).read()] as const),
  ];
  for (const [source, { part, beginsAtBorder, endsAtBorder }] of expressions) {
    if (lengthOf(part, "least") === 0) throw new Error(`${source} matches where nothing is`);
    if (lengthOf(part, "most") > MAX_MATCH_CHARACTERS) {
      throw new Error(`${source} matches more than ${MAX_MATCH_CHARACTERS} characters`);
    }
    // What begins alike is followed once.
    const { from, rest } = shared(beginsAtBorder ? atBorder : anywhere, part, made);
    for (const { exact, classes } of build(rest, [endsAtBorder ? ends.border : ends.always])) {
      for (const [unit, to] of exact) from.exact.set(unit, [...(from.exact.get(unit) ?? []), ...to]);
      from.classes.push(...classes);
    }
  }
  const reached = { round: 0, rounds: new Float64Array(count), places: new Uint32Array(count) };
  return { anywhere, atBorder, reached };
}

/** The state behind the plain characters that an expression begins with, as long as more must follow. */
function shared(root: State, part: Part, made: () => State): { readonly from: State; readonly rest: Part } {
  if (part.type !== "all") return { from: root, rest: part };
  let from = root;
  let at = 0;
  for (; ; at += 1) {
    const first = part.parts[at]!;
    const behind: Part = { type: "all", parts: part.parts.slice(at + 1) };
    if (first.type !== "unit" || lengthOf(behind, "least") === 0) break;
    if (!from.begins.has(first.unit)) {
      const state = made();
      from.begins.set(first.unit, state);
      from.exact.set(first.unit, [...(from.exact.get(first.unit) ?? []), state]);
    }
    from = from.begins.get(first.unit)!;
  }
  return { from, rest: { type: "all", parts: part.parts.slice(at) } };
}

function literal(word: string, whole: boolean): Expression {
  const blank: Part = { type: "repeat", part: classOf(String.raw`\s`), least: 1, most: MAX_BLANKS };
  const units = word.trim().replaceAll(/\s+/g, " ").split("");
  const parts = units.map((unit) => (unit === " " ? blank : unitOf(unit)));
  return { part: { type: "all", parts }, beginsAtBorder: whole, endsAtBorder: whole };
}

function classOf(source: string): Part {
  return { type: "class", of: new Class(source) };
}

function lengthOf(part: Part, bound: "least" | "most"): number {
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
class Parser {
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
      return plain.length === 1 ? unitOf(plain) : { type: "all", parts: plain.split("").map(unitOf) };
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
