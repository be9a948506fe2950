import { between } from "../dialects/canonical/body-text.ts";
import type { LongText } from "../dialects/canonical/media.ts";
import { isJson, type Json } from "../kit/index.ts";
import type { PlainText } from "./plain-text.ts";

/** Shorter texts are decoded with the rest of their body. */
export const LONG_TEXT_BYTES = 16 * 1024;
/** Fields of messages and their parts whose text may be of any length: `validateBody` asks no more than that it is one. */
const FIELDS: ReadonlySet<string> = new Set(["content", "text", "url", "file_data", "data"]);

/** Enough to tell how a text begins. */
const BEGINNING_BYTES = 64;
const FETCHED = /^\s*[a-z][a-z\d+.-]*:\/\//i;

/** The bytes of a body that are kept beside what is parsed. */
export interface KeptBytes {
  readonly chunks: readonly Buffer[];
  readonly plainText: PlainText;
}

/** A text within a body, without its quotes. */
export interface TextRange {
  readonly at: number;
  readonly end: number;
}

/**
 * The long texts of a chat body without escapes, as images are: most are sent on as they came and read by nobody, and to
 * decode them takes longer than all else about their request. Until `place` is called the parsed body has stand-ins.
 */
export class LongTexts {
  /** The body's text with stand-ins. */
  readonly text: string;
  /** The long texts by their stand-ins. */
  readonly texts: ReadonlyMap<string, LongText>;
  readonly #ranges: readonly TextRange[];
  readonly #places: Place[] = [];
  /** Stand-ins in the parsed text, or texts of the client's own that are the same. */
  #seen = 0;

  readonly #chunks: readonly Uint8Array[];

  private constructor(body: Buffer, chunks: readonly Uint8Array[], ranges: readonly TextRange[]) {
    const texts = new Map<string, LongText>();
    let text = "";
    let done = 0;
    for (const { at, end } of ranges) {
      const standIn = `long text ${texts.size}`;
      texts.set(standIn, longText(chunks, { at, end }));
      text += body.toString("utf8", done, at) + standIn;
      done = end;
    }
    this.text = text + body.toString("utf8", done);
    this.texts = texts;
    this.#ranges = ranges;
    this.#chunks = chunks;
  }

  /** @param body UTF-8. @returns null where there are none. */
  static of(body: Buffer, { chunks, plainText }: KeptBytes, found: readonly TextRange[]): LongTexts | null {
    if (found.length === 0) return null;
    const ranges = found.filter(({ at, end }) => plainText.is(body.subarray(at, end)));
    return ranges.length === 0 ? null : new LongTexts(body, chunks, ranges);
  }

  /**
   * @param body the parsed text; no object in it has a field twice.
   * @returns whether it has each stand-in once and where it may be: another body has to be parsed whole.
   */
  isIn(body: Json): boolean {
    for (const name in body) this.#find(body[name], name === "messages");
    const found = new Set(this.#places.map(({ standIn }) => standIn));
    return this.#seen === this.#ranges.length && found.size === this.#ranges.length;
  }

  /** Puts the texts where their stand-ins are, each decoded when it is read. */
  place(): void {
    const standIns = [...this.texts.keys()];
    for (const { owner, name, standIn } of this.#places) {
      placeLater(owner, name, this.#chunks, this.#ranges[standIns.indexOf(standIn)]!);
    }
  }

  /**
   * A text of the parsed body for who looks for addresses: in place of a stand-in, all of the long text where it begins as
   * an address to be fetched, else its beginning.
   */
  addressAt(text: string): string {
    if (!this.texts.has(text)) return text;
    const { at, end } = this.#ranges[[...this.texts.keys()].indexOf(text)]!;
    const read = (to: number): string => Buffer.concat(between(this.#chunks, at, to)).toString();
    const beginning = read(Math.min(end, at + BEGINNING_BYTES));
    return FETCHED.test(beginning) ? read(end) : beginning;
  }

  #find(value: unknown, isInMessages: boolean): void {
    if (typeof value === "string") {
      if (this.texts.has(value)) this.#seen += 1;
    } else if (Array.isArray(value)) {
      for (const item of value) this.#find(item, isInMessages);
    } else if (isJson(value)) {
      for (const name in value) {
        const inner = value[name];
        this.#find(inner, isInMessages);
        if (!isInMessages || !FIELDS.has(name) || typeof inner !== "string") continue;
        if (this.texts.has(inner)) this.#places.push({ owner: value, name, standIn: inner });
      }
    }
  }
}

interface Place {
  readonly owner: Json;
  readonly name: string;
  readonly standIn: string;
}

/** A text within the bytes of a body: what is asked of it is decoded, and no more. */
function longText(chunks: readonly Uint8Array[], { at, end }: TextRange): LongText {
  return {
    bytes: end - at,
    slice: (from, to) => Buffer.concat(between(chunks, Math.min(at + from, end), Math.min(at + to, end))).toString(),
  };
}

/** Not to be told from a field with a value: it is listed, copied and written as one. */
function placeLater(owner: Json, name: string, chunks: readonly Uint8Array[], { at, end }: TextRange): void {
  let source: readonly Uint8Array[] | null = chunks;
  let value: unknown;
  Object.defineProperty(owner, name, {
    enumerable: true,
    configurable: true,
    get() {
      if (source !== null) value = Buffer.concat(between(source, at, end)).toString();
      source = null;
      return value;
    },
    set(other: unknown) {
      source = null;
      value = other;
    },
  });
}
