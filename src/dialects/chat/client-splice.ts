import type { Json } from "../../kit/index.ts";

/*
 * Where a field stands in the text of an object, told without reading all of it. In valid JSON a quote behind a comma or
 * a brace opens a text if a letter follows: inside one it would be escaped, and behind one comes no letter. So
 * `,"usage":null` is a field wherever it is found, and one of the outermost object if nothing but plain fields stand
 * between it and either end. Of two fields of one name in one object nothing is said.
 */

/** A field without escapes whose value is neither an object nor a list. */
const PLAIN = String.raw`"[^"\\]*":(?:"[^"\\]*"|[\w.+-]+)`;
const PLAIN_HEAD = new RegExp(`^\\{(?:${PLAIN},)*$`);
const PLAIN_TAIL = new RegExp(`^(?:,${PLAIN})*\\}$`);
const NO_USAGE = ',"usage":null';

/** Exchanges the model inside the texts of one stream's chunks, which mostly begin alike. */
export class ModelSplice {
  readonly #member: string;
  /** The beginning up to the model that was found last, and what replaces it. */
  #head = "";
  #newHead = "";
  #model: string | null = null;

  /** @param model the route. */
  constructor(model: string) {
    this.#member = `"model":${JSON.stringify(model)}`;
  }

  /**
   * @param raw `data` as text.
   * @param hideUsage whether a usage of null is taken out.
   * @returns the text of one line; null where that is not known to be the same as `data` written anew.
   */
  write(raw: string, data: Json, hideUsage: boolean): string | null {
    const { model } = data;
    if (typeof model !== "string" || raw.includes("\n")) return null;
    const at = hideUsage ? raw.lastIndexOf(NO_USAGE) : raw.length;
    const after = raw.slice(at + NO_USAGE.length);
    if (hideUsage && (at < 0 || !PLAIN_TAIL.test(after))) return null;
    const begin = this.#head.length;
    // Not `startsWith`, which takes twice as long.
    if (model === this.#model && begin <= at && raw.slice(0, begin) === this.#head) {
      return this.#newHead + raw.slice(begin, at) + after;
    }
    return this.#exchange(raw.slice(0, at) + after, model);
  }

  #exchange(text: string, model: string): string | null {
    const member = `"model":${JSON.stringify(model)}`;
    const at = text.indexOf(member);
    const before = text.slice(0, at);
    const after = text.slice(at + member.length);
    if (at < 1 || after.includes('"model"')) return null;
    if (PLAIN_HEAD.test(before)) {
      this.#head = before + member;
      this.#newHead = before + this.#member;
      this.#model = model;
    } else if (!before.endsWith(",") || !PLAIN_TAIL.test(after)) return null;
    return before + this.#member + after;
  }
}
