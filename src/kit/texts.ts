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

/** Changes a name of a tool or of who speaks, which has to stay a name. */
export type ChangeName = (name: string) => string;

/**
 * Fields of a request whose text says what something is, or that no model reads: identifiers, addresses, files, seals,
 * settings. Every other one is a text, because providers have more fields than anybody knows.
 */
const NO_TEXTS: ReadonlySet<string> = new Set(
  (
    "type role id object model name index url image_url data file_data file_id file_url b64_json signature format " +
    "encrypted_content encrypted_index thought_signature tool_call_id call_id tool_use_id item_id finish_reason " +
    "native_finish_reason stop_reason status detail media_type mime_type pattern required $ref $id dialect namespace " +
    "service_tier voice size quality embedding encoding_format tool_choice reasoning_effort effort verbosity modalities " +
    "include truncation response_format timestamp_granularities"
  ).split(" "),
);

/**
 * Fields of an answer that a person or a program reads as the model's words: of the canonical shapes, and of the blocks,
 * items and events of the Messages and Responses formats. Everything else of an answer is the provider's own, such as
 * `system_fingerprint`.
 */
const ANSWER_TEXTS: ReadonlySet<string> = new Set(
  // Words and thoughts of a chat.
  (
    "content text refusal reasoning reasoning_content thinking summary transcript delta partial_json " +
    // Calls of tools, and what tools that the provider runs were asked and said.
    "arguments input output query queries code logs stdout stderr command commands diff prompt instructions error message " +
    // Sources and quotations.
    "title document_title cited_text quote snippet description " +
    // Other kinds of models: transcriptions, images, reranks.
    "word words document documents revised_prompt"
  ).split(" "),
);

/** Fields with names that models read. A pattern is one, too: what stands in it has to stay a pattern. */
const NAMES: ReadonlySet<string> = new Set(["name", "pattern"]);

/** Fields with values of a tool or a schema: every text in them is one, whatever its field is called. */
const VALUES: ReadonlySet<string> = new Set(["arguments", "default", "const", "examples"]);

/** Deeper than any schema; recursion far beyond would exhaust the stack. */
const MAX_DEPTH = 500;

/**
 * The call with its texts changed; the very same one when none was. A call of the Responses format also has the client's
 * own request, which goes to an upstream of the same format: it is changed alike.
 * @param changeName absent: names stay as they are.
 */
export function withCallTexts(call: Call, change: ChangeText, changeName?: ChangeName): Call {
  const writer = new TextWriter(change, { changeName, isText: (field) => !NO_TEXTS.has(field) });
  const changed: Record<string, unknown> = {};
  for (const field of ["body", "canonical", "native", "request"]) {
    const before: unknown = Reflect.get(call, field);
    const after = writer.write(before);
    if (after !== before) changed[field] = after;
  }
  return Object.keys(changed).length === 0 ? call : { ...call, ...changed };
}

/** A complete answer with its texts changed; the very same one when none was. @param changeName as of `withCallTexts` */
export function withAnswerTexts(body: Json, change: ChangeText, changeName?: ChangeName): Json {
  return answerWriter(change, changeName).write(body) as Json;
}

/** Writes answers, and parts of them. */
export function answerWriter(change: ChangeText, changeName?: ChangeName): TextWriter {
  return new TextWriter(change, { changeName, isText: (field) => ANSWER_TEXTS.has(field) });
}

interface WriterOptions {
  readonly isText: (field: string) => boolean;
  readonly changeName?: ChangeName;
}

/** What is known of the place of a value. */
interface At {
  /** Its nearest field. */
  readonly field: string;
  readonly fixed: boolean;
  /** Among the values of a tool or a schema. */
  readonly isValue: boolean;
  readonly depth: number;
}

const TOP: At = { field: "", fixed: false, isValue: false, depth: 0 };

/** Copies what it changes, and nothing else. What it has met before it changes as before. */
export class TextWriter {
  readonly #change: ChangeText;
  readonly #options: WriterOptions;
  readonly #written = new Map<object, unknown>();

  constructor(change: ChangeText, options: WriterOptions) {
    this.#change = change;
    this.#options = options;
  }

  /** @param field that the value stands in. */
  write(value: unknown, field = ""): unknown {
    return this.#write(value, field === "" ? TOP : { ...TOP, field });
  }

  #write(value: unknown, at: At): unknown {
    if (typeof value === "string") return value === "" ? value : this.#text(value, at);
    if (typeof value !== "object" || value === null) return value;
    if (at.depth > MAX_DEPTH) throw invalidRequest("/", "must not be nested so deeply");
    const known = this.#written.get(value);
    if (known !== undefined) return known;
    const inside = { ...at, depth: at.depth + 1 };
    const written = isJson(value) ? this.#object(value, inside) : this.#list(value as [], inside);
    this.#written.set(value, written);
    return written;
  }

  #text(text: string, { field, fixed, isValue }: At): string {
    const { isText, changeName } = this.#options;
    if (field === "file_data") return changedDocument(text, this.#change);
    if (!isValue && changeName !== undefined && NAMES.has(field)) return changeName(text);
    if (!isValue && !isText(field)) return text;
    return field === "arguments" && !isValue ? changedJson(text, this.#change) : this.#change(text, { fixed });
  }

  #list(list: readonly unknown[], at: At): readonly unknown[] {
    let copy: unknown[] | null = null;
    for (const [index, item] of list.entries()) {
      const written = this.#write(item, at);
      if (written !== item) (copy ??= [...list])[index] = written;
    }
    return copy ?? list;
  }

  #object(object: Json, at: At): Json {
    const fixed = at.fixed || isSigned(object);
    let copy: Json = object;
    for (const [field, value] of Object.entries(object)) {
      if (field === "logprobs") continue;
      const isThought = field === "reasoning_content" && someSigned(object["reasoning_details"]);
      // Of a document of the Messages format.
      const name = field === "data" && object["type"] === "text" ? "text" : field;
      const isValue = at.isValue || (typeof value === "object" && isValueOf(object, field));
      const written = this.#write(value, { ...at, field: name, fixed: fixed || isThought, isValue });
      // A computed key: `__proto__` must stay a plain field.
      if (written !== value) copy = { ...copy, [field]: written };
    }
    if (copy === object || object["logprobs"] === undefined) return copy;
    // Single tokens would still say what the text no longer does.
    return { ...copy, logprobs: Array.isArray(object["logprobs"]) ? [] : null };
  }
}

/** Whether a field of an object has values of a tool or a schema. `input` is one of a call in the Messages format. */
function isValueOf({ type }: Json, field: string): boolean {
  return VALUES.has(field) || (field === "input" && typeof type === "string" && type.endsWith("tool_use"));
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
