import type { EventSourceMessage } from "eventsource-parser";
import { type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { ChunkWriter, finishOf } from "../canonical/answer.ts";
import { malformed, reportedError } from "../canonical/errors.ts";
import { objects } from "../canonical/json.ts";
import { annotationOf } from "../canonical/message.ts";
import { producedText } from "../canonical/produced.ts";
import { parseAnswer, SseStreamReader } from "../canonical/requests.ts";
import { tokenCount, writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";

/** A complete answer of version 2 as a chat completion. @throws AttemptError for a body that is none. */
export function chatAnswer(bytes: Uint8Array, _call: Call): Decoded {
  const body = parseAnswer(bytes);
  const { id, message: written } = body;
  if (!isJson(written)) throw malformed("an answer without a message");
  const message = messageOf(written);
  const { finish_reason: reason } = body;
  if (typeof reason !== "string") throw malformed("an answer without a finish reason");
  const called = message["tool_calls"] !== undefined;
  const finish = finishOf("cohere", reason, { called, error: body["message"] ?? null });
  const usage = usageOf(body["usage"]);
  return {
    body: {
      ...(typeof id === "string" ? { id } : {}),
      object: "chat.completion",
      choices: [{ index: 0, message, ...finish }],
      ...(usage ? { usage: writtenUsage(usage) } : {}),
    },
    usage,
  };
}

function messageOf({ content, tool_plan: plan, tool_calls, citations }: Json): Json {
  const blocks = listOf(content, "content");
  // The plan of version 2's first models, and the thinking of the later ones.
  const thoughts = [...blocks.flatMap(thinkingIn), ...(typeof plan === "string" && plan !== "" ? [plan] : [])];
  const texts = blocks.map(textOf);
  const calls = listOf(tool_calls, "tool calls").map(callOf);
  const annotations = listOf(citations, "citations").flatMap((citation) =>
    isJson(citation) ? annotationsOf(citation, offsetOf(texts, citation["content_index"])) : [],
  );
  const text = texts.join("");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts.length > 0
      ? {
          reasoning_content: thoughts.join(""),
          reasoning_details: thoughts.map((thought) => ({ type: "reasoning.text", text: thought })),
        }
      : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

function listOf(value: unknown, what: string): readonly unknown[] {
  const list = value ?? [];
  if (!Array.isArray(list)) throw malformed(`${what} that are no list`);
  return list;
}

function thinkingIn(block: unknown): readonly string[] {
  if (!isJson(block) || block["type"] !== "thinking") return [];
  const { thinking } = block;
  if (typeof thinking !== "string") throw malformed("a thinking block without text");
  return thinking === "" ? [] : [thinking];
}

/** Empty for a block of another kind. */
function textOf(block: unknown): string {
  if (!isJson(block)) throw malformed("a content block that is none");
  if (block["type"] !== "text") return "";
  if (typeof block["text"] !== "string") throw malformed("a text block without text");
  return block["text"];
}

/** Where in the joined text the citations of a block count from. */
function offsetOf(texts: readonly string[], block: unknown): number {
  return texts.slice(0, typeof block === "number" ? Math.max(block, 0) : 0).join("").length;
}

function callOf(call: unknown): Json {
  const { id, function: called } = isJson(call) ? call : {};
  const { name, arguments: args } = isJson(called) ? called : {};
  if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
    throw malformed("a tool call without an id or a name");
  }
  if (args !== undefined && args !== null && typeof args !== "string") throw malformed("arguments that are no text");
  return { id, type: "function", function: { name, arguments: isNone(args ?? "") ? "{}" : args } };
}

/** Some models write "null" for no arguments. */
function isNone(args: string): boolean {
  return args.trim() === "" || args.trim() === "null";
}

/** A citation as annotations of the answer's text, one a source; none for one of the plan or the thinking. */
function annotationsOf(citation: Json, offset: number): readonly Json[] {
  const { type, start, end, sources } = citation;
  if (type !== undefined && type !== null && type !== "TEXT_CONTENT") return [];
  const place = {
    ...(typeof start === "number" ? { start_index: offset + start } : {}),
    ...(typeof end === "number" ? { end_index: offset + end } : {}),
  };
  return objects(sources).map(({ type: location, id, document }) => {
    const page = isJson(document) ? document : {};
    return annotationOf(page, { filename: page["title"], file_id: id, location }, place);
  });
}

/**
 * What is charged (`billed_units`), where it is missing what the model read and wrote (`tokens`): Cohere's own prompt,
 * which comes before the client's, is part of that alone. @returns null for counts that cannot be believed.
 */
function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const tokens = counts(usage["tokens"]);
  const charged = counts(usage["billed_units"]) ?? tokens;
  if (charged === null) return null;
  // A cache holds beginnings: what it had of Cohere's own prompt is not charged anyway.
  const own = Math.max((tokens?.input ?? Infinity) - charged.input, 0);
  const cached = Math.max((tokenCount(usage["cached_tokens"]) ?? 0) - own, 0);
  return {
    prompt: charged.input,
    completion: charged.output,
    cached: Math.min(cached, charged.input),
    reasoning: 0,
  };
}

function counts(units: unknown): { readonly input: number; readonly output: number } | null {
  if (!isJson(units)) return null;
  const [input, output] = [tokenCount(units["input_tokens"]), tokenCount(units["output_tokens"])];
  return input === null || output === null ? null : { input, output };
}

/** A tool call that has begun. */
interface OpenCall {
  /** In the canonical answer. */
  readonly index: number;
  /** What was held back: arguments that may yet be none. */
  held: string;
  written: boolean;
}

/** Reads the server-sent events of one stream of chat; `message-end` is its ending. */
export class CohereStreamReader extends SseStreamReader {
  override done = false;
  readonly #chunks = new ChunkWriter();
  /** Reasoning details by the content block they are, the plan under its own name. */
  readonly #details = new Map<number | "plan", number>();
  /** Calls by their index in the stream. */
  readonly #calls = new Map<number, OpenCall>();
  /** Where each content block began in the answer's text, in UTF-16 units. */
  readonly #starts = new Map<number, number>();
  #length = 0;

  override get complete(): boolean {
    return this.done;
  }

  protected override read(data: Json, { event: name }: EventSourceMessage, events: StreamEvent[]): void {
    if (name === "error" || data["type"] === "error") throw reportedError(data["error"] ?? data["message"]);
    // Of an event that breaks off, what comes before counts.
    for (const chunk of this.#chunksOf(data)) events.push(chunk);
  }

  /** Events of unknown kinds are passed over. @throws AttemptError for an event that is none. */
  *#chunksOf(event: Json): Generator<StreamEvent, void, undefined> {
    const { delta } = event;
    const { message, ...ending } = isJson(delta) ? delta : {};
    const { content, tool_plan: plan, tool_calls: listed, citations } = isJson(message) ? message : {};
    // Single things, by some upstreams in lists of one.
    const [call, block, citation] = [only(listed), only(content), only(citations)];
    switch (event["type"]) {
      case "message-start":
        this.#chunks.identify(event["id"]);
        return;
      case "content-start":
        this.#starts.set(indexOf(event), this.#length);
        yield* this.#content(indexOf(event), block);
        return;
      case "content-delta":
        yield* this.#content(indexOf(event), block);
        return;
      case "tool-plan-delta":
        yield* this.#thought("plan", plan);
        return;
      case "tool-call-start":
        yield* this.#start(indexOf(event), call);
        return;
      case "tool-call-delta":
        yield* this.#arguments(indexOf(event), call);
        return;
      case "tool-call-end":
        yield* this.#stop(indexOf(event), true);
        return;
      case "citation-start":
        yield* this.#cited(citation);
        return;
      case "message-end":
        yield* this.#end(ending);
        return;
      default: {
        const produced = isJson(message) ? producedText(message) : "";
        if (produced !== "") yield this.#chunks.counted(produced);
      }
    }
  }

  *#content(index: number, block: Json): Generator<StreamEvent> {
    const { text, thinking, ...unread } = block;
    yield* this.#thought(index, thinking);
    const produced = producedText(unread);
    if (produced !== "") yield this.#chunks.counted(produced);
    if (typeof text !== "string" || text === "") return;
    this.#length += text.length;
    yield this.#chunks.text(text);
  }

  *#thought(block: number | "plan", thought: unknown): Generator<StreamEvent> {
    if (typeof thought !== "string" || thought === "") return;
    const detail = this.#details.get(block) ?? this.#details.size;
    this.#details.set(block, detail);
    yield this.#chunks.reasoning(detail, thought);
  }

  *#start(index: number, { id, function: called }: Json): Generator<StreamEvent> {
    const { name, arguments: args } = isJson(called) ? called : {};
    if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
      throw malformed("a tool call without an id or a name");
    }
    const begun = this.#chunks.call(id, name);
    this.#calls.set(index, { index: begun.index, held: "", written: false });
    yield begun.event;
    yield* this.#write(index, args);
  }

  *#arguments(index: number, { function: called }: Json): Generator<StreamEvent> {
    yield* this.#write(index, isJson(called) ? called["arguments"] : undefined);
  }

  *#write(index: number, args: unknown): Generator<StreamEvent> {
    const call = this.#calls.get(index);
    if (call === undefined) throw malformed("arguments of no tool call");
    if (typeof args !== "string" || args === "") return;
    const held = call.held + args;
    // Until it is known to be more than the beginning of "null".
    call.held = call.written || !"null".startsWith(held.trim()) ? "" : held;
    if (call.held !== "") return;
    call.written = true;
    yield this.#chunks.callArguments(call.index, held);
  }

  /** @param whole whether the call is, and was not cut off. */
  *#stop(index: number, whole: boolean): Generator<StreamEvent> {
    const call = this.#calls.get(index);
    this.#calls.delete(index);
    if (call === undefined || call.written) return;
    // Clients parse what they have put together: no arguments is an object without any.
    const args = whole && isNone(call.held) ? "{}" : call.held;
    if (args !== "") yield this.#chunks.callArguments(call.index, args);
  }

  *#cited(citation: Json): Generator<StreamEvent> {
    const { content_index: block } = citation;
    const start = typeof block === "number" ? (this.#starts.get(block) ?? 0) : 0;
    const annotations = annotationsOf(citation, start);
    if (annotations.length > 0) yield this.#chunks.annotations(annotations);
  }

  *#end({ finish_reason: reason, usage: counted, error = null }: Json): Generator<StreamEvent> {
    if (typeof reason !== "string") throw malformed("an answer without a finish reason");
    const finish = finishOf("cohere", reason, { called: this.#chunks.called, error });
    // Of a call that was cut off by a limit the arguments stay as they are.
    const whole = finish.finish_reason === "tool_calls";
    for (const index of this.#calls.keys()) yield* this.#stop(index, whole);
    this.done = true;
    yield this.#chunks.finish(finish);
    const usage = usageOf(counted);
    if (usage !== null) yield this.#chunks.usage(usage);
  }
}

function only(value: unknown): Json {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isJson(first) ? first : {};
}

function indexOf({ index }: Json): number {
  if (index === undefined || index === null) return 0;
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0) throw malformed("a block without an index");
  return index;
}
