import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "./errors.ts";
import { guardDepth, isText, parseJson } from "./json.ts";
import type { Report } from "./report.ts";

/** What is read of a tool, and of the function that it is. */
export const TOOL_FIELDS: ReadonlySet<string> = new Set(["function", "cache_control"]);
export const FUNCTION_FIELDS: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);
/** What is read of a call; `extra_content` is another provider's state. */
const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "index", "function", "cache_control", "extra_content"]);

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

export interface FunctionCall {
  readonly call: Json;
  /** Pointer to it. */
  readonly at: string;
  readonly id: string;
  readonly name: string;
  /** As the client wrote them. */
  readonly written: unknown;
}

/**
 * The calls of an assistant message as `write` writes them; one of no function is reported.
 * @throws GatewayError for what is no call.
 */
export function writtenCalls(
  calls: unknown,
  at: string,
  report: Report,
  write: (call: FunctionCall) => readonly Json[],
): readonly (readonly Json[])[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) throw report.refusal(at, "must be a list");
  return calls.map((listed: unknown, index) => {
    const call = functionCall(listed, `${at}/${index}`, report);
    return call === null ? [] : write(call);
  });
}

/** null for a call of no function. */
function functionCall(call: unknown, at: string, report: Report): FunctionCall | null {
  if (!isJson(call)) throw report.refusal(at, "must be an object");
  const { id, function: called } = call;
  if (!isJson(called)) {
    report.drop(at);
    return null;
  }
  const { name, arguments: written } = called;
  if (!isText(id)) throw report.refusal(`${at}/id`, "must be a string that is not empty");
  if (!isText(name)) throw report.refusal(`${at}/function/name`, "must be a string");
  report.dropUnknown(call, CALL_FIELDS, at);
  return { call, at, id, name, written };
}

/**
 * The arguments of a call for a dialect that takes objects only. What is none, such as JSON that was cut off, goes as the
 * text it is, so that nobody takes it for a call without arguments.
 */
export function argumentsObject(written: unknown): Json {
  if (isJson(written)) return written;
  if (typeof written !== "string" || written.trim() === "") return {};
  const input = parseJson(written);
  return isJson(input) ? input : { _raw: written };
}

/** As JSON text: some upstreams give the object itself. */
export function argumentsText(args: unknown): string {
  if (typeof args === "string") return args;
  return args === null || args === undefined ? "" : JSON.stringify(args);
}

/** The input of a provider's tool call as JSON text; none is an empty object. @throws AttemptError for any other value. */
export function writtenInput(input: unknown): string {
  if (input !== undefined && input !== null && !isJson(input)) throw malformed("a tool input that is no object");
  return guardDepth(
    () => JSON.stringify(input ?? {}),
    () => malformed("a tool input that is nested too deeply"),
  );
}

/** The tool that a canonical `tool_choice` names; null: it names none. */
export function namedTool(choice: unknown): string | null {
  const called = isJson(choice) ? choice["function"] : undefined;
  const name = isJson(called) ? called["name"] : undefined;
  return isText(name) ? name : null;
}
