import { isJson, type Json } from "../../kit/index.ts";
import type { PartRules } from "../canonical/contents.ts";
import { append, changed, Edits, list, objects, stringOf } from "../canonical/json.ts";
import { type Report, without } from "../canonical/report.ts";
import type { ToolNames } from "../canonical/tool-names.ts";
import { NO_RESULT } from "../canonical/tool-pairs.ts";
import { fittedToolId } from "../canonical/tools.ts";
import type { Rules } from "../vendors/types.ts";
import { withOwnName } from "./answer.ts";
import { type Placed, unsealed } from "./native.ts";
import { sentTool } from "./tools.ts";

/** What of an input the upstream takes. */
export interface WriteAs {
  /** Whose encrypted reasoning goes back: `ReasoningDetail.format`. */
  readonly format: string;
  /** Reasoning that is not encrypted goes back as well. */
  readonly plainReasoning: boolean;
  /** `instructions` is a field; otherwise they are the first message. */
  readonly instructions: boolean;
  readonly developerRole: boolean;
  readonly audio: boolean;
  /** What contents may hold, where another client's are written. */
  readonly contents: PartRules;
  /** The name that is sent for a function's. */
  readonly sentName: (name: string) => string;
  /** A tool of this API's own as it is sent; null: it is not. */
  readonly sentTool: (tool: Json) => Json | null;
  /** The id that is sent for that of a tool call. */
  readonly toolId: (id: string) => string;
  /** Parts may end a prefix to cache. */
  readonly breakpoints: boolean;
  /** Fields of any item that are not sent. */
  readonly refusedItemFields: ReadonlySet<string>;
}

/**
 * What Codex says of itself in items. It sends the first to whoever it takes for OpenAI, so also to a gateway in OpenAI's place:
 * "Unknown parameter: 'input[0].internal_chat_message_metadata_passthrough.content_item_kinds'" (Wei-Shaw/sub2api#7066,
 * lidge-jun/opencodex#3038); "Unknown parameter: 'input[270].metadata'" (openai/codex#29469).
 */
const CODEX_ITEM_FIELD = "internal_chat_message_metadata_passthrough";

/** Whether a client's own breakpoints are sent: OpenAI's earlier models refuse them, and of others nobody knows. */
export function takesBreakpoints({ cacheMarks, vendor }: Rules): boolean {
  return cacheMarks === "breakpoints" || !(vendor === "openai" || vendor === "azure");
}

/** What an upstream with these rules takes. @param names what tools are called in the request. */
export function writeAs(rules: Rules, names: ToolNames): WriteAs {
  const own = rules.vendor === "openai" || rules.vendor === "azure";
  return {
    breakpoints: takesBreakpoints(rules),
    format: formatOfReasoning(rules),
    // xAI's takes its own alone, encrypted (https://docs.x.ai/docs/guides/reasoning#encrypted-reasoning-content).
    plainReasoning: !own && rules.vendor !== "xai",
    // xAI's Responses endpoint takes none (https://docs.x.ai/docs/guides/responses-api).
    instructions: own,
    developerRole: rules.developerRole || own,
    // SDK openai responses.d.ts ResponseInputContent: OpenAI's has texts, images and files.
    audio: !own,
    contents: {
      parts: rules.parts?.difference(own ? new Set(["audio"]) : new Set()) ?? null,
      mediaTypes: rules.mediaTypes,
      imageUrls: rules.imageUrls,
      fileUrls: true,
      fileForm: "file",
    },
    toolId: (id) => fittedToolId(id, rules),
    sentName: (name) => names.written(name),
    sentTool: (tool) => sentTool(tool, rules),
    refusedItemFields: new Set(["metadata", ...(rules.fields.has(CODEX_ITEM_FIELD) ? [] : [CODEX_ITEM_FIELD])]),
  };
}

/** Named as OpenRouter names them: `openai-responses-v1`, `azure-openai-responses-v1`, `xai-responses-v1`. */
export function formatOfReasoning({ vendor }: Rules): string {
  return vendor === "azure" ? "azure-openai-responses-v1" : `${vendor}-responses-v1`;
}

/** Longest id of an item, in characters, and what it begins with: the API refuses any other. */
const MAX_ID_CHARACTERS = 64;
const PREFIXES: Readonly<Record<string, RegExp>> = {
  message: /^msg/,
  reasoning: /^rs/,
  function_call: /^fc/,
  custom_tool_call: /^ctc?_/,
};
const CALLS = /^(?:function|custom_tool|local_shell|shell|apply_patch)_call(?:_output)?$/;

