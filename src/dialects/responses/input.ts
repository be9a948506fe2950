import { isDeepStrictEqual } from "node:util";
import { type Call, isJson, type Json } from "../../kit/index.ts";
import { fittedContent } from "../canonical/contents.ts";
import { list, objects, stringOf } from "../canonical/json.ts";
import { markOf, MARKS } from "../canonical/marks.ts";
import { ASSISTANT_FIELDS, inOrder } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { joinedText, writeParts } from "../chat/messages.ts";
import { reasoningItem, sendable, type WriteAs } from "./items.ts";
import { isResponsesCall, type Placed, type ResponsesCall, Sources } from "./native.ts";

export interface WrittenInput {
  readonly input: readonly Json[];
  readonly instructions?: string;
  /** Records of tools that ran at a provider are among the items. */
  readonly records: boolean;
}

/** Beside what is read of a message: of its content or calls. */
const KNOWN: ReadonlySet<string> = new Set([...ASSISTANT_FIELDS, "tool_call_id", "is_error"]);
const KNOWN_CALL: ReadonlySet<string> = new Set(["id", "type", "function", "custom", "extra_content", ...MARKS]);

/**
 * The conversation as items. Those of a client of the same format go as they came, as far as no plugin has changed the
 * message that they were read as.
 */
export function writeInput(call: Call, report: Report, as: WriteAs): WrittenInput {
  const { body } = call;
  const messages = list(body["messages"]);
  const own = isResponsesCall(call) ? call : null;
  if (own !== null && isSame(messages, own.canonical["messages"])) return sentInput(own, report, as);
  const writer = new InputWriter(report, as, call.dialect !== "messages");
  const read = own === null ? null : new Sources(own);
  // Places in a Responses client's own input are those of its messages.
  const places = messages.map((message, index) => ({ message, at: `/messages/${index}` }));
  const placed = own === null ? pairedMessages(messages, ["function", "custom"]) : places;
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
    const marked = typeof content === "string" ? undefined : content.findLast((part) => isMarked(part));
    if (texts === null) {
      const failure = failed === true ? [{ type: "input_text", text: "Error:" }] : [];
      return { type, call_id, output: [...failure, ...objects(content)] };
    }
    // The API cannot say that a tool failed.
    const output = failed === true ? `Error: ${texts}` : texts;
    return { type, call_id, output: marked === undefined ? output : [{ ...marked, text: output }] };
  }

  #parts(content: unknown, at: string, media: boolean): string | readonly Json[] {
    const written = this.#written(content, `${at}/content`, media);
    if (typeof written === "string") return written;
    return written.map((part, index) => ({ ...inputPart(part), ...this.#breakpoint(part, `${at}/content/${index}`) }));
  }

  /** The mark of a part, in whatever form: a plugin may have changed the message of a client of this format. */
  #breakpoint(part: Json, at: string): Json {
    const marked = markOf(part);
    if (marked === null) return {};
    if (this.#as.breakpoints) return { prompt_cache_breakpoint: { mode: "explicit" } };
    this.#report.drop(`${at}/${marked.field}`);
    return {};
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
  const { url, detail } = isJson(image) ? image : {};
  switch (type) {
    case "image_url":
      return { type: "input_image", image_url: url, detail: stringOf(detail) || "auto" };
    case "file":
      return { type: "input_file", ...(isJson(file) && file) };
    case "input_audio":
      return { type, input_audio };
    default:
      return { type: "input_text", text };
  }
}

/** Whether a prefix to cache ends with a part. */
function isMarked(part: Json): boolean {
  return part["prompt_cache_breakpoint"] !== undefined;
}
