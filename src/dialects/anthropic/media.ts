import { isJson, type Json } from "../../kit/index.ts";

/** The parts of a `data:` URL; null for any other. */
function dataUrl(url: string): { readonly type: string; readonly base64: string } | null {
  const comma = url.indexOf(",");
  if (!/^data:/i.test(url) || comma < 0) return null;
  const [type = "", ...parameters] = url.slice("data:".length, comma).split(";");
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")) return null;
  return { type: type.trim().toLowerCase(), base64: url.slice(comma + 1) };
}

const WEB = /^https?:\/\//i;

interface Losing {
  readonly lose: (pointer: string) => void;
  readonly verbatim: boolean;
}

/** null for an address that is neither inlined nor on the web. */
export function imageBlock(part: Json, at: string, { lose }: Losing): Json | null {
  const image = part["image_url"];
  const url = isJson(image) ? image["url"] : image;
  if (typeof url !== "string") return null;
  const detail = isJson(image) ? image["detail"] : undefined;
  if (typeof detail === "string" && detail !== "auto") lose(`${at}/image_url/detail`);
  const data = dataUrl(url);
  if (data) return { type: "image", source: { type: "base64", media_type: data.type, data: data.base64 } };
  return WEB.test(url) ? { type: "image", source: { type: "url", url } } : null;
}

/** Types that are text under another name than `text/…`. */
const TEXT = /^text\/|[/+](?:json|xml|yaml|javascript)$/;

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
  const data = dataUrl(url);
  if (data === null) return null;
  const { type, base64 } = data;
  if (type === "application/pdf") return { type: "base64", media_type: type, data: base64 };
  if (!TEXT.test(type)) return null;
  return { type: "text", media_type: "text/plain", data: Buffer.from(base64, "base64").toString("utf8") };
}
