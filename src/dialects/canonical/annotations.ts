import { isJson, type Json } from "../../kit/index.ts";

/** Where in the answer's text, in UTF-16 units. */
export interface TextPlace {
  readonly start_index?: number;
  readonly end_index?: number;
}

/**
 * What a provider says of a source as an annotation of the answer: OpenAI's form for a page on the web, else what is known
 * of the file.
 */
export function annotationOf(page: Json, file: Json, place: TextPlace): Json {
  const { url, title } = page;
  if (typeof url === "string") {
    return { type: "url_citation", url_citation: { url, title: typeof title === "string" ? title : url, ...place } };
  }
  const known = Object.entries(file).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return { type: "file_citation", file_citation: { ...Object.fromEntries(known), ...place } };
}

/**
 * Those annotations that the schema of chat completions has, whole: clients check it, and refuse an answer with any other
 * (`@ai-sdk/openai`, the schema of its chat model). The very same list where nothing is to be changed.
 */
export function pageCitations(annotations: readonly unknown[]): readonly Json[] {
  const kept = annotations
    .map((annotation) => (isJson(annotation) ? wholeCitation(annotation) : null))
    .filter((one) => one !== null);
  const same = kept.length === annotations.length && kept.every((one, index) => one === annotations[index]);
  return same ? (annotations as readonly Json[]) : kept;
}

function wholeCitation(annotation: Json): Json | null {
  const { type, url_citation: citation } = annotation;
  if (type !== "url_citation" || !isJson(citation)) return null;
  const { url, title, start_index, end_index } = citation;
  if (typeof url !== "string") return null;
  if (typeof title === "string" && typeof start_index === "number" && typeof end_index === "number") return annotation;
  return {
    ...annotation,
    url_citation: {
      ...citation,
      title: typeof title === "string" ? title : url,
      start_index: typeof start_index === "number" ? start_index : 0,
      end_index: typeof end_index === "number" ? end_index : 0,
    },
  };
}

/** What tells a citation of the gateway's making: only Anthropic's own have an index to go back with. */
const NO_INDEX = "";

/**
 * The annotations as citations of a Messages text block (`CitationsWebSearchResultLocation` of @anthropic-ai/sdk): pages
 * only, the other kinds point into documents of the request.
 */
export function webCitations(annotations: readonly unknown[]): readonly Json[] {
  return pageCitations(annotations).map(({ url_citation: citation }) => {
    const { url, title, content } = isJson(citation) ? citation : {};
    const cited_text = typeof content === "string" ? content : "";
    return { type: "web_search_result_location", url, title, cited_text, encrypted_index: NO_INDEX };
  });
}

/** Whether a citation is one of `webCitations`: no provider takes it back. */
export function isMadeCitation(citation: unknown): boolean {
  if (!isJson(citation)) return false;
  return citation["type"] === "web_search_result_location" && citation["encrypted_index"] === NO_INDEX;
}
