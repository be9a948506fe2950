import { type Call, isJson, type Json } from "../../kit/index.ts";
import { Report } from "../report.ts";
import { caches, type Family, familyOf, hasStructuredOutput } from "./family.ts";
import { toolIds } from "./ids.ts";
import { documentNames } from "./media.ts";

/** What the parts of one request's translation share. */
export interface Translation {
  readonly family: Family;
  /** Whether calls of strict tools are held to their schemas. */
  readonly strictTools: boolean;
  readonly report: Report;
  /** The same for a call and its result. */
  readonly toolId: (id: string) => string;
  readonly documentName: (wanted: string) => string;
}

export function translationOf(call: Call, model: string): Translation {
  const family = familyOf(model);
  return {
    family,
    strictTools: hasStructuredOutput(model),

    report: new Report(call),
    toolId: toolIds(family),
    documentName: documentNames(),
  };
}

/** The block that ends a cached prefix behind an item with `cache_control`, or none. */
export function cachePoint(item: Json, at: string, { family, report }: Translation): readonly Json[] {
  const { cache_control: control } = item;
  if (!isJson(control)) return [];
  if (!caches(family)) {
    report.drop(`${at}/cache_control`);
    return [];
  }
  const { ttl } = control;
  const known = ttl === "5m" || ttl === "1h";
  if (!known && ttl !== undefined && ttl !== null) report.drop(`${at}/cache_control/ttl`);
  return [{ cachePoint: { type: "default", ...(known ? { ttl } : {}) } }];
}
