import { GatewayError, type TextChange } from "#kit";
import {
  type Class,
  folded,
  INVISIBLE,
  INVISIBLE_HIGHS,
  isWord,
  LAST_ASCII,
  lengthOf,
  literal,
  MAX_MATCH_CHARACTERS,
  Parser,
  type Part,
} from "./pattern.ts";

/** Of all expressions together. */
const MAX_STATES = 20_000;
/**
 * States that a text may be in at the same time. Each takes 0.04 us a character: with 500 of them, as for
 * `[a-z]{1,500}@`, one text of a megabyte would hold up everybody else's requests for 22 s.
 */
const MAX_LIVE_STATES = 128;
/** Characters whose repetition is tried, besides those that the expressions name. */
const TRIED_UNITS = ["a", "0", " ", "_", "-", ".", "/", "\u00e9", "\u4e2d"];

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

export interface Machine {
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

/** @throws Error for an expression that cannot be followed in bounded time, or that matches the empty text. */
export function compiled(words: readonly string[], patterns: readonly string[], whole: boolean): Machine {
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
  const machine = { anywhere, atBorder, reached };
  refuseWide(machine, new Set([...TRIED_UNITS, ...patterns.join("").toLowerCase().split("")]));
  return machine;
}

/** @throws Error for expressions that a text of one and the same character brings into too many states. */
function refuseWide(machine: Machine, units: ReadonlySet<string>): void {
  for (const unit of units) {
    const search = new Search(machine, "", "");
    for (let times = 0; times < MAX_MATCH_CHARACTERS; times += 1) {
      search.add(unit);
      if (search.width <= MAX_LIVE_STATES) continue;
      throw new Error(
        `the patterns repeat too much: a text that goes on with ${JSON.stringify(unit)} is followed in more than ${MAX_LIVE_STATES} places at a time; write smaller repetitions, or begin with what is rare`,
      );
    }
  }
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

/**
 * Looks for matches in one pass, whatever the expressions are: of each state it follows the match that began first. What
 * overlaps is masked as one.
 */
export class Search implements TextChange {
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
  /** The first half of a character, not read yet; empty: none. */
  #high = "";
  #out = "";

  constructor(machine: Machine, mask: string | null, what: string) {
    this.#machine = machine;
    this.#mask = mask;
    this.#what = what;
  }

  /** States that are followed. */
  get width(): number {
    return this.#live.length;
  }

  add(piece: string): string {
    this.#held += piece;
    for (let at = 0; at < piece.length; at += 1) this.#read(piece[at]!);
    return this.#take(this.#firstOpen());
  }

  end(): string {
    this.#readHigh();
    this.#live = [];
    this.#starts = [];
    for (const { start, end } of this.#pending.splice(0)) this.#accept(start, end);
    return this.#take(this.#at);
  }

  /** The first half of a character waits for the second one if the two may be one that nobody sees. */
  #read(unit: string): void {
    const high = this.#high;
    if (high !== "" && INVISIBLE.test(high + unit)) {
      this.#high = "";
      this.#at += 2;
      return;
    }
    this.#readHigh();
    if (INVISIBLE_HIGHS.has(unit)) this.#high = unit;
    else this.#step(unit);
  }

  #readHigh(): void {
    const high = this.#high;
    this.#high = "";
    if (high !== "") this.#step(high);
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
