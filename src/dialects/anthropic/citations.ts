import { isJson, type Json } from "../../kit/index.ts";

/**
 * The citations of one text block as annotations of the answer's text, in which the block stands from `start` to `end`
 * (UTF-16 units).
 */
export function annotationsOf(citations: unknown, start: number, end: number): readonly Json[] {
  if (!Array.isArray(citations)) return [];
  return citations.filter(isJson).map((citation) => annotation(citation, { start_index: start, end_index: end }));
}

function annotation(citation: Json, place: Json): Json {
  const { type, url, title, cited_text } = citation;
  if (typeof url === "string") return { type: "url_citation", url_citation: { url, title: title ?? url, ...place } };
  const { document_title, document_index, file_id } = citation;
  const about = {
    filename: document_title ?? title,
    file_id,
    index: document_index,
    quote: cited_text,
    location: type,
  };
  const said = Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined && value !== null));
  return { type: "file_citation", file_citation: { ...said, ...place } };
}
