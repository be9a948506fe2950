import { isDeepStrictEqual } from "node:util";
import { type Call, isJson, type Json } from "../../kit/index.ts";
import { fittedContent, type PartRules } from "../canonical/contents.ts";
import { objects, stringOf } from "../canonical/json.ts";
import { ASSISTANT_FIELDS, inOrder } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { joinedText, writeParts } from "../chat/messages.ts";
import { withOwnName } from "./answer.ts";
import { answered } from "./answered.ts";
import { isResponsesCall, type Placed, type ResponsesCall, Sources, unsealed } from "./native.ts";

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
  /** The id that is sent for that of a tool call. */
  readonly toolId: (id: string) => string;
  /** Fields of any item that are not sent. */
  readonly refusedItemFields: ReadonlySet<string>;
}

export interface WrittenInput {
  readonly input: readonly Json[];
  readonly instructions?: string;
  /** Records of tools that ran at a provider are among the items. */
  readonly records: boolean;
}

/** Beside what is read of a message: of its content or calls. */
const KNOWN: ReadonlySet<string> = new Set([...ASSISTANT_FIELDS, "tool_call_id", "is_error"]);
const KNOWN_CALL: ReadonlySet<string> = new Set(["id", "type", "function", "custom", "extra_content", "cache_control"]);

/**
 * The conversation as items. Those of a client of the same format go as they came, as far as no plugin has changed the
 * message that they were read as.
 */
export function writeInput(call: Call, report: Report, as: WriteAs): WrittenInput {
  const { body } = call;
  const messages: readonly unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  const own = isResponsesCall(call) ? call : null;
  if (own !== null && isSame(messages, own.canonical["messages"])) return sentInput(own, report, as);
  const writer = new InputWriter(report, as, call.dialect !== "messages");
  const read = own === null ? null : new Sources(own);
  // Places in a Responses client's own input are those of its messages.
  const placed =
    own === null
      ? pairedMessages(messages, ["function", "custom"])
      : messages.map((message, index) => ({ message, at: `/messages/${index}` }));
  const items = placed.flatMap(({ message, at }, index): readonly Placed[] => {
    if (!isJson(message)) return [];
    return read?.of(message, index) ?? writer.items(message, at).map((item) => ({ item, at: null }));
  });
  return { input: sendable(items, report, as), records: false };
}

function isSame(value: unknown, other: unknown): boolean {
  return value === other || isDeepStrictEqual(value, other);
}

