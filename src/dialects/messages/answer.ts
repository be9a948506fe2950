import { type Call, isJson, type Json, type Usage } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { type Finish, finishOf } from "../canonical/answer.ts";
import { append, extraFields, objects } from "../canonical/json.ts";
import { annotationOf, type BlockPlace, isUsual } from "../canonical/message.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { writtenInput } from "../canonical/tools.ts";
import { cacheWrites, tokenCount, writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";
import { MESSAGE_FIELDS, nativeMessage, nativePart, ofMessages, withNative } from "./native.ts";

/** A complete answer in the canonical shape. @throws AttemptError "protocol" for what is no message. */
export function answer(bytes: Uint8Array, call: Call): Decoded {
  const message = parseAnswer(bytes);
  const { id, model, content } = message;
  if (!Array.isArray(content)) throw malformed("an answer without content");
  const sameFormat = ofMessages(call);
  const read = new Answer(sameFormat);
  for (const block of content) read.add(block);
  const usage = usageOf(restated({}, message["usage"]));
  const body = {
    id,
    object: "chat.completion",
    model,
    choices: [
      {
        index: 0,
        // A Messages client gets the provider's own field.
        message: read.message(sameFormat ? null : explanationOf(message)),
        ...stopOf(message, read.ledger),
      },
    ],
    ...(usage ? { usage: writtenUsage(usage) } : {}),
    ...(sameFormat ? nativeMessage(extraFields(message, MESSAGE_FIELDS)) : {}),
  };
  return { body, usage };
}

/** The blocks of one answer, sorted into the lists of a canonical message. */
class Answer {
  readonly ledger = new CallLedger();
  readonly #calls: Json[] = [];
  readonly #sameFormat: boolean;
  readonly #parts: Json[] = [];
  readonly #details: Json[] = [];
  readonly #annotations: Json[] = [];
  readonly #order: BlockPlace[] = [];
  #text = "";
  #thought = "";

  /** @param sameFormat for a client that speaks the dialect: what has no canonical place is kept too. */
  constructor(sameFormat: boolean) {
    this.#sameFormat = sameFormat;
  }

  add(block: unknown): void {
    if (!isJson(block) || typeof block["type"] !== "string") throw malformed("a content block that is none");
    this.ledger.note(block);
    switch (block["type"]) {
      case "text":
        return this.#addText(block);
      case "thinking":
        return this.#addThinking(block);
      case "redacted_thinking":
        return this.#detail(
          { type: "reasoning.encrypted", data: textField(block, "data") },
          block,
          CANONICAL.redacted_thinking,
        );
      case "tool_use":
        this.#order.push("tool_call");
        this.#calls.push({ ...this.#nativeOf(block, CANONICAL.tool_use), ...toolCall(block) });
        return;
      default:
        this.#order.push("content");
        this.#parts.push(nativePart(block));
    }
  }

  message(refusal: string | null): Json {
    const order = this.#sameFormat && !isUsual(this.#order) ? { block_order: this.#order } : {};
    return {
      role: "assistant",
      content: this.#content(),
      ...(this.#thought === "" ? {} : { reasoning_content: this.#thought }),
      ...(this.#details.length > 0 ? { reasoning_details: this.#details } : {}),
      ...(this.#calls.length > 0 ? { tool_calls: this.#calls } : {}),
      ...(this.#annotations.length > 0 ? { annotations: this.#annotations } : {}),
      ...(refusal === null ? {} : { refusal }),
      ...order,
    };
  }

  #content(): string | readonly Json[] | null {
    const plain = this.#parts.every((part) => Object.keys(part).length === 2);
    // Several texts are several blocks to who speaks the dialect, one text to everybody else.
    if (this.#sameFormat && !(plain && this.#parts.length <= 1)) return this.#parts;
    return this.#text === "" && this.#calls.length > 0 ? null : this.#text;
  }

  #addText(block: Json): void {
    const text = textField(block, "text");
    const start = this.#text.length;
    this.#text += text;
    this.#order.push("content");
    this.#parts.push({ ...this.#nativeOf(block, CANONICAL.text), type: "text", text });
    if (!this.#sameFormat) append(this.#annotations, annotationsOf(block["citations"], start, this.#text.length));
  }

  #addThinking(block: Json): void {
    const text = textField(block, "thinking");
    const { signature } = block;
    if (signature !== undefined && typeof signature !== "string") throw malformed("a signature that is no text");
    this.#thought += text;
    this.#detail({ type: "reasoning.text", text, ...(signature ? { signature } : {}) }, block, CANONICAL.thinking);
  }

  #detail(detail: Json, block: Json, known: ReadonlySet<string>): void {
    this.#order.push("reasoning");
    this.#details.push({ ...this.#nativeOf(block, known), ...detail });
  }

  #nativeOf(block: Json, known: ReadonlySet<string>): Json {
    return this.#sameFormat ? withNative(extraFields(block, known)) : {};
  }
}

function toolCall(block: Json): Json {
  return {
    id: toolId(block),
    type: "function",
    function: { name: textField(block, "name"), arguments: writtenInput(block["input"]) },
  };
}

/** The fields of a content block that have a canonical place, by its type. */
export const CANONICAL = {
  text: new Set(["type", "text"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input"]),
} satisfies Readonly<Record<string, ReadonlySet<string>>>;

/** A text field. @throws AttemptError when it is none. */
export function textField(block: Json, name: string): string {
  const value = block[name];
  if (typeof value !== "string") throw malformed(`a ${name} that is no text`);
  return value;
}

/** The id of a tool_use block: results are told apart by it. */
export function toolId(block: Json): string {
  const id = textField(block, "id");
  if (id === "") throw malformed("a tool call without an id");
  return id;
}

/**
 * The citations of one text block as annotations of the answer's text, in which the block stands from `start` to `end`
 * (UTF-16 units).
 */
export function annotationsOf(citations: unknown, start: number, end: number): readonly Json[] {
  return objects(citations).map((citation) => {
    const { type: location, title, cited_text: quote, document_title, document_index: index, file_id } = citation;
    const file = { filename: document_title ?? title, file_id, index, quote, location };
    return annotationOf(citation, file, { start_index: start, end_index: end });
  });
}

/**
 * The tool calls of an answer, and which of them it answers itself: a server tool that called them has its result in the
 * same answer (programmatic tool calling), or they have one of their own.
 */
export class CallLedger {
  readonly #made: { readonly id: unknown; readonly caller: unknown }[] = [];
  readonly #answered = new Set<unknown>();

  /** Notes a content block of any type. */
  note({ type, id, caller, tool_use_id: answered }: Json): void {
    if (type === "tool_use") this.#made.push({ id, caller: isJson(caller) ? caller["tool_id"] : undefined });
    else if (typeof answered === "string") this.#answered.add(answered);
  }

  /** Whether a call is left for the client to answer. */
  get open(): boolean {
    return this.#made.some(({ id, caller }) => !this.#answered.has(id) && !this.#answered.has(caller));
  }
}

/** How the answer ended; `native_finish_reason` is null where there was none. */
export function stopOf({ stop_reason: word, stop_sequence: sequence }: Json, calls: CallLedger): Finish | NoStop {
  // A paused turn goes on at the provider, whatever it has called.
  if (typeof word === "string")
    return finishOf("anthropic", word, { called: word !== "pause_turn" && calls.open, sequence });
  const stopped = typeof sequence === "string" ? { stop_sequence: sequence } : {};
  return { finish_reason: calls.open ? "tool_calls" : "stop", native_finish_reason: null, ...stopped };
}

interface NoStop extends Omit<Finish, "native_finish_reason"> {
  readonly native_finish_reason: null;
}

/** Why the model would not go on. */
export function explanationOf({ stop_details: details }: Json): string | null {
  const explanation = isJson(details) ? details["explanation"] : null;
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}

/** Counts are cumulative and may be restated: the last word on each counts. */
export function restated(usage: Json, more: unknown): Json {
  const counts = isJson(more) ? Object.entries(more).filter(([, value]) => value !== null) : [];
  return { ...usage, ...Object.fromEntries(counts) };
}

/**
 * The answer's own iterations, whose tokens are in the top level. Any other is beside it: the requests that a server-side
 * compaction and an advisor make, and whatever else a server may come to do. Source: @anthropic-ai/sdk
 * resources/beta/messages/messages.d.ts (`BetaUsage.iterations`),
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool.
 */
const IN_TOP_LEVEL: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);

/**
 * Everything the provider bills for: `server_tool_use` counts requests, whose tokens stand at the top level.
 * @returns null when a count is missing or not to be believed.
 */
export function usageOf(usage: Json): Usage | null {
  const top = countsOf(usage);
  if (top === null) return null;
  const iterations = objects(usage["iterations"]);
  const [own, others] = [true, false].map((isOwn) =>
    iterations
      .filter(({ type }) => IN_TOP_LEVEL.has(type) === isOwn)
      .map(countsOf)
      .filter((counts) => counts !== null)
      .reduce(added, NOTHING),
  ) as [Usage, Usage];
  // A top level that leaves out one of the answer's own would be billed all the same.
  const whole = own.prompt + own.completion > top.prompt + top.completion ? own : top;
  return added(whole, others);
}

const NOTHING: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

function added(a: Usage, b: Usage): Usage {
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
    ...cacheWrites((a.cacheWrite ?? 0) + (b.cacheWrite ?? 0), (a.cacheWrite1h ?? 0) + (b.cacheWrite1h ?? 0)),
  };
}

function countsOf(usage: Json): Usage | null {
  const [input, output] = [tokenCount(usage["input_tokens"]), tokenCount(usage["output_tokens"])];
  const [cached, cacheWrite] = [
    tokenCount(usage["cache_read_input_tokens"] ?? 0),
    tokenCount(usage["cache_creation_input_tokens"] ?? 0),
  ];
  if (input === null || output === null || cached === null || cacheWrite === null) return null;
  const { cache_creation: created, output_tokens_details: details } = usage;
  const reasoning = isJson(details) ? (tokenCount(details["thinking_tokens"]) ?? 0) : 0;
  return {
    prompt: input + cached + cacheWrite,
    completion: output,
    cached,
    reasoning: Math.min(reasoning, output),
    ...cacheWrites(cacheWrite, isJson(created) ? created["ephemeral_1h_input_tokens"] : 0),
  };
}
