import type { Json } from "../kit/index.ts";
import type { Report } from "./report.ts";

/**
 * The most output tokens that a canonical body asks for; undefined: it names no limit. One beyond what the model can write
 * asks for nothing more than that, and is reported.
 * @param most what the model can write, in tokens; null: not known.
 */
export function outputLimit(body: Json, most: number | null, report: Report): number | undefined {
  const name = typeof body["max_completion_tokens"] === "number" ? "max_completion_tokens" : "max_tokens";
  const asked = body[name];
  if (typeof asked !== "number") return undefined;
  if (most === null || asked <= most) return asked;
  report.drop(`/${name}`);
  return most;
}