/** A client's item as the upstream takes it; null for reasoning that it cannot read. */
function restored(item: Json, as: WriteAs): Json | null {
  const type = stringOf(item["type"]) || "message";
  if (type === "reasoning") return restoredReasoning(item, as);
  const { id, call_id: called } = item;
  const prefix = Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : undefined;
  // Ids are optional: those that other providers' answers were given here are not of the API's making.
  const foreign = prefix !== undefined && typeof id === "string" && (id.length > MAX_ID_CHARACTERS || !prefix.test(id));
  const short = CALLS.test(type) && typeof called === "string" ? as.toolId(called) : called;
  const named = CALLS.test(type) ? withOwnName(item, { nameOf: as.sentName }) : item;
  if (!foreign && short === called) return named;
  return { ...named, ...(foreign && { id: undefined }), ...(short !== called && { call_id: short }) };
}

/**
 * Nothing is stored, so reasoning is known by its encrypted content alone ("Items are not persisted when `store` is set to
 * false": openai/openai-agents-python#2020, and `@ai-sdk/openai` leaves out what has none); that of another provider is
 * refused (`invalid_encrypted_content`: openai/codex#8128).
 */
function restoredReasoning(item: Json, as: WriteAs): Json | null {
  const { id, encrypted_content: encrypted, content } = item;
  const details = unsealed(encrypted);
  if (details !== null) return reasoningItem(details, as);
  if (stringOf(encrypted) === "" && !(as.plainReasoning && objects(content).length > 0)) return null;
  const good = typeof id === "string" && id.length <= MAX_ID_CHARACTERS && PREFIXES["reasoning"]?.test(id) === true;
  return good || id === undefined ? item : { ...item, id: undefined };
}

/** @returns null for what the upstream cannot read. */
export function reasoningItem(details: readonly object[], { format, plainReasoning }: WriteAs): Json | null {
  const all = objects(details);
  const own = all.filter((detail) => isOwn(detail, format));
  const encrypted = own.find(({ type }) => type === "reasoning.encrypted");
  const texts = all.filter(({ type, signature }) => type === "reasoning.text" && signature === undefined);
  if (encrypted === undefined && !(plainReasoning && texts.length > 0)) return null;
  const id = stringOf(encrypted?.["id"] ?? own[0]?.["id"]);
  return {
    type: "reasoning",
    ...(id.length <= MAX_ID_CHARACTERS && PREFIXES["reasoning"]?.test(id) === true && { id }),
    summary: own
      .filter(({ type }) => type === "reasoning.summary")
      .map(({ summary }) => ({ type: "summary_text", text: stringOf(summary) })),
    ...(encrypted === undefined
      ? { content: texts.map(({ text }) => ({ type: "reasoning_text", text: stringOf(text) })) }
      : { encrypted_content: encrypted["data"] }),
  };
}

/** What was read from an item of this API: with an id, or from this very upstream's kind. */
function isOwn({ type, id, format }: Json, own: string): boolean {
  if (type !== "reasoning.encrypted" && type !== "reasoning.summary") return false;
  return typeof format === "string" ? format === own : typeof id === "string";
}

/**
 * Items as the upstream takes them. "Item 'rs_…' of type 'reasoning' was provided without its required following item"
 * (continuedev/continue#8933): what a cut answer left goes. "Item 'msg_…' was provided without its required 'reasoning'
 * item" (continuedev/continue#11994): behind reasoning that goes, items are no longer known by their ids.
 */
export function sendable(items: readonly Placed[], report: Report, as: WriteAs): readonly Json[] {
  let headless = false;
  const followed = followedOnes(items);
  const written = items.flatMap(({ item, at }, index): readonly Json[] => {
    headless &&= isMade(item);
    const taken = withoutRefused(item, at, report, as);
    // Nothing is left if all tools were dropped.
    if (taken["type"] === "additional_tools" && list(taken["tools"]).length === 0) return [];
    const sent = item["type"] === "reasoning" && followed[index] !== true ? null : restored(taken, as);
    headless ||= sent === null;
    if (sent !== null) return headless && sent["id"] !== undefined ? [{ ...sent, id: undefined }] : [sent];
    // An empty one says nothing.
    if (at !== null && (item["encrypted_content"] || objects(item["summary"]).length > 0)) report.dropOwn(at);
    return [];
  });
  return answered(written);
}

