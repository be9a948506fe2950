import type { Steps } from "../kit/index.ts";
import { LONG_TEXT_BYTES, type TextRange } from "./long-texts.ts";

/** Bytes that are worked on in one turn of the event loop: some milliseconds. */
export const SLICE_BYTES = 256 * 1024;

/** Bytes of a text after which looking for its end natively is faster than byte by byte. */
const SHORT_TEXT_BYTES = 32;

/** The same behind a quote that is escaped: where there is one there are many. */
const ESCAPED_TEXT_BYTES = 4096;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const BACKSLASH = 0x5c;
const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/**
 * Looks for the end of a text from `at`, which is inside of it and not behind a backslash.
 * @returns where its closing quote is; a text of many escapes is left at `to` or soon after, to be gone on with from there.
 */
export function skipText(body: Buffer, at: number, to: number): number {
  let near = at + SHORT_TEXT_BYTES;
  for (;;) {
    const end = Math.min(near, body.length);
    while (at < end) {
      const byte = body[at];
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= to) return at;
    const quote = body.indexOf(QUOTE, at);
    if (quote < 0) return body.length;
    let before = quote;
    while (before > at && body[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
    near = at + ESCAPED_TEXT_BYTES;
  }
}

const MODEL = Buffer.from("model");

function isModel(body: Buffer, at: number): boolean {
  for (let index = 0; index < MODEL.length; index += 1) if (body[at + index] !== MODEL[index]) return false;
  return true;
}

/** The size of a JSON text, known before anything is made of it: of one that is not JSON an upper bound. */
export class JsonSize {
  /** Lists, objects and what is in them. */
  values = 1;
  containers = 0;
  levels = 0;
  /** Names of fields, each as often as it stands there: as many as the parsed value has, or one object has one twice. */
  fields = 0;
  /** Where the text that is the outermost object's `model` stands, quotes included; -1: not found. */
  modelAt = -1;
  modelEnd = -1;
  /** Of texts that are found in one step. */
  readonly longTexts: TextRange[] = [];
  /** What fields are called, as it is written; null where it is not asked for. */
  readonly names: Set<string> | null;
  #level = 0;
  /** Of the latest text, from quote to quote. */
  #textAt = 0;
  #textEnd = 0;
  #inText = false;
  /** The next text is the value of `model`: it is none of the object's other names where that value is a text. */
  #atModel = false;
  readonly #maxLevels: number;
  readonly #maxNames: number;

  /** @param maxNames beyond which names are not looked for; 0: not at all. */
  constructor(maxLevels: number, maxNames = 0) {
    this.#maxLevels = maxLevels;
    this.#maxNames = maxNames;
    this.names = maxNames > 0 ? new Set() : null;
  }

  /** Goes on from `at`. @returns where it stopped: at `to` or soon after; behind too many levels at the end. */
  scan(body: Buffer, at: number, to: number): number {
    const { names } = this;
    let level = this.#level;
    let values = this.values;
    let containers = this.containers;
    let { fields } = this;
    let textAt = this.#textAt;
    let textEnd = this.#textEnd;
    if (this.#inText) {
      at = skipText(body, at, to);
      this.#inText = at >= to && body[at] !== QUOTE;
      if (this.#inText) return at;
      textEnd = at;
      at += 1;
      // One that is cut in two is not looked for.
      this.#atModel = false;
    }
    for (; at < to; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) {
        textAt = at + 1;
        at = skipText(body, textAt, to);
        textEnd = at;
        if (at >= to && body[at] !== QUOTE) {
          this.#inText = true;
          break;
        }
        if (this.#atModel) this.#endModel(textAt - 1, at + 1);
        if (textEnd - textAt >= LONG_TEXT_BYTES) this.longTexts.push({ at: textAt, end: textEnd });
      } else if (byte === COMMA) {
        values += 1;
      } else if (byte === COLON) {
        fields += 1;
        if (level === 1 && textEnd - textAt === MODEL.length) this.#atModel = isModel(body, textAt);
        if (names !== null && names.size <= this.#maxNames) names.add(body.toString("latin1", textAt, textEnd));
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values += 1;
        containers += 1;
        level += 1;
        if (level > this.levels) this.levels = level;
        if (level > this.#maxLevels) {
          at = body.length;
          break;
        }
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        level -= 1;
      }
    }
    this.#level = level;
    this.#textAt = textAt;
    this.#textEnd = textEnd;
    this.values = values;
    this.containers = containers;
    this.fields = fields;
    return at;
  }

  #endModel(at: number, end: number): void {
    this.modelAt = at;
    this.modelEnd = end;
    this.#atModel = false;
  }
}

/** The size of a long JSON text, in steps. */
export function* sizeSteps(
  body: Buffer,
  maxLevels: number,
  maxNames: number,
  sliceBytes = SLICE_BYTES,
): Steps<JsonSize> {
  const size = new JsonSize(maxLevels, maxNames);
  for (let at = 0; at < body.length;) {
    at = size.scan(body, at, Math.min(at + sliceBytes, body.length));
    yield;
  }
  return size;
}
