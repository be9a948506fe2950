import { isJson, type Json } from "../../kit/index.ts";

/**
 * The citations of one block as annotations of the answer's text, in which the block stands from `start` to `end` (UTF-16
 * units): OpenAI's form for a source on the web, else what the provider says of its source.
 */
export function annotationsOf(citations: readonly unknown[], start: number, end: number): readonly Json[] {
  return citations.filter(isJson).map((citation) => annotation(citation, { start_index: start, end_index: end }));
}

function annotation({ location, title, source, sourceContent }: Json, place: Json): Json {
  const [[kind, at] = ["", {}]] = isJson(location) ? Object.entries(location) : [];
  const { url, documentIndex: index } = isJson(at) ? at : {};
  if (typeof url === "string") {
    return { type: "url_citation", url_citation: { url, title: typeof title === "string" ? title : url, ...place } };
  }
  const quote = Array.isArray(sourceContent) ? sourceContent.map(textOf).join("") : "";
  const about = {
    ...(typeof title === "string" ? { filename: title } : {}),
    ...(typeof source === "string" ? { file_id: source } : {}),
    ...(typeof index === "number" ? { index } : {}),
    ...(quote === "" ? {} : { quote }),
    ...(kind === "" ? {} : { location: kind }),
  };
  return { type: "file_citation", file_citation: { ...about, ...place } };
}

function textOf(content: unknown): string {
  return isJson(content) && typeof content["text"] === "string" ? content["text"] : "";
}
