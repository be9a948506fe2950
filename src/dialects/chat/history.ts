import { type Call, isJson, type Json } from "../../kit/index.ts";
import { asks, type Report, without } from "../canonical/report.ts";
import { fittedToolId } from "../canonical/tools.ts";
import type { Rules } from "../vendors/types.ts";
import type { ToolNames } from "../canonical/tool-names.ts";
import { changed, Edits, objects } from "../canonical/json.ts";
import { fittedContent } from "../canonical/contents.ts";
import { MARKS } from "../canonical/marks.ts";
import { MARKED } from "../canonical/message.ts";

/**
 * What this gateway wrote into an answer and a client sends back, beside reasoning: it says something of
 * the answer, nothing that a model reads.
 */
const OF_ANSWERS: ReadonlySet<string> = new Set([
  "annotations",
  "block_order",
  "native_finish_reason",
  "stop_sequence",
  "extra_content",
]);
const REASONING: ReadonlySet<string> = new Set(["reasoning_content", "reasoning_details", "reasoning"]);
const OF_EVERY_MESSAGE: ReadonlySet<string> = new Set(["role", "content", "tool_calls", "tool_call_id"]);
const OF_CALLS: ReadonlySet<string> = new Set(["id", "type", "function", "custom", "index"]);
/** What is left of them is in the target's form (`marks.ts`). */
const CACHE_MARKS: ReadonlySet<string> = new Set(MARKS);

export interface HistoryOptions {
  readonly rules: Rules;
  readonly names: ToolNames;
  /** Fields that only the client's dialect has are left to its translation. */
  readonly translated: boolean;
  readonly report: Report;
  /** Pointers to the client's messages by place; null: their places are the same. */
  readonly places: readonly string[] | null;
}

/** The messages as the target takes them, each in its place; the very same list where none changes. */
export function fittedMessages(list: unknown, options: HistoryOptions): unknown {
  const { places } = options;
  return changed(list, (message, index) => fittedMessage(message, places?.[index] ?? `/messages/${index}`, options));
}

function fittedMessage(message: Json, at: string, options: HistoryOptions): Json {
  const { rules, names, translated, report } = options;
  const edits = new Edits(message);
  const { role, tool_calls: calls, tool_call_id: id, name } = message;
  if (role === "developer" && !rules.developerRole) edits.set("role", "system");
  if (role === "tool" && typeof name === "string") edits.set("name", names.written(name));
  if (typeof id === "string") edits.set("tool_call_id", fittedToolId(id, rules));
  if (calls !== undefined) {
    edits.set(
      "tool_calls",
      changed(calls, (call, index) => fittedCall(call, `${at}/tool_calls/${index}`, options)),
    );
  }
  if (role === "assistant") echoReasoning(edits, at, options);
  if (!rules.openaiForms) withUsualForms(edits);
  if (hasParts(edits.object)) {
    edits.set("content", fittedContent(edits.object, at, rules, report));
  }
  if (typeof message["refusal"] === "string" && !taken("refusal", rules)) keepRefusal(edits);
  if (translated) return edits.object;
  for (const field in edits.object) {
    if (OF_ANSWERS.has(field)) edits.remove(field);
    else if (CACHE_MARKS.has(field)) continue;
    else if (!OF_EVERY_MESSAGE.has(field) && !(role === "assistant" && REASONING.has(field)) && !taken(field, rules)) {
      if (asks(field, edits.object[field])) report.drop(`${at}/${field}`);
      edits.remove(field);
    }
  }
  return edits.object;
}

/** A text is not looked at: a long one would be decoded for nothing (server/long-texts.ts). */
function hasParts(message: Json): boolean {
  return Array.isArray(Object.getOwnPropertyDescriptor(message, "content")?.value);
}

function taken(field: string, { messageFields, unknownFields }: Rules): boolean {
  return unknownFields || messageFields.has(field);
}

/** A message in forms that every server takes: a refusal is a text, and what is not given is left out. */
function withUsualForms(edits: Edits): void {
  // An assistant's message may have calls alone.
  edits.removeNulls("content");
  if (!hasParts(edits.object)) return;
  const written = changed(edits.object["content"], (part) => {
    const { type, refusal, ...rest } = part;
    return type === "refusal" && typeof refusal === "string" ? { ...rest, type: "text", text: refusal } : part;
  });
  edits.set("content", written);
}

/** A refusal is the last that the assistant said. */
function keepRefusal(edits: Edits): void {
  const { content, refusal } = edits.object;
  edits.remove("refusal");
  if (typeof refusal !== "string" || refusal === "") return;
  if (Array.isArray(content))
    edits.set("content", [...(content as readonly unknown[]), { type: "text", text: refusal }]);
  else edits.set("content", typeof content === "string" && content !== "" ? `${content}\n\n${refusal}` : refusal);
}

