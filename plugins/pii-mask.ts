import { definePlugin, streamTexts, type TextChange, withAnswerTexts, withCallTexts } from "#kit";
import type { PiiMaskOptions } from "#schema";
import { type Finder, FINDERS, type Kind } from "./pii-mask/finders.ts";
import { folded } from "./pii-mask/fold.ts";

/** Puts placeholders in the place of personal data in what upstreams get, and the data in the place of them in answers. */
export default definePlugin<PiiMaskOptions>({
  name: "pii-mask",
  stage: "transform",
  schema: new URL("../schemas/plugins/pii-mask.schema.json", import.meta.url),
  setup({ kinds }) {
    const wanted = FINDERS.filter(({ kind }) => kinds?.includes(kind) ?? true);
    const finders = wanted.map((finder) => ({ ...finder, expression: new RegExp(finder.expression) }));
    /** By exchange, and gone with it. */
    const masked = new WeakMap<object, Masks>();
    return {
      transform(call, exchange) {
        const masks = new Masks();
        const note = (text: string): string => masks.note(text);
        const mask = (text: string, { fixed }: { readonly fixed: boolean }): string => masks.mask(text, finders, fixed);
        // First what is written in the request as it is: no placeholder may say the same.
        withCallTexts(call, note, note);
        const changed = withCallTexts(call, mask, (name) => masks.maskName(name, finders));
        if (masks.count > 0) masked.set(exchange, masks);
        return changed;
      },
      stream(exchange) {
        const masks = masked.get(exchange);
        return masks === undefined
          ? null
          : streamTexts(
              () => new Restoring(masks),
              (name) => masks.restoredName(name),
            );
      },
      response(body, exchange) {
        const masks = masked.get(exchange);
        if (masks === undefined) return body;
        const restored = (text: string): string => masks.restored(text);
        return withAnswerTexts(body, restored, (name) => masks.restoredName(name));
      },
    };
  },
});

const PLACEHOLDER = /\[(?:EMAIL|PHONE|IBAN|CARD|IP|KEY)_\d{1,6}\]/g;
/** The same without its brackets, as it stands in names: APIs take letters, digits, `_` and `-` alone there. */
const BARE = /(?:EMAIL|PHONE|IBAN|CARD|IP|KEY)_\d{1,6}/g;
/** The beginning of a placeholder at the end of a text that goes on. */
const BEGINNING = /\[(?:[A-Z]{0,5}|[A-Z]{2,5}_\d{0,6})$/;
/** In the place of what one finder has found, so that the next ones find nothing in it. */
const FOUND = "\u0001";

/** A part of a text, and what stands in its place. */
interface Mask {
  readonly start: number;
  readonly end: number;
  readonly placeholder: string;
}

/** The placeholders of one exchange. The same value has the same one, so a conversation that goes on reads as before. */
class Masks {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  /** Names as the upstream reads them, to those of the client. */
  readonly #names = new Map<string, string>();
  /** Without brackets. */
  readonly #taken = new Set<string>();
  readonly #counts = new Map<Kind, number>();

  get count(): number {
    return this.#values.size;
  }

  note(text: string): string {
    if (text.includes("_")) for (const [placeholder] of text.matchAll(BARE)) this.#taken.add(placeholder);
    return text;
  }

  /** @param fixed only what has a placeholder already gets it: all else its reader has written itself. */
  mask(text: string, finders: readonly Finder[], fixed: boolean): string {
    return written(text, this.#masksOf(text, finders, fixed));
  }

  /** The name of a tool or of who speaks, still a name. */
  maskName(name: string, finders: readonly Finder[]): string {
    const masks = this.#masksOf(name, finders, false);
    if (masks.length === 0) return name;
    const bare = masks.map((mask) => ({ ...mask, placeholder: mask.placeholder.slice(1, -1) }));
    const masked = written(name, bare);
    this.#names.set(masked, name);
    return masked;
  }

  restored(text: string): string {
    return text.includes("[") ? text.replaceAll(PLACEHOLDER, (found) => this.#values.get(found) ?? found) : text;
  }

  restoredName(name: string): string {
    return this.#names.get(name) ?? name;
  }

  /** In the order of the text; none overlap. */
  #masksOf(text: string, finders: readonly Finder[], fixed: boolean): readonly Mask[] {
    const { text: whole, span } = folded(text);
    let read = whole;
    const masks: Mask[] = [];
    for (const { kind, expression, length } of finders) {
      let done = 0;
      let left = "";
      expression.lastIndex = 0;
      for (let found = expression.exec(read); found !== null; found = expression.exec(read)) {
        const [candidate] = found;
        const count = length?.(candidate) ?? candidate.length;
        // A candidate that turned out to be nothing may hold one that is.
        expression.lastIndex = found.index + Math.max(count, 1);
        if (count === 0) continue;
        const end = found.index + count;
        const place = span(found.index, end);
        const value = text.slice(place.start, place.end);
        const placeholder = this.#byValue.get(value) ?? (fixed ? null : this.#placeholderOf(value, kind));
        if (placeholder === null) continue;
        masks.push({ ...place, placeholder });
        left += read.slice(done, found.index) + FOUND.repeat(count);
        done = end;
      }
      read = left + read.slice(done);
    }
    return masks.toSorted((a, b) => a.start - b.start);
  }

  #placeholderOf(value: string, kind: Kind): string {
    let bare: string;
    let number = this.#counts.get(kind) ?? 0;
    do {
      number += 1;
      bare = `${kind.toUpperCase()}_${number}`;
    } while (this.#taken.has(bare));
    this.#counts.set(kind, number);
    const placeholder = `[${bare}]`;
    this.#byValue.set(value, placeholder);
    this.#values.set(placeholder, value);
    return placeholder;
  }
}

function written(text: string, masks: readonly Mask[]): string {
  let result = "";
  let done = 0;
  for (const { start, end, placeholder } of masks) {
    result += text.slice(done, start) + placeholder;
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** Restores a text that comes in pieces. */
class Restoring implements TextChange {
  readonly #masks: Masks;
  #held = "";

  constructor(masks: Masks) {
    this.#masks = masks;
  }

  add(piece: string): string {
    const text = this.#held + piece;
    const begun = BEGINNING.exec(text.slice(-MAX_PLACEHOLDER_CHARACTERS));
    this.#held = begun?.[0] ?? "";
    return this.#masks.restored(text.slice(0, text.length - this.#held.length));
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}

const MAX_PLACEHOLDER_CHARACTERS = 14;
