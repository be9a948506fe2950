import { isJson, type Json } from "../kit/index.ts";
import { parseJson } from "./json.ts";
import type { Report } from "./report.ts";

export interface DescribedFunction {
  readonly tool: Json;
  readonly name: string;
  /** What the tool says of the function. */
  readonly described: Json;
}

/** The function of a tool; null of any other tool, which is reported. @throws GatewayError for what is no tool. */
export function describedFunction(listed: unknown, at: string, report: Report): DescribedFunction | null {
  if (!isJson(listed)) throw report.refusal(at, "must be an object");
  const { type, function: described } = listed;
  if (type !== "function") {
    report.drop(at);
    return null;
  }
  if (!isJson(described)) throw report.refusal(`${at}/function`, "must be an object");
  const { name } = described;
  if (typeof name !== "string" || name === "") throw report.refusal(`${at}/function/name`, "must be a string");
  return { tool: listed, name, described };
}

/**
 * The arguments of a call for a dialect that takes objects only. What is none, such as JSON that was cut off, goes as the
 * text it is, so that nobody takes it for a call without arguments.
 */
export function inputOf(written: unknown): Json {
  if (isJson(written)) return written;
  if (typeof written !== "string" || written.trim() === "") return {};
  const input = parseJson(written);
  return isJson(input) ? input : { _raw: written };
}
