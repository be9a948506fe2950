import { createHash } from "node:crypto";
import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "./errors.ts";
import { guardDepth, isText, list, objects, parseJson } from "./json.ts";
import type { Report } from "./report.ts";
import { MARKS } from "./marks.ts";

/** What is read of a tool, and of the function that it is. */
export const TOOL_FIELDS: ReadonlySet<string> = new Set(["function", ...MARKS]);
export const FUNCTION_FIELDS: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);
/** What is read of a call; `extra_content` is another provider's state. */
const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "index", "function", ...MARKS, "extra_content"]);

interface DescribedFunction {
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

/** What a choice among some of the tools (`allowed_tools`) says; null for any other choice. */
export function allowedTools(choice: unknown): { readonly names: ReadonlySet<unknown>; readonly mode: string } | null {
  const allowed = isJson(choice) && choice["type"] === "allowed_tools" ? choice["allowed_tools"] : null;
  if (!isJson(allowed)) return null;
  const names = objects(allowed["tools"]).map(nameOfTool);
  return { names: new Set(names), mode: allowed["mode"] === "required" ? "required" : "auto" };
}

/** A body with the tools alone that a choice allows, for targets that know no such choice; the very same without one. */
export function withAllowedTools(body: Json): Json {
  const allowed = allowedTools(body["tool_choice"]);
  if (allowed === null) return body;
  const tools = objects(body["tools"]).filter((tool) => allowed.names.has(nameOfTool(tool)));
  // A choice without tools is refused.
  if (tools.length === 0) return { ...body, tool_choice: "none" };
  return { ...body, tools, tool_choice: allowed.mode };
}

function nameOfTool(tool: Json): unknown {
  const described = [tool["function"], tool["custom"]].find(isJson) ?? tool;
  return described["name"];
}

/**
 * Which tools to send where a target takes so many only, as their places: those that must be, or were, called, then the first.
 * @param taken of each tool, whether it is sent at all.
 */
export function mostUseful(body: Json, taken: readonly boolean[], max: number): ReadonlySet<number> {
  const places = [...taken.keys()].filter((index) => taken[index]);
  if (places.length <= max) return new Set(places);
  const choice = body["tool_choice"];
  const called = objects(body["messages"]).flatMap(({ tool_calls: calls }) => objects(calls).map(nameOfTool));
  const wanted = new Set([
    ...(isJson(choice) ? [nameOfTool(choice)] : []),
    ...(allowedTools(choice)?.names ?? []),
    ...called,
  ]);
  wanted.delete(undefined);
  const tools = list(body["tools"]);
  const isWanted = (index: number): boolean => {
    const tool = tools[index];
    return isJson(tool) && wanted.has(nameOfTool(tool));
  };
  const sorted = [...places.filter(isWanted), ...places.filter((index) => !isWanted(index))];
  return new Set(sorted.slice(0, max));
}

/*
 * Gemini wants the signature of a function call back, and most clients drop fields that they do not know. Ids travel
 * unchanged in every client format, so the signature rides in the id:
 *
 *   <id>__ts1_<check>_<signature in base64url, without padding>
 *
 * `ts1` is the version of the form; `check` is the beginning of the signature's SHA-256, so that an id which a client cut
 * short loses its signature instead of bringing back a wrong one. Only letters, digits, `_` and `-` occur: ids of other
 * providers allow nothing else.
 */
const MARK = "__ts1_";
const CHECK_CHARACTERS = 8;

interface CallId {
  /** As the upstream knows it. */
  readonly id: string;
  /** null when the id carries none. */
  readonly signature: string | null;
}

/** @param signature standard base64, as Google's JSON has it; any other is left out. */
export function withSignature(id: string, signature: string | null): string {
  if (signature === null || signature === "" || id.includes(MARK)) return id;
  const bytes = Buffer.from(signature, "base64");
  if (bytes.toString("base64") !== signature) return id;
  const text = bytes.toString("base64url");
  return `${id}${MARK}${check(text)}_${text}`;
}

/** For any upstream that is to see the id: the others refuse long ones. */
export function readCallId(carried: string): CallId {
  const at = carried.indexOf(MARK);
  if (at < 0) return { id: carried, signature: null };
  const id = carried.slice(0, at);
  const sum = carried.slice(at + MARK.length, at + MARK.length + CHECK_CHARACTERS);
  const text = carried.slice(at + MARK.length + CHECK_CHARACTERS + 1);
  const good = text !== "" && carried[at + MARK.length + CHECK_CHARACTERS] === "_" && check(text) === sum;
  return { id, signature: good ? Buffer.from(text, "base64url").toString("base64") : null };
}

/** What of an upstream's rules ids of tool calls have to keep. */
export interface ToolIdRules {
  /** `mistral`: exactly nine letters and digits. */
  readonly toolCallIds: "any" | "mistral";
  /** Characters of the longest. */
  readonly toolCallId: number;
}

/** Mistral takes no other (https://docs.mistral.ai/capabilities/function_calling). */
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/** A tool call's id without the signature that the gateway put into it: no upstream but Gemini is to see that. */
export function stripSignature(id: string): string {
  return readCallId(id).id;
}

/** The same as an upstream takes it: equal ids stay equal, different ones different. */
export function fittedToolId(id: string, { toolCallIds, toolCallId }: ToolIdRules): string {
  const own = stripSignature(id);
  if (toolCallIds === "mistral") return MISTRAL.test(own) ? own : alphanumeric(own).slice(0, 9);
  return own.length <= toolCallId ? own : `call_${sha256(own).slice(0, 32)}`.slice(0, toolCallId);
}

/** More than 50 bits in its first nine characters. */
function alphanumeric(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("base64")
    .replaceAll(/[^A-Za-z0-9]/g, "");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function check(text: string): string {
  return sha256(text).slice(0, CHECK_CHARACTERS);
}

/** An id for a tool call that came without one, or with that of another. Equal seeds give equal ids. */
export function madeId(seed: string): string {
  return `call_${sha256(seed).slice(0, 24)}`;
}
