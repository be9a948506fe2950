import { isJson, type Json } from "../kit/index.ts";
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
