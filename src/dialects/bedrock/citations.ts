import { isJson, type Json } from "../../kit/index.ts";
import { annotationOf } from "../annotations.ts";
import { objects, text } from "../json-fields.ts";

/**
 * The citations of one block as annotations of the answer's text, in which the block stands from `start` to `end` (UTF-16
 * units).
 */
export function annotationsOf(citations: readonly unknown[], start: number, end: number): readonly Json[] {
  return objects(citations).map(({ location, title, source, sourceContent }) => {
    const [[kind, at] = [undefined, {}]] = isJson(location) ? Object.entries(location) : [];
    const { url, documentIndex: index } = isJson(at) ? at : {};
    const quote =
      objects(sourceContent)
        .map((content) => text(content["text"]))
        .join("") || undefined;
    const file = { filename: title, file_id: source, index, quote, location: kind };
    return annotationOf({ url, title }, file, { start_index: start, end_index: end });
  });
}
