import { isJson } from "../kit/index.ts";
import { escaped } from "./canonical/report.ts";
import { weightOf } from "./schema-work.ts";

/** Keywords whose values are schemas by name, lists of schemas, and single schemas. */
export const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
export const LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"]);
export const SINGLES: ReadonlySet<string> = new Set(
  (
    "items additionalItems additionalProperties contains contentSchema else if not propertyNames then " +
    "unevaluatedItems unevaluatedProperties"
  ).split(" "),
);
/** They say nothing about values; `discriminator` is OpenAPI's hint about a union. */
export const SAYS_NOTHING: ReadonlySet<string> = new Set(
  "$schema $id $anchor $comment $vocabulary discriminator readOnly writeOnly deprecated".split(" "),
);
export const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);

/** A value and where it stands in the original. */
export interface Placed {
  readonly value: unknown;
  readonly at: string;
}

/**
 * Characters of a pointer that is reported. Names are a client's own: a long one above many others would be written once
 * for each of them.
 */
const LONGEST_POINTER = 512;

/** The pointer to what stands below one, or to the nearest above it that is not too long. */
export function placeBelow(at: string, name: string | number): string {
  const step = String(name);
  return at.length + step.length >= LONGEST_POINTER ? at : `${at}/${escaped(step)}`;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** Keywords whose schemas are written, and paid for, one by one. */
const WRITTEN: ReadonlySet<string> = new Set(
  "properties required items prefixItems additionalItems additionalProperties allOf anyOf oneOf".split(" "),
);

/** How much work one keyword of a schema is, without the schemas in it. */
export function costOf(keyword: string, value: unknown): number {
  if (keyword === "$defs" || keyword === "definitions") return 1;
  if (!WRITTEN.has(keyword)) return weightOf(value);
  if (Array.isArray(value)) return 1 + value.length;
  return keyword === "properties" && isJson(value) ? 1 + Object.keys(value).length : 1;
}
