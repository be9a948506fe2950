import { type Call, isJson, type Json } from "../../kit/index.ts";
import { pick } from "../canonical/json.ts";
import { droppedUnknown } from "../canonical/report.ts";
import { joinedText, type Written, writeParts } from "./parts.ts";

export interface WrittenMessages {
  readonly messages: readonly Json[];
  /** Canonical pointers. */
  readonly dropped: readonly string[];
}

/** What is known of a message. */
const KNOWN: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "tool_call_id",
  "is_error",
  "reasoning_content",
  "reasoning_details",
  "reasoning",
  "block_order",
  "cache_control",
]);
const ECHOED = ["reasoning_content", "reasoning_details", "reasoning"];
const KNOWN_CALL: ReadonlySet<string> = new Set(["id", "type", "function", "extra_content", "cache_control"]);

/** The messages of a canonical body in the form of OpenAI's API, for a client of another dialect. */
export function writeMessages({ body, dialect }: Call): WrittenMessages {
  const list = Array.isArray(body["messages"]) ? (body["messages"] as readonly unknown[]) : [];
  const writer = new Writer(dialect !== "messages");
  for (const [index, message] of list.entries()) {
    if (isJson(message)) writer.add(message, `/messages/${index}`);
  }
  return writer.end();
}

class Writer {
  readonly #messages: Json[] = [];
  readonly #dropped: string[] = [];
  /** Media of tool results: they follow the last result as a user's, because a tool's message is text alone. */
  #media: Json[] = [];
  readonly #fileIds: boolean;

  /** @param fileIds whether ids of files are OpenAI's. */
  constructor(fileIds: boolean) {
    this.#fileIds = fileIds;
  }

  add(message: Json, at: string): void {
    this.#dropped.push(...droppedUnknown(message, KNOWN, at));
    const { role } = message;
    if (role !== "tool") this.#showMedia();
    if (role === "tool") this.#addResult(message, at);
    else if (role === "assistant") this.#addAnswer(message, at);
    else this.#messages.push({ role, content: this.#parts(message["content"], at).content, ...named(message) });
  }

  end(): WrittenMessages {
    this.#showMedia();
    return { messages: this.#messages, dropped: this.#dropped };
  }

  #addResult(message: Json, at: string): void {
    const { tool_call_id: id, is_error: failed } = message;
    const { content } = this.#parts(message["content"], at);
    const said = joinedText(content, "\n");
    const media = Array.isArray(content) ? content.filter(({ type }) => type !== "text") : [];
    // OpenAI's API cannot say that a tool failed.
    const text = failed === true ? `Error: ${said}` : said || (media.length > 0 ? SHOWN : "");
    this.#messages.push({ role: "tool", tool_call_id: id, content: text });
    this.#media.push(...media);
  }

  #addAnswer(message: Json, at: string): void {
    const { tool_calls, refusal } = message;
    const { content } = this.#parts(message["content"], at, false);
    const calls = Array.isArray(tool_calls) ? this.#calls(tool_calls, at) : [];
    const said = joinedText(content, "");
    this.#messages.push({
      role: "assistant",
      content: said === "" && calls.length > 0 ? null : said,
      ...(typeof refusal === "string" && { refusal }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...named(message),
      // Only those that the target takes are left.
      ...pick(message, ECHOED),
    });
  }

  #calls(calls: readonly unknown[], at: string): readonly Json[] {
    return calls.filter(isJson).map((call, index) => {
      this.#dropped.push(...droppedUnknown(call, KNOWN_CALL, `${at}/tool_calls/${index}`));
      const { id, function: called } = call;
      return { id, type: "function", function: called };
    });
  }

  #parts(content: unknown, at: string, media = true): Written {
    const written = writeParts(content, `${at}/content`, { fileIds: this.#fileIds, media });
    this.#dropped.push(...written.dropped);
    return written;
  }

  #showMedia(): void {
    if (this.#media.length > 0) this.#messages.push({ role: "user", content: this.#media });
    this.#media = [];
  }
}

/** The text of a tool's result that is nothing but media. */
const SHOWN = "The result follows.";

function named({ name }: Json): Json {
  return typeof name === "string" ? { name } : {};
}
