import { append, pick } from "../canonical/json.ts";
import { type Call, cleanDataUrl, isJson, type Json } from "../../kit/index.ts";
import { kindOfPart, omittedAddress, omittedText, textOfFile } from "../canonical/contents.ts";
import { MARKS, marksOf } from "../canonical/marks.ts";
import type { Report } from "../canonical/report.ts";
import type { Rules } from "../vendors/types.ts";

/** What is known of a message. */
const KNOWN: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "tool_call_id",
  "is_error",
  "reasoning_content",
  "reasoning_details",
  "reasoning",
  "block_order",
  ...MARKS,
]);
const ECHOED = ["reasoning_content", "reasoning_details", "reasoning"];
const KNOWN_CALL: ReadonlySet<string> = new Set(["id", "type", "function", "extra_content", ...MARKS]);

interface WriteOptions {
  readonly rules: Rules;
  /** Pointers to the client's messages by place; null: their places are the same. */
  readonly places: readonly string[] | null;
}

/** The messages of a canonical body in the form of OpenAI's API, for a client of another dialect. */
export function writeMessages(
  { body, dialect }: Call,
  report: Report,
  { rules, places }: WriteOptions,
): readonly Json[] {
  const list = Array.isArray(body["messages"]) ? (body["messages"] as readonly unknown[]) : [];
  const writer = new Writer({
    report,
    fileIds: dialect !== "messages",
    fileUrls: rules.fileUrls,
  });
  for (const [index, message] of list.entries()) {
    if (isJson(message)) writer.add(message, places?.[index] ?? `/messages/${index}`);
  }
  return writer.end();
}

class Writer {
  readonly #messages: Json[] = [];
  readonly #report: Report;
  /** Media of tool results: they follow the last result as a user's, because a tool's message is text alone. */
  #media: Json[] = [];
  readonly #allowed: Omit<Allowed, "media">;

  constructor(allowed: Omit<Allowed, "media">) {
    this.#allowed = allowed;
    this.#report = allowed.report;
  }

  add(message: Json, at: string): void {
    this.#report.dropUnknown(message, KNOWN, at);
    const { role } = message;
    if (role !== "tool") this.#writeMedia();
    if (role === "tool") this.#addResult(message, at);
    else if (role === "assistant") this.#addAnswer(message, at);
    else this.#messages.push({ role, content: this.#parts(message["content"], at), ...named(message) });
  }

  end(): readonly Json[] {
    this.#writeMedia();
    return this.#messages;
  }

  #addResult(message: Json, at: string): void {
    const { tool_call_id: id, is_error: failed } = message;
    const content = this.#parts(message["content"], at);
    const text = joinedText(content, "\n");
    const marks = lastMarks(message, content);
    const media = Array.isArray(content) ? content.filter(({ type }) => type !== "text") : [];
    // OpenAI's API cannot say that a tool failed.
    const result = failed === true ? `Error: ${text}` : text || (media.length > 0 ? MEDIA_FOLLOW : "");
    this.#messages.push({ role: "tool", tool_call_id: id, content: withMarks(result, marks) });
    append(this.#media, media);
  }

  #addAnswer(message: Json, at: string): void {
    const { tool_calls, refusal } = message;
    const content = this.#parts(message["content"], at, false);
    const calls = Array.isArray(tool_calls) ? this.#calls(tool_calls, at) : [];
    const text = joinedText(content, "");
    this.#messages.push({
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : withMarks(text, lastMarks(message, content)),
      ...(typeof refusal === "string" && { refusal }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...named(message),
      // Only those that the target takes are left.
      ...pick(message, ECHOED),
    });
  }

  #calls(calls: readonly unknown[], at: string): readonly Json[] {
    return calls.filter(isJson).map((call, index) => {
      this.#report.dropUnknown(call, KNOWN_CALL, `${at}/tool_calls/${index}`);
      const { id, function: called } = call;
      return { id, type: "function", function: called };
    });
  }

  #parts(content: unknown, at: string, media = true): Content {
    return writeParts(content, `${at}/content`, { ...this.#allowed, media });
  }

  #writeMedia(): void {
    if (this.#media.length > 0) this.#messages.push({ role: "user", content: this.#media });
    this.#media = [];
  }
}

/** The marks of a message, or those of the last of its texts that has some: what is one text has one. */
function lastMarks(message: Json, content: Content): Json {
  const parts = typeof content === "string" ? [] : content.filter(({ type }) => type === "text").map(marksOf);
  return [marksOf(message), ...parts.toReversed()].find((marks) => Object.keys(marks).length > 0) ?? {};
}

