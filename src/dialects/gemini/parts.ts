import { cleanBase64, isDataUrl, isJson, type Json, readDataUrl } from "../../kit/index.ts";
import { omittedType, type PartKind } from "../canonical/contents.ts";
import { malformed } from "../canonical/errors.ts";
import type { Report } from "../canonical/report.ts";
import { writtenInput } from "../canonical/tools.ts";
import type { Bearer } from "./models.ts";
import { MARKS } from "../canonical/marks.ts";

/* Not reported, because nothing of the answer changes: a file's name, `detail: "auto"`. Marks of a cache are elsewhere. */

/** A message's content in Gemini's parts; empty texts are left out. @throws GatewayError for a part that holds nothing. */
export function partsOf(content: unknown, at: string, report: Report): Json[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown, index) => partOf(part, `${at}/${index}`, report));
}

/** The texts of a content; other parts are reported. */
export function textsOf(content: unknown, at: string, report: Report): string[] {
  if (!Array.isArray(content)) return typeof content === "string" && content !== "" ? [content] : [];
  return content.flatMap((part: unknown, index) => {
    const place = `${at}/${index}`;
    return partOf(part, place, report).flatMap(({ text }) => {
      if (typeof text === "string") return [text];
      report.drop(place);
      return [];
    });
  });
}

const PART_FIELDS: ReadonlySet<string> = new Set([
  ..."type text refusal image_url input_audio file".split(" "),
  ...MARKS,
]);

const FILE_FIELDS: ReadonlySet<string> = new Set(["file_data", "file_url", "file_id", "filename"]);

function partOf(part: unknown, at: string, report: Report): Json[] {
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const parts = knownParts(part, at, report);
  if (parts === null) report.drop(at);
  else report.dropUnknown(part, PART_FIELDS, at);
  return parts ?? [];
}

/** null for a part without a form here. */
function knownParts(part: Json, at: string, report: Report): Json[] | null {
  const { type } = part;
  if (type === "text" || type === "refusal") {
    const text = part[type];
    if (typeof text !== "string") throw report.refusal(`${at}/${type}`, "must be a string");
    return text === "" ? [] : [{ text }];
  }
  if (type === "image_url") return [readable(imagePart(part["image_url"], at, report), "image", at, report)];
  if (type === "input_audio") return [readable(audioPart(part["input_audio"], at, report), "audio", at, report)];
  if (type !== "file") return null;
  return filePart(part["file"], at, report).map((one) => readable(one, "file", at, report));
}

/**
 * "Unsupported MIME type: image/gif" (https://github.com/microsoft/vscode/issues/286628); images
 * https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats, audio
 * https://ai.google.dev/gemini-api/docs/audio#supported-formats and
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/audio-understanding.
 */
const READABLE =
  /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/(?:wav|x-wav|mp3|mpeg|mpga|aiff|aac|x-aac|ogg|flac|m4a|mp4|opus|pcm|l16|webm)|(?:video|text)\/[\w.+-]+|application\/(?:pdf|json|xml|x-javascript|x-python|rtf))$/;

/** A part of a type that Gemini reads; a text in place of any other. */
function readable(part: Json, kind: PartKind, at: string, report: Report): Json {
  const held = [part["inlineData"], part["fileData"]].find(isJson);
  const type = held?.["mimeType"];
  if (typeof type !== "string" || READABLE.test(type)) return part;
  report.drop(at);
  return { text: omittedType(kind, type) };
}

/** Some clients write the URL itself where the object belongs. */
function imagePart(image: unknown, at: string, report: Report): Json {
  const { url, detail } = isJson(image) ? image : { url: image };
  const part = typeof url === "string" ? mediaPart(url) : null;
  if (part === null) throw report.refusal(`${at}/image_url/url`, "must be a URL, or a data: URL in base64");
  if (detail !== undefined && detail !== null && detail !== "auto") report.drop(`${at}/image_url/detail`);
  return part;
}

function audioPart(audio: unknown, at: string, report: Report): Json {
  const { data, format } = isJson(audio) ? audio : {};
  const base64 = typeof data === "string" ? cleanBase64(data) : null;
  if (base64 === null) throw report.refusal(`${at}/input_audio/data`, "must be base64");
  if (typeof format !== "string" || format === "") throw report.refusal(`${at}/input_audio/format`, "must be a format");
  return { inlineData: { mimeType: audioType(format), data: base64 } };
}