/** The client's own input. */
function sentInput({ request }: ResponsesCall, report: Report, as: WriteAs): WrittenInput {
  const { input, instructions } = request;
  const items: readonly Json[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : objects(input);
  const kept = sendable(
    items.map((item, index) => ({ item, at: `/input/${index}` })),
    report,
    as,
  );
  if (typeof instructions !== "string" || instructions === "") return { input: kept, records: true };
  if (as.instructions) return { input: kept, instructions, records: true };
  return { input: [{ type: "message", role: "system", content: instructions }, ...kept], records: true };
}

/** Longest id of an item, in characters, and what it begins with: the API refuses any other. */
const MAX_ID_CHARACTERS = 64;
const PREFIXES: Readonly<Record<string, RegExp>> = {
  message: /^msg/,
  reasoning: /^rs/,
  function_call: /^fc/,
  custom_tool_call: /^ctc?_/,
};
const CALLS = /^(?:function|custom_tool)_call(?:_output)?$/;

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
function reasoningItem(details: readonly object[], { format, plainReasoning }: WriteAs): Json | null {
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
function sendable(items: readonly Placed[], report: Report, as: WriteAs): readonly Json[] {
  let headless = false;
  const followed = followedOnes(items);
  const written = items.flatMap(({ item, at }, index): readonly Json[] => {
    headless &&= isMade(item);
    const taken = withoutRefused(item, at, report, as);
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
function withoutRefused(item: Json, at: string | null, report: Report, { refusedItemFields }: WriteAs): Json {
  const refused = Object.keys(item).filter((name) => refusedItemFields.has(name));
  if (refused.length === 0) return item;
  if (at !== null) for (const name of refused) report.dropOwn(`${at}/${name}`);
  return Object.fromEntries(Object.entries(item).filter(([name]) => !refused.includes(name)));
}

/** Whether the model made the item. */
function isMade(item: Json): boolean {
  const type = stringOf(item["type"]) || "message";
  return type === "message" ? item["role"] === "assistant" : !type.endsWith("_output");
}

/** Of each item, whether the next one that is not reasoning was made by the model. From the end, so that each is looked at once. */
function followedOnes(items: readonly Placed[]): readonly boolean[] {
  const followed: boolean[] = [];
  let next = false;
  for (const [index, { item }] of [...items.entries()].toReversed()) {
    followed[index] = next;
    if (item["type"] !== "reasoning") next = isMade(item);
  }
  return followed;
}

/** Writes canonical messages as items. */
class InputWriter {
  readonly #report: Report;
  readonly #as: WriteAs;
  /** Ids of files are OpenAI's. */
  readonly #fileIds: boolean;
  /** Ids of calls of tools that take free text. */
  readonly #custom = new Set<unknown>();

  constructor(report: Report, as: WriteAs, fileIds: boolean) {
    this.#report = report;
    this.#as = as;
    this.#fileIds = fileIds;
  }

  items(own: Json, at: string): readonly Json[] {
    const { role } = own;
    const content = fittedContent(own, at, this.#as.contents, this.#report);
    const message = content === own["content"] ? own : { ...own, content };
    this.#report.dropUnknown(message, KNOWN, at);
    if (role === "assistant") return this.#assistant(message, at);
    if (role === "tool" || role === "function") return [this.#result(message, at)];
    const items = nativeItems(content);
    if (items.length > 0) return items;
    const sentRole = role === "developer" && !this.#as.developerRole ? "system" : role;
    return [{ type: "message", role: sentRole, content: this.#parts(content, at, role === "user") }];
  }

  #assistant(message: Json, at: string): readonly Json[] {
    const { content, refusal, tool_calls, reasoning_content, reasoning_details, block_order: order } = message;
    const text = typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
    const written = text.map((part, index) => nativeItems([part])[0] ?? this.#textPart(part, `${at}/content/${index}`));
    const details = objects(reasoning_details);
    if (details.length === 0 && stringOf(reasoning_content) !== "") this.#report.drop(`${at}/reasoning_content`);
    const lists = {
      reasoning: this.#reasoning(details, `${at}/reasoning_details`).map((items) => ({ items })),
      content: (Array.isArray(order) ? written.map((item) => [item]) : [written]).map((items) => ({
        items: merged(items.filter((item) => item !== null)),
      })),
      tool_call: objects(tool_calls).map((call, index) => ({ items: this.#call(call, `${at}/tool_calls/${index}`) })),
    };
    const items = inOrder(lists, order).flatMap(({ items: own }) => objects(own));
    if (typeof refusal !== "string" || refusal === "") return items;
    return merged([...items, { type: "message", role: "assistant", content: refusal }]);
  }

  /** An item stands where the last of its details does. */
  #reasoning(details: readonly Json[], at: string): readonly (readonly Json[])[] {
    let open: Json[] = [];
    return details.map((detail, index) => {
      open.push(detail);
      const next = details[index + 1];
      const last = detail["type"] === "reasoning.encrypted" || next === undefined;
      if (!last && (next["id"] === undefined || next["id"] === detail["id"] || detail["id"] === undefined)) return [];
      const item = reasoningItem(open, this.#as);
      if (item === null) for (const back of open.keys()) this.#report.drop(`${at}/${index - back}`);
      open = [];
      return item === null ? [] : [item];
    });
  }

  #textPart(part: Json, at: string): Json | null {
    const text = joinedText(this.#written([part], at.replace(/\/\d+$/, ""), false, at), "");
    if (text === "") return null;
    return { type: "message", role: "assistant", content: text };
  }

  #call(call: Json, at: string): readonly Json[] {
    const { id, function: called, custom } = call;
    this.#report.dropUnknown(call, KNOWN_CALL, at);
    const call_id = typeof id === "string" ? this.#as.toolId(id) : id;
    if (isJson(custom)) {
      this.#custom.add(call_id);
      return [{ type: "custom_tool_call", call_id, name: custom["name"], input: stringOf(custom["input"]) }];
    }
    if (!isJson(called)) throw this.#report.refusal(`${at}/function`, "must be an object");
    const { name, arguments: args } = called;
    if (typeof name !== "string") throw this.#report.refusal(`${at}/function/name`, "must be a string");
    const written = typeof args === "string" ? args : JSON.stringify(args ?? {});
    return [{ type: "function_call", call_id, name: this.#as.sentName(name), arguments: written || "{}" }];
  }

  #result(message: Json, at: string): Json {
    const { tool_call_id: id, is_error: failed } = message;
    const content = this.#parts(message["content"], at, true);
    const call_id = typeof id === "string" ? this.#as.toolId(id) : id;
    const type = this.#custom.has(call_id) ? "custom_tool_call_output" : "function_call_output";
    const texts = typeof content === "string" ? content : textAlone(content);
    if (texts === null) {
      const failure = failed === true ? [{ type: "input_text", text: "Error:" }] : [];
      return { type, call_id, output: [...failure, ...objects(content)] };
    }
    // The API cannot say that a tool failed.
    return { type, call_id, output: failed === true ? `Error: ${texts}` : texts };
  }

  #parts(content: unknown, at: string, media: boolean): string | readonly Json[] {
    const written = this.#written(content, `${at}/content`, media);
    return typeof written === "string" ? written : written.map((part) => inputPart(part));
  }

  /** @param only the place of the one part, where `content` is one of several. */
  #written(content: unknown, at: string, media: boolean, only?: string): string | readonly Json[] {
    return writeParts(content, at, {
      report: this.#report,
      fileIds: this.#fileIds,
      media,
      fileUrls: true,
      audio: this.#as.audio,
      ...(only !== undefined && { only }),
    });
  }
}

/** Items of this API that stand in a message as they came. */
function nativeItems(content: unknown): readonly Json[] {
  return objects(content).flatMap(({ type, dialect, block }) =>
    type === "native" && dialect === "responses" && isJson(block) ? [block] : [],
  );
}

/** Texts of the assistant that follow one another are one. */
function merged(items: readonly Json[]): readonly Json[] {
  const all: Json[] = [];
  for (const item of items) {
    const last = all.at(-1);
    const [before, text] = [textOfMessage(last), textOfMessage(item)];
    // Added, not joined: that would copy all that came before for each of them.
    if (before !== null && text !== null) all[all.length - 1] = { ...last, content: before + text };
    else all.push(item);
  }
  return all;
}

/** The text of a message that has nothing else. */
function textOfMessage(item: Json | undefined): string | null {
  const text = item?.["type"] === "message" ? item["content"] : null;
  return typeof text === "string" ? text : null;
}

/** The text of parts that are nothing else; null with media among them. */
function textAlone(parts: readonly Json[]): string | null {
  return parts.every(({ type }) => type === "input_text") ? parts.map(({ text }) => stringOf(text)).join("\n") : null;
}

/** A part of a chat message as one of an item. */
function inputPart({ type, text, image_url: image, file, input_audio }: Json): Json {
  switch (type) {
    case "image_url": {
      const { url, detail } = isJson(image) ? image : {};
      return { type: "input_image", image_url: url, detail: typeof detail === "string" ? detail : "auto" };
    }
    case "file":
      return { type: "input_file", ...(isJson(file) && file) };
    case "input_audio":
      return { type, input_audio };
    default:
      return { type: "input_text", text };
  }
}
