import {
  type AnswerExtras,
  type AnswerFormat,
  apiError,
  AttemptError,
  type Call,
  type GatewayError,
  invalidRequest,
  isJson,
  type Json,
  jsonError,
  readDataUrl,
  type Usage,
} from "../../kit/index.ts";
import { parseAnswer, postJson } from "../canonical/requests.ts";
import { imageVariant, readUsage } from "../canonical/usage.ts";
import type { AnswerCodec } from "../dialect.ts";

/** The canonical call of an image body that its schema has accepted: one `size`, `response_format` url or b64_json. */
export function readImage(body: Json): Call {
  if (body["stream"] === true) throw invalidRequest("/stream", "is not supported for images");
  const { width: _width, height: _height, size: _size, n, response_format, ...rest } = body;
  const size = sizeOf(body);
  const format = response_format === "base64" ? "b64_json" : response_format;
  return {
    kind: "image",
    model: String(body["model"]),
    stream: false,
    body: {
      ...rest,
      ...(n !== null && n !== undefined && { n }),
      ...(size !== null && { size }),
      ...(format !== null && format !== undefined && { response_format: format }),
    },
    promptBytes: Buffer.byteLength(String(body["prompt"])),
    maxOutput: 0,
    units: { images: typeof n === "number" ? n : 1, ...imageVariant(size, body["quality"]) },
  };
}

/** `size`, or the one that `width` and `height` make; null: left to the upstream. */
function sizeOf({ size, width, height }: Json): string | null {
  const given = typeof size === "string" ? size : null;
  const [wide, high] = [typeof width === "number", typeof height === "number"];
  if (!wide && !high) return given;
  if (!high) throw invalidRequest("/height", "is required with /width");
  if (!wide) throw invalidRequest("/width", "is required with /height");
  const made = `${String(width)}x${String(height)}`;
  if (given !== null && given !== made) throw invalidRequest("/size", "must be the same as /width and /height");
  return made;
}

/**
 * Answers to an image client. What it asked for is filled: `b64_json`, or `url`, a `data:` URL where the upstream gave
 * base64 only; the other is null (`url`) or empty (`b64_json`). A picture at a foreign URL is never fetched: it stays
 * in `url`. Without a `response_format` everything stays as the upstream gave it.
 */
export function imageFormat(call: Call): AnswerFormat {
  const form = call.body["response_format"];
  return {
    contentType: "application/json",
    answer: (body, extras) => JSON.stringify(answer(body, extras, call.model, form)),
    promptText: () => "",
    producedText: () => "",
    stream: null,
  };
}

function answer(body: Json, extras: AnswerExtras, model: string, form: unknown): Json {
  const { created, data } = body;
  return {
    created: Number.isSafeInteger(created) && Number(created) >= 0 ? created : extras.created,
    data: Array.isArray(data) ? data.filter(isJson).map((image) => writtenImage(image, form)) : [],
    provider: extras.provider,
    model,
  };
}

function writtenImage(image: Json, form: unknown): Json {
  const { revised_prompt } = image;
  return {
    ...located(text(image["url"]), text(image["b64_json"]), form),
    ...(typeof revised_prompt === "string" && { revised_prompt }),
  };
}

function located(url: string | null, base64: string | null, form: unknown): Json {
  const bytes = base64 === null ? null : (readDataUrl(base64)?.base64 ?? base64);
  if (form === "url") return { url: url ?? (bytes === null ? null : dataUrl(bytes)), b64_json: "" };
  if (form !== "b64_json") return { url, b64_json: bytes ?? "" };
  const inlined = bytes ?? (url === null ? null : (readDataUrl(url)?.base64 ?? null));
  return inlined === null ? { url, b64_json: "" } : { url: null, b64_json: inlined };
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function dataUrl(base64: string): string {
  return `data:${mediaType(base64)};base64,${base64}`;
}

/** By the file's first bytes; what is not known passes for the kind that upstreams send unless asked otherwise. */
function mediaType(base64: string): string {
  const head = Buffer.from(base64.slice(0, 24), "base64").toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF8")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return "image/png";
}

/**
 * The body of an upstream's failure on image routes; null: as everywhere.
 * @param asksForJson whether the client asks for JSON: it gets all fields of that form.
 */
export function imageRefusal(
  error: GatewayError,
  asksForJson: boolean,
): { readonly contentType: string; readonly body: string } | null {
  switch (error.code) {
    case "PROVIDER_ERROR":
    case "PROVIDER_TIMEOUT":
    case "CIRCUIT_BREAKER_OPEN":
      return {
        contentType: "application/json",
        body: JSON.stringify({ error: asksForJson ? jsonError(error, "api_error") : apiError(error) }),
      };
    default:
      return null;
  }
}

/** These always answer in base64 and refuse a request that names a `response_format`. */
const BASE64_ONLY = /(?:^|\/)(?:chatgpt|gpt)-image/i;
const URL = /^(?:https?:\/\/|data:)./i;
/** Some upstreams put a whole `data:` URL where the base64 belongs. */
const DATA_HEAD = /^data:[^,]{0,200};base64,/i;
/** Looked for instead of matching the whole: a match of megabytes would overflow the matcher's stack. */
const NOT_BASE64 = /[^\w+/=\s-]/;

/** Image generation, the upstream half; the canonical shape is the same. */
export const image = {
  type: "answer",

  request(call, target, apiKey) {
    const body: Record<string, unknown> = { ...call.body, model: target.model };
    if (BASE64_ONLY.test(target.model)) delete body["response_format"];
    return postJson("/images/generations", apiKey, body);
  },

  answer(bytes, call) {
    const body = parseAnswer(bytes);
    const { data } = body;
    if (!Array.isArray(data) || data.length === 0 || !data.every(isImage)) {
      throw new AttemptError("protocol", "upstream sent an answer without images");
    }
    // What an upstream gives beyond what was asked for is its own affair.
    const images = Math.min(data.length, call.units?.images ?? data.length);
    // What was made, where the upstream says it: it chooses what was left to it.
    const [size, quality] = [body["size"] ?? call.body["size"], body["quality"] ?? call.body["quality"]];
    return { body, usage: { ...tokens(body["usage"]), images, ...imageVariant(size, quality) } };
  },

  decoder: null,
} satisfies AnswerCodec;

/** What is there is what it should be, and something is there. */
function isImage(item: unknown): boolean {
  if (!isJson(item)) return false;
  const url = item["url"] ?? "";
  const base64 = item["b64_json"] ?? "";
  if (typeof url !== "string" || typeof base64 !== "string" || url + base64 === "") return false;
  return (url === "" || URL.test(url)) && (base64 === "" || isBase64(base64));
}

function isBase64(text: string): boolean {
  const base64 = text.replace(DATA_HEAD, "");
  return base64 !== "" && !NOT_BASE64.test(base64);
}

function tokens(usage: unknown): Usage {
  const counts = isJson(usage) && {
    prompt_tokens: usage["input_tokens"],
    completion_tokens: usage["output_tokens"],
    prompt_tokens_details: usage["input_tokens_details"],
  };
  return readUsage({ usage: counts }) ?? { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
}
