import { imageVariant } from "../canonical/usage.ts";
import {
  type AnswerExtras,
  type AnswerFormat,
  type Call,
  type GatewayError,
  invalidRequest,
  isJson,
  type Json,
} from "../../kit/index.ts";
import { readDataUrl } from "../canonical/data-url.ts";

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
  const wanted = call.body["response_format"];
  return {
    contentType: "application/json",
    answer: (body, extras) => JSON.stringify(answer(body, extras, call.model, wanted)),
    promptText: () => "",
    producedText: () => "",
    stream: null,
  };
}

function answer(body: Json, extras: AnswerExtras, model: string, wanted: unknown): Json {
  const { created, data } = body;
  return {
    created: Number.isSafeInteger(created) && Number(created) >= 0 ? created : extras.created,
    data: Array.isArray(data) ? data.filter(isJson).map((image) => shown(image, wanted)) : [],
    provider: extras.provider,
    model,
  };
}

function shown(image: Json, wanted: unknown): Json {
  const { revised_prompt } = image;
  return {
    ...located(text(image["url"]), text(image["b64_json"]), wanted),
    ...(typeof revised_prompt === "string" && { revised_prompt }),
  };
}

function located(url: string | null, base64: string | null, wanted: unknown): Json {
  const bytes = base64 === null ? null : (readDataUrl(base64)?.base64 ?? base64);
  if (wanted === "url") return { url: url ?? (bytes === null ? null : dataUrl(bytes)), b64_json: "" };
  if (wanted !== "b64_json") return { url, b64_json: bytes ?? "" };
  const wantedBytes = bytes ?? (url === null ? null : (readDataUrl(url)?.base64 ?? null));
  return wantedBytes === null ? { url, b64_json: "" } : { url: null, b64_json: wantedBytes };
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

/** The body of an upstream's failure on image routes (decisions 4.6); null: as everywhere. */
export function imageRefusal(error: GatewayError): { readonly contentType: string; readonly body: string } | null {
  switch (error.code) {
    case "PROVIDER_ERROR":
    case "PROVIDER_TIMEOUT":
    case "CIRCUIT_BREAKER_OPEN":
      return {
        contentType: "application/json",
        body: JSON.stringify({ error: { message: error.message, type: "api_error" } }),
      };
    default:
      return null;
  }
}
