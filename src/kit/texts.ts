import { dataText, readDataUrl } from "./data-url.ts";
import { invalidRequest } from "./errors.ts";
import { isJson, type Json } from "./json.ts";
import type { Call } from "./request.ts";

/*
 * Every text that people or models wrote, for plugins that look for something in it or change it: in calls, in complete
 * answers, and in streams, where a text comes in pieces that may break anywhere.
 */

/** Changes one text that comes in pieces. */
export interface TextChange {
  /** @returns what can be passed on by now. */
  add(piece: string): string;
  /** The text is over. @returns what was held back. */
  end(): string;
}

/**
 * What is to become of a whole text. A `fixed` one should stay to the letter: its provider signed it and refuses it back
 * with another, or it is what stands around the texts of JSON, where nothing is changed whatever is returned.
 */
export type ChangeText = (text: string, about: { readonly fixed: boolean }) => string;

/** Fields whose text says what something is, or that no model reads: identifiers, addresses, files, seals, settings. */
const NO_TEXTS: ReadonlySet<string> = new Set(
  (
    "type role id object model name index url image_url data file_data file_id file_url b64_json signature format " +
    "encrypted_content encrypted_index thought_signature tool_call_id call_id tool_use_id item_id finish_reason " +
    "native_finish_reason stop_reason status detail media_type mime_type pattern required $ref $id dialect namespace " +
    "service_tier voice size quality embedding encoding_format tool_choice reasoning_effort effort verbosity modalities " +
    "include truncation response_format timestamp_granularities"
  ).split(" "),
);

/** Deeper than any schema; recursion far beyond would exhaust the stack. */
const MAX_DEPTH = 500;

/**
 * The call with its texts changed; the very same one when none was. A call of the Responses format also has the client's
 * own request, which goes to an upstream of the same format: it is changed alike.
 */
export function withCallTexts(call: Call, change: ChangeText): Call {
  const writer = new TextWriter(change);
  const changed: Record<string, unknown> = {};
  for (const field of ["body", "canonical", "native", "request"]) {
    const before: unknown = Reflect.get(call, field);
    const after = writer.write(before);
    if (after !== before) changed[field] = after;
  }
  return Object.keys(changed).length === 0 ? call : { ...call, ...changed };
}

/** A complete answer with its texts changed; the very same one when none was. */
export function withAnswerTexts(body: Json, change: ChangeText): Json {
  return new TextWriter(change).write(body) as Json;
}

/** Copies what it changes, and nothing else. What it has met before it changes as before. */
export class TextWriter {
  readonly #change: ChangeText;
  readonly #written = new Map<object, unknown>();

  constructor(change: ChangeText) {
    this.#change = change;
  }

  write(value: unknown, field = "", fixed = false, depth = 0): unknown {
    if (typeof value === "string") {
      if (field === "file_data") return changedDocument(value, this.#change);
      if (value === "" || NO_TEXTS.has(field)) return value;
      return field === "arguments" ? changedJson(value, this.#change) : this.#change(value, { fixed });
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) throw invalidRequest("/", "must not be nested so deeply");
    const known = this.#written.get(value);
    if (known !== undefined) return known;
    const written = isJson(value) ? this.#object(value, fixed, depth) : this.#list(value as [], field, fixed, depth);
    this.#written.set(value, written);
    return written;
  }

  #list(list: readonly unknown[], field: string, fixed: boolean, depth: number): readonly unknown[] {
    let copy: unknown[] | null = null;
    for (const [index, item] of list.entries()) {
      const written = this.write(item, field, fixed, depth + 1);
      if (written !== item) (copy ??= [...list])[index] = written;
    }
    return copy ?? list;
  }

  #object(object: Json, isAround: boolean, depth: number): Json {
    const fixed = isAround || isSigned(object);
    let copy: Json = object;
    for (const [field, value] of Object.entries(object)) {
      if (field === "logprobs") continue;
      const isThought = field === "reasoning_content" && someSigned(object["reasoning_details"]);
      // Of a document of the Messages format.
      const name = field === "data" && object["type"] === "text" ? "text" : field;
      const written = this.write(value, name, fixed || isThought, depth + 1);
      // A computed key: `__proto__` must stay a plain field.
      if (written !== value) copy = { ...copy, [field]: written };
    }
    if (copy === object || object["logprobs"] === undefined) return copy;
    // Single tokens would still say what the text no longer does.
    return { ...copy, logprobs: Array.isArray(object["logprobs"]) ? [] : null };
  }
}

