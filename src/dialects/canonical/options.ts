import type { Json } from "../../kit/index.ts";
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

/** A number of the body; undefined where it is not given. @throws GatewayError for any other value. */
export function numberAt(body: Json, name: string, report: Report): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw report.refusal(`/${name}`, "must be a number");
  return value;
}

/** Stop sequences that say something; undefined: there are none. @throws GatewayError for what is no text. */
export function stopsOf({ stop }: Json, report: Report): readonly string[] | undefined {
  const stops: readonly unknown[] = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  if (!stops.every((one) => typeof one === "string")) throw report.refusal("/stop", "must be strings");
  const meant = stops.filter((one) => one !== "");
  return meant.length > 0 ? meant : undefined;
}