function filePart(file: unknown, at: string, report: Report): Json[] {
  if (!isJson(file)) throw report.refusal(`${at}/file`, "must be an object");
  report.dropUnknown(file, FILE_FIELDS, `${at}/file`);
  const { file_data: data, file_url: url, file_id: id, filename } = file;
  if (typeof data === "string" && data !== "") {
    const part = mediaPart(data) ?? bareFile(data, filename);
    if (part === null) throw report.refusal(`${at}/file/file_data`, "must be a data: URL in base64");
    return [part];
  }
  const part = typeof url === "string" ? mediaPart(url) : null;
  if (part !== null) return [part];
  // Files are uploaded to one provider: another's id means nothing here.
  if (typeof id === "string" && id !== "") report.drop(`${at}/file/file_id`);
  else throw report.refusal(`${at}/file/file_data`, "must be a data: URL in base64");
  return [];
}

/** Base64 without the head of a `data:` URL: its name says what it is. */
function bareFile(data: string, filename: unknown): Json | null {
  const base64 = cleanBase64(data);
  if (base64 === null) return null;
  const mimeType = (typeof filename === "string" ? typeOfName(filename) : null) ?? "application/pdf";
  return { inlineData: { mimeType, data: base64 } };
}

/** Media types by what a file's name or an audio format ends with. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  json: "application/json",
  xml: "text/xml",
  mp3: "audio/mp3",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  aac: "audio/aac",
  aiff: "audio/aiff",
  mp4: "video/mp4",
  mov: "video/mov",
  webm: "video/webm",
};

function audioType(format: string): string {
  return TYPES[format.toLowerCase()] ?? `audio/${format.toLowerCase()}`;
}

/** The media type that a name or URL ends with; null for an unknown one. */
function typeOfName(name: string): string | null {
  const path = name.slice(0, 2048).replace(/[?#].*$/s, "");
  return TYPES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? null;
}

/** The part for a URL of any kind; null when it is none. */
export function mediaPart(url: string): Json | null {
  if (isDataUrl(url)) {
    const data = readDataUrl(url);
    return data && { inlineData: { mimeType: data.type, data: data.base64 } };
  }
  if (!/^[a-z][a-z\d+.-]*:\/\/./i.test(url)) return null;
  const mimeType = typeOfName(url);
  return { fileData: mimeType === null ? { fileUri: url } : { mimeType, fileUri: url } };
}

/** What an answer is made of, in its order. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** Signs the piece before it, but for an empty text's. */
  | { readonly type: "signature"; readonly bearer: Bearer; readonly signature: string }
  | CalledPart
  /** A `data:` URL, or one of the provider's. */
  | { readonly type: "image"; readonly url: string };

interface CalledPart {
  readonly type: "call";
  /** The upstream's own, if it is one. */
  readonly id: unknown;
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  readonly signature: string | null;
}

/** Reads the parts of one candidate, chunk by chunk. */
export class PartReader {
  #partial: PartialCall | null = null;

  /** Whether a function call is still being written. */
  get open(): boolean {
    return this.#partial !== null;
  }

  /** @throws AttemptError for parts that are none. */
  read(content: unknown): readonly AnswerPart[] {
    if (content === undefined || content === null) return [];
    const parts = isJson(content) ? (content["parts"] ?? []) : null;
    if (!Array.isArray(parts)) throw malformed("content without parts");
    return parts.flatMap((part: unknown) => this.#part(part));
  }

  #part(part: unknown): readonly AnswerPart[] {
    if (!isJson(part)) throw malformed("a part that is no object");
    const signature = signatureOf(part);
    if (part["functionCall"] !== undefined && part["functionCall"] !== null) {
      return this.#call(part["functionCall"], signature);
    }
    const { text, inlineData, fileData } = part;
    if (text !== undefined && typeof text !== "string") throw malformed("a text that is none");
    const thought = part["thought"] === true;
    const url = thought ? null : imageUrl(inlineData, fileData);
    const parts: AnswerPart[] = [];
    if (text) parts.push({ type: thought ? "thought" : "text", text });
    if (url !== null) parts.push({ type: "image", url });
    if (signature !== null) {
      parts.push({ type: "signature", bearer: thought ? "thought" : text ? "text" : "empty", signature });
    }
    return parts;
  }

  #call(call: unknown, signature: string | null): readonly AnswerPart[] {
    if (!isJson(call)) throw malformed("a function call that is no object");
    const isPartial = call["willContinue"] === true || Array.isArray(call["partialArgs"]);
    if (!isPartial && this.#partial === null) return [calledPart(call["id"], call["name"], call["args"], signature)];
    this.#partial ??= new PartialCall(call, signature);
    this.#partial.add(call);
    if (call["willContinue"] === true) return [];
    const { id, name, args, signature: signed } = this.#partial;
    this.#partial = null;
    return [calledPart(id, name, args, signature ?? signed)];
  }
}

function calledPart(id: unknown, name: unknown, args: unknown, signature: string | null): CalledPart {
  if (typeof name !== "string" || name === "") throw malformed("a function call without a name");
  return { type: "call", id, name, args: writtenInput(args), signature };
}

function signatureOf({ thoughtSignature: signature }: Json): string | null {
  return typeof signature === "string" && signature !== "" ? signature : null;
}

function imageUrl(inline: unknown, file: unknown): string | null {
  const { mimeType, data } = isJson(inline) ? inline : {};
  if (typeof mimeType === "string" && mimeType.startsWith("image/") && typeof data === "string" && data !== "") {
    return `data:${mimeType};base64,${data}`;
  }
  const { mimeType: type, fileUri } = isJson(file) ? file : {};
  return typeof type === "string" && type.startsWith("image/") && typeof fileUri === "string" ? fileUri : null;
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
const MAX_STEPS = 64;
/** A place in a list may be at most this far behind its end: an index of millions must not make one as long. */
const MAX_GAP_ITEMS = 1;

type Value = string | number | boolean | null;
type Container = Map<string, Node> | Node[];
type Node = Value | Container;

/** A function call whose arguments arrive in pieces, each with its place as a JSON path (Vertex, `partialArgs`). */
class PartialCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly signature: string | null;
  readonly #root = new Map<string, Node>();

  constructor({ id, name, args }: Json, signature: string | null) {
    this.id = id;
    this.name = name;
    this.signature = signature;
    if (isJson(args) && Object.keys(args).length > 0) throw malformed("arguments both whole and in pieces");
  }

  get args(): Json {
    return plain(this.#root) as Json;
  }

  /** @throws AttemptError for a piece without a place or value. */
  add({ partialArgs: list }: Json): void {
    if (!Array.isArray(list)) return;
    for (const part of list as readonly unknown[]) {
      if (!isJson(part)) throw malformed("a piece of arguments that is no object");
      put(this.#root, stepsOf(part["jsonPath"]), valueOf(part));
    }
  }
}

/** undefined for none: the last piece of a string may be its end alone. */
function valueOf({ stringValue, numberValue, boolValue, nullValue }: Json): Value | undefined {
  if (typeof stringValue === "string") return stringValue;
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return nullValue === undefined ? undefined : null;
}

function stepsOf(path: unknown): readonly (string | number)[] {
  if (typeof path !== "string" || !path.startsWith("$")) throw malformed("a piece of arguments without a place");
  const matches = [...path.slice(1).matchAll(STEP)];
  const length = matches.reduce((sum, [whole]) => sum + whole.length, 0);
  if (length !== path.length - 1 || matches.length === 0 || matches.length > MAX_STEPS) {
    throw malformed("a piece of arguments without a place");
  }
  return matches.map(([, field, index, single, double]) =>
    index === undefined ? (field ?? unescaped(single ?? double ?? "")) : Number(index),
  );
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

function put(root: Map<string, Node>, steps: readonly (string | number)[], value: Value | undefined): void {
  let container: Container = root;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1];
    const before: Node | undefined = get(container, step);
    if (next === undefined) {
      const joined = typeof before === "string" && typeof value === "string" ? before + value : value;
      return set(container, step, joined ?? before ?? (value === null ? null : ""));
    }
    if (before instanceof Map || Array.isArray(before)) {
      container = before;
      continue;
    }
    const made: Container = typeof next === "number" ? [] : new Map();
    set(container, step, made);
    container = made;
  }
}

function get(container: Container, step: string | number): Node | undefined {
  return Array.isArray(container) ? container[Number(step)] : container.get(String(step));
}

function set(container: Container, step: string | number, value: Node): void {
  if (!Array.isArray(container)) container.set(String(step), value);
  else if (typeof step === "number" && step < container.length + MAX_GAP_ITEMS) container[step] = value;
  else throw malformed("a piece of arguments at a place that cannot be");
}

function plain(node: Node): unknown {
  if (Array.isArray(node)) return node.map(plain);
  return node instanceof Map ? Object.fromEntries([...node].map(([key, value]) => [key, plain(value)])) : node;
}
