import { isJson, type Json } from "../../kit/index.ts";

/** A citation as annotations of the answer's text, one a source; none for one of the plan or the thinking. */
export function annotationsOf(citation: Json, offset: number): readonly Json[] {
  const { type, start, end, sources } = citation;
  if (type !== undefined && type !== null && type !== "TEXT_CONTENT") return [];
  const place = {
    ...(typeof start === "number" ? { start_index: offset + start } : {}),
    ...(typeof end === "number" ? { end_index: offset + end } : {}),
  };
  const known = Array.isArray(sources) ? sources.filter(isJson) : [];
  return known.map((source) => annotation(source, place));
}

function annotation({ type, id, document }: Json, place: Json): Json {
  const { url, title } = isJson(document) ? document : {};
  const named = typeof title === "string" ? title : undefined;
  if (typeof url === "string") return { type: "url_citation", url_citation: { url, title: named ?? url, ...place } };
  const about = {
    ...(named === undefined ? {} : { filename: named }),
    ...(typeof id === "string" ? { file_id: id } : {}),
    ...(typeof type === "string" ? { location: type } : {}),
  };
  return { type: "file_citation", file_citation: { ...about, ...place } };
}