/** Reasoning of earlier turns under the one name that the target takes, if any; what it cannot read is reported. */
function echoReasoning(edits: Edits, at: string, { rules, report }: HistoryOptions): void {
  const { reasoning_details: details, tool_calls: calls, content } = edits.object;
  const called = Array.isArray(calls) && calls.length > 0;
  const { reasoningDemanded: demanded } = rules;
  const echo = called && !rules.reasoningBesideText && asks("content", content) ? "never" : rules.reasoningEcho;
  const listed = Array.isArray(details) ? (details as readonly unknown[]) : [];
  const named = ["reasoning_content", "reasoning"].find((name) => isText(edits.object[name]));
  const plain = named === undefined ? "" : String(edits.object[named]);
  for (const name of REASONING) if (name !== echo) edits.remove(name);
  if (echo === "never") {
    for (const index of listed.keys()) report.drop(`${at}/reasoning_details/${index}`);
    if (listed.length === 0 && named !== undefined) report.drop(`${at}/${named}`);
    return;
  }
  if (echo === "reasoning_details") {
    const own = listed.filter((detail) => !isForeign(detail));
    for (const [index, detail] of listed.entries())
      if (isForeign(detail)) report.drop(`${at}/reasoning_details/${index}`);
    if (own.length === 0) edits.remove(echo);
    else if (own.length < listed.length) edits.set(echo, own);
    if (own.length === 0 && plain !== "") edits.set("reasoning", plain);
    return;
  }
  const texts = listed.map(textOf);
  for (const [index, text] of texts.entries()) if (text === "") report.drop(`${at}/reasoning_details/${index}`);
  const text = plain || texts.join("");
  if (text !== "") edits.set(echo, text);
  else if (demanded !== null && called) edits.set(echo, demanded);
  else edits.remove(echo);
}

function textOf(detail: unknown): string {
  if (!isJson(detail)) return "";
  const text = detail["type"] === "reasoning.summary" ? detail["summary"] : detail["text"];
  return typeof text === "string" ? text : "";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Fields that ask for thinking, each by its own name. */
const THINKING = ["reasoning_effort", "thinking", "reasoning"];

/** A call that asks for no thinking where the target refuses it for want of a thought; the very same anywhere else. */
export function withAllowedThinking(call: Call, { thoughtDemanded }: Rules, report: Report): Call {
  const { body, text: _text, ...rest } = call;
  const asked = THINKING.filter((name) => asksToThink(body[name]));
  if (!thoughtDemanded || asked.length === 0 || !lacksThought(body["messages"])) return call;
  for (const name of asked) report.drop(`/${name}`);
  return { ...rest, body: without(body, asked) };
}

function asksToThink(value: unknown): boolean {
  if (!isJson(value)) return typeof value === "string" && value !== "none";
  return value["type"] !== "disabled" && value["enabled"] !== false && value["effort"] !== "none";
}

/**
 * Whether the last calls of a tool loop, or the words that the conversation ends with, came without a thought of the
 * model's own: one that it has signed.
 */
function lacksThought(messages: unknown): boolean {
  const all = objects(messages);
  const final = all.findLast(({ role }) => role === "assistant");
  const { tool_calls: calls, reasoning_details: details } = final ?? {};
  const isBound = final === all.at(-1) || objects(calls).length > 0;
  return final !== undefined && isBound && !objects(details).some(isOwnThought);
}

function isOwnThought(detail: Json): boolean {
  return !isForeign(detail) && [detail["signature"], detail["data"]].some(isText);
}

function isForeign(detail: unknown): boolean {
  if (!isJson(detail)) return true;
  return [detail["signature"], detail["data"]].some((value) => isText(value) && MARKED.test(value));
}

function fittedCall(call: Json, at: string, { rules, names, translated, report }: HistoryOptions): Json {
  const edits = new Edits(call);
  const { id, function: called } = call;
  if (typeof id === "string") edits.set("id", fittedToolId(id, rules));
  if (isJson(called) && typeof called["name"] === "string") {
    const inner = new Edits(called);
    inner.set("name", names.written(called["name"]));
    edits.set("function", inner.object);
  }
  if (translated) return edits.object;
  for (const field in edits.object) {
    if (OF_ANSWERS.has(field)) edits.remove(field);
    else if (!rules.unknownFields && !OF_CALLS.has(field) && !CACHE_MARKS.has(field)) {
      if (asks(field, edits.object[field])) report.drop(`${at}/${field}`);
      edits.remove(field);
    }
  }
  if (!rules.unknownFields) edits.remove("index");
  return edits.object;
}
