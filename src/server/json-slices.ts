import type { Steps } from "../kit/index.ts";
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipText,
  SLICE_BYTES,
} from "./json-size.ts";

/** Bytes of `\u20ac`. */
const LONGEST_ESCAPE_BYTES = 6;
const LETTER_U = 0x75;
const BLANK = /^[ \t\n\r]*$/;

/**
 * The value of a JSON text, the same as `JSON.parse` makes of it, in steps. The text is cut at commas into runs, each
 * parsed natively between brackets of its own; of a value that is longer than a run the inside is cut. Behind a step
 * nothing is kept but what is parsed.
 * @param body UTF-8.
 * @param sliceBytes of a run, about.
 * @throws SyntaxError where JSON.parse does, and for what is nested deeper than `maxLevels`.
 */
export function parseSteps(body: Buffer, maxLevels: number, sliceBytes = SLICE_BYTES): Steps<unknown> {
  return new SlicedParser(body, maxLevels, sliceBytes).run();
}

/** A list or an object that is put together from several runs. */
interface Frame {
  readonly value: unknown[] | Record<string, unknown>;
  /** Its closing bracket. */
  readonly end: number;
  /** Its name in the object around it. */
  readonly name: string | null;
  /** The latest value was put into it whole: a comma or the end must follow. */
  complete: boolean;
  /** There was a comma: something must follow. */
  continued: boolean;
}

class SlicedParser {
  readonly #body: Buffer;
  readonly #maxLevels: number;
  readonly #sliceBytes: number;
  /** By level: where what is not parsed yet begins. */
  readonly #starts: Int32Array;
  /** By level: the last comma behind the start; before it when there is none. */
  readonly #cuts: Int32Array;
  /** Those of the outermost levels: of the inner ones nothing is parsed yet. The whole is a list of one value. */
  readonly #frames: Frame[] = [frameOf(OPEN_LIST, null)];

  constructor(body: Buffer, maxLevels: number, sliceBytes: number) {
    this.#body = body;
    this.#maxLevels = maxLevels;
    this.#sliceBytes = sliceBytes;
    this.#starts = new Int32Array(maxLevels + 1);
    this.#cuts = new Int32Array(maxLevels + 1).fill(-1);
  }

  *run(): Steps<unknown> {
    const body = this.#body;
    const starts = this.#starts;
    const cuts = this.#cuts;
    const frames = this.#frames;
    let level = 0;
    let stepAt = this.#sliceBytes;
    for (let at = 0; at < body.length; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) {
        const begin = at;
        at += 1;
        for (;;) {
          at = skipText(body, at, at + this.#sliceBytes);
          if (at >= body.length || body[at] === QUOTE) break;
          yield;
        }
        if (at < body.length && at - begin > this.#sliceBytes) yield* this.#longText(begin, at, level);
      } else if (byte === COMMA) {
        if (level === 0) throw new SyntaxError("more than one value");
        const inner = frames[level];
        if (inner?.complete === true) this.#resume(inner, level, at);
        else cuts[level] = at;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        level += 1;
        if (level > this.#maxLevels) throw new SyntaxError("too many levels");
        starts[level] = at + 1;
        cuts[level] = -1;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (level === 0) throw new SyntaxError("a bracket that nothing opens");
        if (level === frames.length - 1) this.#close(level, at);
        level -= 1;
      }
      if (at >= stepAt) {
        this.#parseUpTo(at, level);
        stepAt = at + this.#sliceBytes;
        yield;
      }
    }
    if (level > 0) throw new SyntaxError("a bracket that nothing closes");
    const [root] = frames as [Frame];
    this.#parseRun(root, 0, body.length);
    const [value] = root.value as unknown[];
    if ((root.value as unknown[]).length !== 1) throw new SyntaxError("no value");
    return value;
  }

  /** Parses what is complete before `at`, so far as it takes to have no more than a slice left. */
  #parseUpTo(at: number, level: number): void {
    for (;;) {
      const inner = this.#frames.length - 1;
      const frame = this.#frames[inner]!;
      if (at - this.#starts[inner]! <= this.#sliceBytes || frame.complete) return;
      if (this.#cuts[inner]! >= this.#starts[inner]!) this.#cut(frame, inner);
      // Else a text or blanks.
      else if (level > inner) this.#open(inner + 1);
      else return;
    }
  }

  /** Parses up to the last comma of the level. */
  #cut(frame: Frame, level: number): void {
    const at = this.#cuts[level]!;
    if (this.#parseRun(frame, level, at) === 0) throw new SyntaxError("nothing before a comma");
    this.#starts[level] = at + 1;
    frame.continued = true;
  }

  /** What begins with the bracket of the level, with nothing but its name before it, gets a frame. */
  #open(level: number): void {
    const bracket = this.#starts[level]! - 1;
    const name = this.#nameBefore(bracket, level - 1);
    this.#frames.push(frameOf(this.#body[bracket]!, name));
  }

  /** The value at `at` is the next of its level, after all that the level had before is parsed. */
  #nameBefore(at: number, level: number): string | null {
    const frame = this.#frames[level]!;
    if (frame.complete) throw new SyntaxError("no comma between two values");
    const before = this.#body.toString("utf8", this.#starts[level], at);
    if (frame.end === CLOSE_LIST) {
      if (!BLANK.test(before)) throw new SyntaxError("no comma between two values");
      return null;
    }
    const [name] = Object.keys(JSON.parse(`{${before}null}`) as object);
    return name!;
  }

  #close(level: number, at: number): void {
    const frame = this.#frames[level]!;
    if (this.#body[at] !== frame.end) throw new SyntaxError("a bracket of another kind");
    const count = this.#parseRun(frame, level, at);
    if (count === 0 && frame.continued && !frame.complete) throw new SyntaxError("nothing behind a comma");
    this.#frames.pop();
    this.#put(frame.name, frame.value, level - 1, at + 1);
  }

  /** Adds a value that ends before `at`. */
  #put(name: string | null, value: unknown, level: number, at: number): void {
    const frame = this.#frames[level]!;
    if (Array.isArray(frame.value)) frame.value.push(value);
    else setField(frame.value, name!, value);
    frame.complete = true;
    this.#starts[level] = at;
    this.#cuts[level] = -1;
  }