/** The very item where it has no field that is refused. */
function withoutRefused(item: Json, at: string | null, report: Report, as: WriteAs): Json {
  const sent = withoutBreakpoints(withSentTools(item, at, report, as), at, report, as);
  const refused = Object.keys(sent).filter((name) => as.refusedItemFields.has(name));
  if (refused.length === 0) return sent;
  if (at !== null) for (const name of refused) report.dropOwn(`${at}/${name}`);
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !refused.includes(name)));
}

/** Without the marks of its parts where the model takes none; the very item where it has none, or all are taken. */
function withoutBreakpoints(item: Json, at: string | null, report: Report, { breakpoints }: WriteAs): Json {
  if (breakpoints) return item;
  const edits = new Edits(item);
  for (const field of ["content", "output"]) {
    const strip = (part: Json, index: number): Json => {
      if (part["prompt_cache_breakpoint"] === undefined) return part;
      if (isJson(part["prompt_cache_breakpoint"])) {
        report.dropOwn(`${at ?? ""}/${field}/${index}/prompt_cache_breakpoint`);
      }
      return without(part, ["prompt_cache_breakpoint"]);
    };
    edits.set(field, changed(item[field], strip));
  }
  return edits.object;
}

/** Types of items that bring tools into a conversation (SDK openai responses.d.ts ResponseInputItem). */
const WITH_TOOLS: ReadonlySet<unknown> = new Set(["additional_tools", "tool_search_output"]);

/** Of the tools that an item brings along those that may be sent; the very item where that is all of them. */
function withSentTools(item: Json, at: string | null, report: Report, { sentTool }: WriteAs): Json {
  const { type, tools } = item;
  if (!WITH_TOOLS.has(type) || !Array.isArray(tools)) return item;
  const kept = tools.filter((tool: unknown, index) => {
    const isSent = !isJson(tool) || sentTool(tool) !== null;
    if (!isSent && at !== null) report.dropOwn(`${at}/tools/${index}`);
    return isSent;
  });
  return kept.length === tools.length ? item : { ...item, tools: kept };
}

/** Whether the model made the item. */
function isMade(item: Json): boolean {
  const type = stringOf(item["type"]) || "message";
  return type === "message" ? item["role"] === "assistant" : !type.endsWith("_output");
}

/** For each item, true if the model made the next one that is not reasoning. Read from the end, so that each is visited once. */
function followedOnes(items: readonly Placed[]): readonly boolean[] {
  const followed: boolean[] = [];
  let next = false;
  for (const [index, { item }] of [...items.entries()].toReversed()) {
    followed[index] = next;
    if (item["type"] !== "reasoning") next = isMade(item);
  }
  return followed;
}

/** What ran at the client and was interrupted, as the output of its call. */
const INTERRUPTED: Readonly<Record<string, Json>> = {
  function_call: { type: "function_call_output", output: NO_RESULT },
  custom_tool_call: { type: "custom_tool_call_output", output: NO_RESULT },
  // As Codex answers it: https://github.com/openai/codex/blob/main/codex-rs/core/src/context_manager/normalize.rs
  local_shell_call: { type: "function_call_output", output: NO_RESULT },
  shell_call: {
    type: "shell_call_output",
    output: [{ stdout: "", stderr: NO_RESULT, outcome: { type: "exit", exit_code: 1 } }],
  },
  apply_patch_call: { type: "apply_patch_call_output", status: "failed", output: NO_RESULT },
};

/**
 * With an output for each call, behind the calls beside it: "No tool output found for function call call_…"
 * (jlcodes99/cockpit-tools#1234).
 */
function answered(items: readonly Json[]): readonly Json[] {
  const outputs = items.filter(({ type }) => stringOf(type).endsWith("_output"));
  // An output of the local shell may name its call by `id` (SDK openai responses.d.ts LocalShellCallOutput).
  const known = new Set(outputs.map(({ call_id: called, id }) => called ?? id));
  const written: Json[] = [];
  let waiting: Json[] = [];
  for (const item of items) {
    const { call_id, id } = item;
    const output = interruptedOutput(item);
    if (output === null) {
      append(written, waiting);
      waiting = [];
    }
    written.push(item);
    if (output !== null && !known.has(call_id) && !known.has(id ?? call_id)) waiting.push({ ...output, call_id });
  }
  append(written, waiting);
  return written.length === items.length ? items : written;
}

/** null for what is no call of the client's tools. */
function interruptedOutput({ type, environment }: Json): Json | null {
  const name = stringOf(type);
  const isHosted = isJson(environment) && environment["type"] !== "local";
  return Object.hasOwn(INTERRUPTED, name) && !isHosted ? (INTERRUPTED[name] ?? null) : null;
}
