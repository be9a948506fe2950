import { isJson, type Json } from "../../kit/index.ts";
import { annotationOf } from "../annotations.ts";
import { objects } from "../json-fields.ts";

/** A citation as annotations of the answer's text, one a source; none for one of the plan or the thinking. */
export function annotationsOf(citation: Json, offset: number): readonly Json[] {
  const { type, start, end, sources } = citation;
  if (type !== undefined && type !== null && type !== "TEXT_CONTENT") return [];
  const place = {
    ...(typeof start === "number" ? { start_index: offset + start } : {}),
    ...(typeof end === "number" ? { end_index: offset + end } : {}),
  };
  return objects(sources).map(({ type: location, id, document }) => {
    const page = isJson(document) ? document : {};
    return annotationOf(page, { filename: page["title"], file_id: id, location }, place);
  });
}