/** A text as a part where it has marks; servers that take none want it as it is. */
function withMarks(text: string, marks: Json): Content {
  return Object.keys(marks).length === 0 || text === "" ? text : [{ type: "text", text, ...marks }];
}

/** The text of a tool's result that is nothing but media. */
const MEDIA_FOLLOW = "The result follows.";

function named({ name }: Json): Json {
  return typeof name === "string" ? { name } : {};
}

type Content = string | readonly Json[];

const KNOWN_PART: ReadonlySet<string> = new Set(["type", "text", "image_url", "input_audio", "file", ...MARKS]);
const KNOWN_FILE: ReadonlySet<string> = new Set(["file_data", "filename", "file_id"]);
const PDF = "document.pdf";

interface Allowed {
  readonly report: Report;
  /** Ids of files are OpenAI's. */
  readonly fileIds: boolean;
  /** Other parts than text. */
  readonly media: boolean;
  /** Files that are elsewhere: the Responses API fetches them, most chat completions do not. */
  readonly fileUrls?: boolean;
  /** Left out: true. */
  readonly audio?: boolean;
  /** The place of the one part, where it was one of several. */
  readonly only?: string;
}

/** Canonical content in the form of OpenAI's API. @param at its canonical pointer. */
export function writeParts(content: unknown, at: string, allowed: Allowed): Content {
  if (typeof content === "string") return content;
  const parts: Json[] = [];
  for (const [index, part] of (Array.isArray(content) ? (content as readonly unknown[]) : []).entries()) {
    const place = allowed.only ?? `${at}/${index}`;
    const written = isJson(part) ? writePart(part, place, allowed) : null;
    if (written === null) allowed.report.drop(place);
    const left = written ?? (isJson(part) ? placeholder(part, allowed) : null);
    if (left !== null) parts.push(left);
  }
  // Strict upstreams refuse an empty list.
  return parts.length === 0 ? "" : parts;
}

/** What is left of a part without a form here: a text that says what was there, where anybody knows. */
function placeholder(part: Json, { media, fileUrls }: Allowed): Json | null {
  const kind = kindOfPart(part);
  if (kind === null) return null;
  const { file } = part;
  const byAddress = media && fileUrls !== true && isJson(file) && typeof file["file_url"] === "string";
  return { type: "text", text: byAddress ? omittedAddress(kind) : omittedText(kind) };
}

/** The text of what was written. */
export function joinedText(content: Content, between: string): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join(between);
}

/** @returns null for a part without a form here. */
function writePart(part: Json, at: string, context: Allowed): Json | null {
  const written = writeKind(part, at, context);
  if (written === null || (!context.media && written["type"] !== "text")) return null;
  context.report.dropUnknown(part, KNOWN_PART, at);
  return { ...written, ...marksOf(part) };
}

function writeKind(part: Json, at: string, context: Allowed): Json | null {
  const { type, text, image_url, input_audio, file } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : null;
    case "image_url":
      return isJson(image_url) ? { type, image_url: cleanImage(image_url) } : null;
    case "input_audio":
      return isJson(input_audio) && context.audio !== false ? { type, input_audio } : null;
    case "file":
      return isJson(file) ? writeFile(file, `${at}/file`, context) : null;
    default:
      return null;
  }
}

/** Only PDF documents are files to OpenAI; one of text is a text. */
function writeFile(file: Json, at: string, { report, fileIds, fileUrls, media }: Allowed): Json | null {
  const { file_data: data, file_url: url, file_id, filename } = file;
  if (typeof data === "string") {
    const text = textOfFile(file);
    if (text === null && !media) return null;
    report.dropUnknown(file, KNOWN_FILE, at);
    if (text !== null) return { type: "text", text };
    const name = typeof filename === "string" && filename !== "" ? filename : PDF;
    return { type: "file", file: { filename: name, file_data: cleanDataUrl(data) ?? data } };
  }
  if (typeof url === "string" && fileUrls === true && media) {
    report.dropUnknown({ ...file, file_url: undefined }, KNOWN_FILE, at);
    return { type: "file", file: { file_url: url } };
  }
  if (typeof file_id !== "string" || !fileIds) return null;
  report.dropUnknown(file, KNOWN_FILE, at);
  return { type: "file", file: { file_id } };
}

function cleanImage(image: Json): Json {
  const { url } = image;
  const clean = typeof url === "string" ? cleanDataUrl(url) : null;
  return clean === null || clean === url ? image : { ...image, url: clean };
}