function isSigned(value: unknown): boolean {
  return isJson(value) && typeof value["signature"] === "string" && value["signature"] !== "";
}

function someSigned(details: unknown): boolean {
  return Array.isArray(details) && details.some(isSigned);
}

/** A file that came inlined, if dialects send it as text: however its head and body are written. */
function changedDocument(url: string, change: ChangeText): string {
  const data = readDataUrl(url);
  const text = data && dataText(data);
  if (data === null || text === null) return url;
  const changed = change(text, { fixed: false });
  return changed === text ? url : `data:${data.type};base64,${Buffer.from(changed).toString("base64")}`;
}

const QUOTED = /"[^"\\]*(?:\\[^][^"\\]*)*"/g;

/** JSON text with the texts in it changed, all else to the letter. What is no JSON is one text. */
function changedJson(json: string, change: ChangeText): string {
  if (parsed(json) === undefined) return change(json, { fixed: false });
  let before = 0;
  const look = (end: number): void => {
    if (end > before) change(json.slice(before, end), { fixed: true });
  };
  const written = json.replaceAll(QUOTED, (quoted, at: number) => {
    look(at);
    before = at + quoted.length;
    const text = parsed(quoted) as string;
    const changed = change(text, { fixed: false });
    return changed === text ? quoted : JSON.stringify(changed);
  });
  look(json.length);
  return written;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** As much of the inside of a JSON text as can be read by now. */
const READABLE = /[^"\\]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\]*)*/y;
/** The longest escape, in characters. */
const MAX_ESCAPE_COUNT = 6;

/** JSON text in pieces: each text in it is changed by itself. What is around them is seen, and stays as it is. */
export class JsonChange implements TextChange {
  readonly #begin: () => TextChange;
  #text: TextChange;
  #isInside = false;
  /** The beginning of an escape. */
  #rest = "";

  constructor(begin: () => TextChange) {
    this.#begin = begin;
    this.#text = begin();
  }

  add(piece: string): string {
    const json = this.#rest + piece;
    this.#rest = "";
    let written = "";
    for (let at = 0; at < json.length;) {
      const end = this.#isInside ? readableTo(json, at) : quoteIn(json, at);
      const part = json.slice(at, end);
      at = end;
      if (part !== "") written += this.#pass(part);
      if (at === json.length) break;
      if (json[at] === '"') {
        written += `${this.#end()}"`;
        this.#isInside = !this.#isInside;
        at += 1;
      } else if (json.length - at < MAX_ESCAPE_COUNT) {
        this.#rest = json.slice(at);
        break;
      } else {
        // No escape of JSON: whoever reads it finds that out.
        written += json[at];
        at += 1;
      }
    }
    return written;
  }

  end(): string {
    return this.#end() + this.#rest;
  }

  #pass(part: string): string {
    if (this.#isInside) return escaped(this.#text.add(unescaped(part)));
    this.#text.add(part);
    return part;
  }

  #end(): string {
    const rest = this.#text.end();
    this.#text = this.#begin();
    return this.#isInside ? escaped(rest) : "";
  }
}

function quoteIn(json: string, from: number): number {
  const at = json.indexOf('"', from);
  return at < 0 ? json.length : at;
}

function readableTo(json: string, from: number): number {
  READABLE.lastIndex = from;
  READABLE.test(json);
  return Math.max(READABLE.lastIndex, from);
}

function unescaped(part: string): string {
  const text = part.includes("\\") ? parsed(`"${part}"`) : part;
  return typeof text === "string" ? text : part;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Whether a text has more code points than that; one of them takes one or two of `length`. */
export function isLonger(text: string, points: number): boolean {
  if (text.length <= points) return false;
  if (text.length > 2 * points) return true;
  let left = points;
  for (const _ of text) {
    left -= 1;
    if (left < 0) return true;
  }
  return false;
}
