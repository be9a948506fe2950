import { dataText, isJson, type Json, type Medium, readDataUrl } from "../../kit/index.ts";
import { type FoundMedium, isTextFile, type LongText, readMedium } from "./media.ts";

/*
 * What a canonical body gives a model to read: its texts, and its media. One walk for every format of clients, for what is
 * held, for what is counted, and for what is estimated at the end.
 */

/** What is held and counted of a prompt. */
interface PromptSize {
  /** UTF-8 bytes of its texts. */
  readonly bytes: number;
  readonly media: readonly Medium[];
}

/** @param longTexts texts that are not in the body yet, by what stands for them. */
export function promptSize(body: Json, longTexts?: ReadonlyMap<string, LongText>): PromptSize {
  let bytes = 0;
  const media: Medium[] = [];
  eachPromptText(body, {
    text(text) {
      bytes += longTexts?.get(text)?.bytes ?? Buffer.byteLength(text);
    },
    medium(found, value) {
      const medium = readMedium({ ...found, value: longTexts?.get(value) ?? shortText(value) });
      if (medium.kind === "text") bytes += medium.bytes;
      else media.push(medium);
    },
  });
  return { bytes, media };
}

function shortText(text: string): LongText {
  return { bytes: text.length, slice: (from, to) => text.slice(from, to) };
}

/** The texts of a body, those of files that are nothing but text among them. */
export function promptText(body: Json): string {
  const texts: string[] = [];
  eachPromptText(body, {
    text: (text) => texts.push(text),
    medium(_found, value) {
      const data = readDataUrl(value);
      const text = data !== null && isTextFile(data.type) ? dataText(data) : null;
      if (text !== null) texts.push(text);
    },
  });
  return texts.join("\n");
}

interface Visitor {
  readonly text: (text: string) => void;
  readonly medium: (found: Omit<FoundMedium, "value">, value: string) => void;
}

function eachPromptText({ messages, tools, response_format }: Json, visitor: Visitor): void {
  eachText(messages, false, visitor);
  // The names in a schema are read by the model as what they describe is.
  eachText(tools, true, visitor);
  eachText(response_format, true, visitor);
}

/** A field that holds a medium, whatever object it is in. */
const BY_FIELD: Readonly<Record<string, Medium["kind"]>> = {
  image_url: "image",
  video_url: "video",
  audio_url: "audio",
  document_url: "document",
  file_data: "document",
  file_url: "document",
};
/** The same of objects, by the field that they stand in; a `source` is what its block is. */
const BY_OBJECT: Readonly<Record<string, Medium["kind"] | "block">> = {
  ...BY_FIELD,
  input_audio: "audio",
  file: "document",
  source: "block",
};
const INNER: Readonly<Record<string, FoundMedium["as"]>> = { url: "url", data: "data", file_id: "id" };

/** Where a text stands: its field, the object that has it, the field of that, and the object around it. */
interface Spot {
  readonly field: string;
  readonly owner: Json;
  readonly around: string;
  readonly outer: Json;
}

const NOWHERE: Json = {};

/**
 * The medium that a text is. By field and never by what a text looks like: prose that begins like a `data:` URL would be
 * free.
 */
function mediumAt({ field, owner, around, outer }: Spot): Omit<FoundMedium, "value"> | null {
  const detail = typeof owner["detail"] === "string" ? { detail: owner["detail"] } : {};
  if (Object.hasOwn(BY_FIELD, field)) {
    return { kind: BY_FIELD[field]!, as: field === "file_data" ? "data" : "url", ...detail };
  }
  if (!Object.hasOwn(INNER, field) || !Object.hasOwn(BY_OBJECT, around)) return null;
  const kind = BY_OBJECT[around]!;
  // The text of a document, as the Messages format has it.
  if (kind === "block" && owner["type"] === "text") return null;
  const type = around === "input_audio" ? `audio/${String(owner["format"])}` : owner["media_type"];
  return {
    kind: kind === "block" ? kindOfBlock(outer) : kind,
    as: INNER[field]!,
    ...(typeof type === "string" && { type }),
    ...detail,
  };
}

function kindOfBlock({ type }: Json): Medium["kind"] {
  return type === "image" || type === "audio" || type === "video" ? type : "document";
}

/** @param keys whether those of objects are text as well. */
function eachText(value: unknown, keys: boolean, visitor: Visitor): void {
  if (value === undefined || value === null) return;
  // A stack of our own: a body nested deeper than the call stack must not throw here. Five entries a value: itself, and its
  // spot.
  const open: unknown[] = [value, "", NOWHERE, "", NOWHERE];
  while (open.length > 0) {
    const outer = open.pop() as Json;
    const around = open.pop() as string;
    const owner = open.pop() as Json;
    const field = open.pop() as string;
    const item = open.pop();
    if (typeof item === "string") {
      const found = mediumAt({ field, owner, around, outer });
      if (found === null) visitor.text(item);
      else visitor.medium(found, item);
    } else if (Array.isArray(item)) {
      for (const inner of item) open.push(inner, "", NOWHERE, "", owner);
    } else if (isJson(item)) {
      for (const key in item) {
        if (keys) visitor.text(key);
        open.push(item[key], key, item, field, owner);
      }
    }
  }
}
