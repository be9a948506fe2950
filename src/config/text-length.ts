import type { Ajv } from "ajv";

/**
 * Replaces `minLength` and `maxLength` by ones that look at no more of a text than the limit: ajv's own walk through all
 * of it, 3 ms a megabyte, before they refuse it.
 */
export function lengthInCodePoints(ajv: Ajv): void {
  const keyword = (name: string, fits: (text: string, limit: number) => boolean): void => {
    ajv.removeKeyword(name);
    const compile = (limit: number) => (text: string) => fits(text, limit);
    ajv.addKeyword({ keyword: name, type: "string", schemaType: "number", compile });
  };
  keyword("minLength", (text, limit) => isLonger(text, limit - 1));
  keyword("maxLength", (text, limit) => !isLonger(text, limit));
}

/** Whether a text has more code points than that; one of them takes one or two of `length`. */
function isLonger(text: string, points: number): boolean {
  if (text.length <= points) return false;
  if (text.length > 2 * points) return true;
  let left = points;
  for (const _ of text) {
    left -= 1;
    if (left < 0) return true;
  }
  return false;
}
