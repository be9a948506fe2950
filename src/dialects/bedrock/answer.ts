import { type Call, isJson, type Json, type Usage } from "../../kit/index.ts";
import { annotationOf } from "../canonical/annotations.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf } from "../canonical/finish.ts";
import { append, objects, text } from "../canonical/json.ts";
import { type BlockPlace, isUsual } from "../canonical/message.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { writtenInput } from "../canonical/tools.ts";
import { cacheWrites, tokenCount, writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";

/** A complete answer of Converse as a chat completion. @throws AttemptError for a body that is none. */
export function chatAnswer(bytes: Uint8Array, _call: Call): Decoded {
  const body = parseAnswer(bytes);
  const { output, stopReason, additionalModelResponseFields: more } = body;
  const written = isJson(output) ? output["message"] : undefined;
  if (!isJson(written) || !Array.isArray(written["content"])) throw malformed("an answer without a message");
  const reader = new MessageReader();
  for (const block of written["content"]) reader.read(block);
  const { message, called } = reader;
  const usage = usageOf(body["usage"]);
  if (typeof stopReason !== "string") throw malformed("an answer without a stop reason");
  const finish = finishOf("bedrock", stopReason, { called, sequence: stopSequence(more) });
  return {
    body: {
      object: "chat.completion",
      choices: [{ index: 0, message, ...finish }],
      ...(usage ? { usage: writtenUsage(usage) } : {}),
    },
    usage,
  };
}

/** Of a whole answer, or as a stream's last delta. */
export function stopSequence(fields: unknown): unknown {
  if (!isJson(fields)) return undefined;
  return isJson(fields["delta"]) ? fields["delta"]["stop_sequence"] : fields["stop_sequence"];
}

class MessageReader {
  readonly #texts: string[] = [];
  /** Of the texts together, in UTF-16 units. */
  #length = 0;
  readonly #thoughts: string[] = [];
  readonly #details: Json[] = [];
  readonly #calls: Json[] = [];
  readonly #annotations: Json[] = [];
  readonly #order: BlockPlace[] = [];

  get called(): boolean {
    return this.#calls.length > 0;
  }

  /** The blocks read so far, as an assistant message. */
  get message(): Json {
    const text = this.#texts.join("");
    return {
      role: "assistant",
      content: text === "" && this.called ? null : text,
      ...(this.#thoughts.length > 0 ? { reasoning_content: this.#thoughts.join("") } : {}),
      ...(this.#details.length > 0 ? { reasoning_details: this.#details } : {}),
      ...(this.called ? { tool_calls: this.#calls } : {}),
      ...(this.#annotations.length > 0 ? { annotations: this.#annotations } : {}),
      ...(isUsual(this.#order) ? {} : { block_order: this.#order }),
    };
  }

  /** @throws AttemptError for a block that is none; blocks of unknown kinds are passed over. */
  read(block: unknown): void {
    if (!isJson(block)) throw malformed("a content block that is none");
    const { text, reasoningContent, toolUse, citationsContent } = block;
    if (text !== undefined) this.#text(text);
    if (isJson(reasoningContent)) this.#reasoning(reasoningContent);
    if (isJson(toolUse)) this.#call(toolUse);
    if (isJson(citationsContent)) this.#cited(citationsContent);
  }

  #text(text: unknown): void {
    if (typeof text !== "string") throw malformed("a text block without text");
    // Texts are one in the canonical message.
    if (this.#order.at(-1) !== "content") this.#order.push("content");
    this.#texts.push(text);
    this.#length += text.length;
  }

  #reasoning({ reasoningText, redactedContent }: Json): void {
    this.#order.push("reasoning");
    if (typeof redactedContent === "string") {
      this.#details.push({ type: "reasoning.encrypted", data: redactedContent });
      return;
    }
    const { text, signature } = isJson(reasoningText) ? reasoningText : {};
    if (typeof text !== "string") throw malformed("a reasoning block without text");
    if (text !== "") this.#thoughts.push(text);
    const signed = typeof signature === "string" && signature !== "" ? { signature } : {};
    this.#details.push({ type: "reasoning.text", text, ...signed });
  }

  #call({ toolUseId: id, name, input }: Json): void {
    if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
      throw malformed("a tool call without an id or a name");
    }
    this.#order.push("tool_call");
    this.#calls.push({ id, type: "function", function: { name, arguments: writtenInput(input) } });
  }

  #cited({ content, citations }: Json): void {
    const start = this.#length;
    for (const part of Array.isArray(content) ? content : []) if (isJson(part)) this.#text(part["text"] ?? "");
    if (Array.isArray(citations)) append(this.#annotations, annotationsOf(citations, start, this.#length));
  }
}

/**
 * The citations of one block as annotations of the answer's text, in which the block stands from `start` to `end` (UTF-16
 * units).
 */
export function annotationsOf(citations: readonly unknown[], start: number, end: number): readonly Json[] {
  return objects(citations).map(({ location, title, source, sourceContent }) => {
    const [[kind, at] = [undefined, {}]] = isJson(location) ? Object.entries(location) : [];
    const { url, documentIndex: index } = isJson(at) ? at : {};
    const quote =
      objects(sourceContent)
        .map((content) => text(content["text"]))
        .join("") || undefined;
    const file = { filename: title, file_id: source, index, quote, location: kind };
    return annotationOf({ url, title }, file, { start_index: start, end_index: end });
  });
}

/** `inputTokens` leaves out what was read from and written to a cache. @returns null for counts that cannot be believed. */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const [input, completion] = [tokenCount(usage["inputTokens"]), tokenCount(usage["outputTokens"])];
  const cached = tokenCount(usage["cacheReadInputTokens"] ?? 0);
  const cacheWrite = tokenCount(usage["cacheWriteInputTokens"] ?? 0);
  if (input === null || completion === null || cached === null || cacheWrite === null) return null;
  const writes = cacheWrites(cacheWrite, writtenForAnHour(usage["cacheDetails"]));
  return { prompt: input + cached + cacheWrite, completion, cached, reasoning: 0, cacheWrite, ...writes };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html */
function writtenForAnHour(details: unknown): unknown {
  return Array.isArray(details) ? details.filter(isJson).find(({ ttl }) => ttl === "1h")?.["inputTokens"] : 0;
}
