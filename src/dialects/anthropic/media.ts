import { isJson, type Json } from "../../kit/index.ts";
import { readDataUrl, textOf } from "../data-url.ts";

/** The API refuses others (`Base64ImageSource.media_type` of @anthropic-ai/sdk). */
const IMAGES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const WEB = /^https?:\/\//i;

interface Losing {
  readonly lose: (pointer: string) => void;
  readonly verbatim: boolean;
}

/** null for an address that is neither inlined nor on the web. */
export function imageBlock(part: Json, at: string, { lose, verbatim }: Losing): Json | null {
  const image = part["image_url"];
  const url = isJson(image) ? image["url"] : image;
  if (typeof url !== "string") return null;
  const data = readDataUrl(url);
  if (data && !verbatim && !IMAGES.has(data.type)) return null;
  const detail = isJson(image) ? image["detail"] : undefined;
  if (typeof detail === "string" && detail !== "auto") lose(`${at}/image_url/detail`);
  if (data) return { type: "image", source: { type: "base64", media_type: data.type, data: data.base64 } };
  return WEB.test(url) ? { type: "image", source: { type: "url", url } } : null;
}

/** null for a file the API cannot read: neither PDF nor text, or kept by another provider. */
export function documentBlock(part: Json, { verbatim }: Losing): Json | null {
  const { file } = part;
  if (!isJson(file)) return null;
  const source = documentSource(file, verbatim);
  if (source === null) return null;
  const { context, citations } = file;
  const title = file["title"] ?? file["filename"];
  return {
    type: "document",
    source,
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    ...(typeof context === "string" ? { context } : {}),
    ...(isJson(citations) ? { citations } : {}),
  };
}

function documentSource(file: Json, verbatim: boolean): Json | null {
  const { file_data, file_url, file_id } = file;
  if (typeof file_data === "string") return inlined(file_data);
  if (typeof file_url === "string") return WEB.test(file_url) ? { type: "url", url: file_url } : null;
  // The API's own ids begin so, OpenAI's with "file-".
  if (typeof file_id !== "string" || !(verbatim || file_id.startsWith("file_"))) return null;
  return { type: "file", file_id };
}

function inlined(url: string): Json | null {
  const data = readDataUrl(url);
  if (data === null) return null;
  const { type, base64 } = data;
  if (type === "application/pdf") return { type: "base64", media_type: type, data: base64 };
  const text = textOf(data);
  return text === null ? null : { type: "text", media_type: "text/plain", data: text };
}