  /** A comma behind a value that is in its frame already. */
  #resume(frame: Frame, level: number, at: number): void {
    this.#parseRun(frame, level, at);
    frame.complete = false;
    frame.continued = true;
    this.#starts[level] = at + 1;
  }

  /** Parses what stands between the level's start and `to`. @returns how many values that were. */
  #parseRun(frame: Frame, level: number, to: number): number {
    const text = this.#body.toString("utf8", this.#starts[level], to);
    if (frame.complete) {
      if (!BLANK.test(text)) throw new SyntaxError("no comma between two values");
      return 0;
    }
    if (Array.isArray(frame.value)) {
      const items = JSON.parse(`[${text}]`) as unknown[];
      for (const item of items) frame.value.push(item);
      return items.length;
    }
    const fields = JSON.parse(`{${text}}`) as Record<string, unknown>;
    const names = Object.keys(fields);
    for (const name of names) setField(frame.value, name, fields[name]);
    return names.length;
  }

  /** A text that is no name, from quote to quote, is parsed by itself. */
  *#longText(begin: number, end: number, level: number): Steps<void> {
    for (;;) {
      const inner = this.#frames.length - 1;
      const frame = this.#frames[inner]!;
      if (!frame.complete && this.#cuts[inner]! >= this.#starts[inner]!) this.#cut(frame, inner);
      if (inner === level) break;
      this.#open(inner + 1);
      yield;
    }
    const frame = this.#frames[level]!;
    const before = this.#body.toString("utf8", this.#starts[level], begin);
    if (frame.end === CLOSE_OBJECT && BLANK.test(before)) return;
    const name = this.#nameBefore(begin, level);
    const parts: string[] = [];
    // Longer than an escape, or a part of one would be looked for without end.
    const maxBytes = Math.max(this.#sliceBytes, 4 * LONGEST_ESCAPE_BYTES);
    for (let at = begin + 1; at < end;) {
      const to = at + maxBytes < end ? this.#wholeCharacters(at, at + maxBytes) : end;
      parts.push(JSON.parse(`"${this.#body.toString("utf8", at, to)}"`) as string);
      at = to;
      yield;
    }
    this.#put(name, parts.join(""), level, end + 1);
  }

  /** The last place up to `to` that is neither inside of a character nor of an escape. */
  #wholeCharacters(from: number, to: number): number {
    const body = this.#body;
    let at = to;
    while ((body[at]! & 0xc0) === 0x80) at -= 1;
    let last = at - 1;
    while (last >= from && last > at - LONGEST_ESCAPE_BYTES && body[last] !== BACKSLASH) last -= 1;
    let first = last;
    while (first >= from && body[first] === BACKSLASH) first -= 1;
    if ((last - first) % 2 === 0) return at;
    const length = body[last + 1] === LETTER_U ? LONGEST_ESCAPE_BYTES : 2;
    return last + length > at ? last : at;
  }
}

function frameOf(bracket: number, name: string | null): Frame {
  const isList = bracket === OPEN_LIST;
  return {
    value: isList ? [] : {},
    end: isList ? CLOSE_LIST : CLOSE_OBJECT,
    name,
    complete: false,
    continued: false,
  };
}

/** As JSON.parse does: `__proto__` is a field like any other. */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
