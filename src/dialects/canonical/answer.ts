import { AttemptError, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import type { StreamReader } from "../dialect.ts";
import { malformed, publicMessage, reportedError } from "./errors.ts";
import type { FinishReason } from "./message.ts";
import { writtenUsage } from "./usage.ts";

/** Writes the parts of one answer as canonical chunks: the role comes with the first, tool calls are numbered from 0. */
export class ChunkWriter {
  /** What every chunk begins with. */
  #head: Json = { object: "chat.completion.chunk" };
  #begun = false;
  #calls = 0;

  /** Whether a tool call was written. */
  get called(): boolean {
    return this.#calls > 0;
  }

  /** The answer's id, and what else all chunks say; for chunks yet to be written. */
  identify(id: unknown, more: Json = {}): void {
    this.#head = { ...(typeof id === "string" && id !== "" && { id }), ...this.#head, ...more };
  }

  text(content: string): StreamEvent {
    return this.delta({ content }, content);
  }

  /** @param index of the detail that the piece belongs to. */
  reasoning(index: number, text: string): StreamEvent {
    return this.delta({ reasoning_content: text, reasoning_details: [{ type: "reasoning.text", index, text }] }, text);
  }

  signature(index: number, signature: string): StreamEvent {
    return this.delta({ reasoning_details: [{ type: "reasoning.text", index, signature }] });
  }

  encrypted(index: number, data: string): StreamEvent {
    return this.delta({ reasoning_details: [{ type: "reasoning.encrypted", index, data }] });
  }

  /**
   * Begins a tool call; what is written of it belongs to the returned index.
   * @param more further fields of the delta.
   */
  call(id: string, name: string, more: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "function", function: { name, arguments: "" } }, name, more);
  }

  /** The same of a tool that takes free text, written by `callInput`. */
  customCall(id: string, name: string): { readonly index: number; readonly event: StreamEvent } {
    return this.#call({ id, type: "custom", custom: { name, input: "" } }, name);
  }

  callArguments(index: number, text: string): StreamEvent {
    return this.delta({ tool_calls: [{ index, function: { arguments: text } }] }, text);
  }

  callInput(index: number, text: string): StreamEvent {
    return this.delta({ tool_calls: [{ index, custom: { input: text } }] }, text);
  }

  /** A delta of any other kind. @param more further fields of its choice. */
  delta(delta: Json, text = "", more: Json = {}): StreamEvent {
    return this.#choice(delta, { finish_reason: null, ...more }, text);
  }

  /** Output that clients of the canonical form do not get: it is charged all the same. */
  counted(text: string): StreamEvent {
    return { data: { ...this.#head, choices: [] }, text };
  }

  annotations(annotations: readonly Json[]): StreamEvent {
    return this.delta({ annotations });
  }

  /** The last chunk of the choice. @param finish its `finish_reason` and what belongs to it. */
  finish(finish: object): StreamEvent {
    return this.#choice({}, finish);
  }

  usage(usage: Usage): StreamEvent {
    return { data: { ...this.#head, choices: [], usage: writtenUsage(usage) }, text: "", usage };
  }

  #call(call: Json, name: string, more: Json = {}): { readonly index: number; readonly event: StreamEvent } {
    const index = this.#calls;
    this.#calls += 1;
    return { index, event: this.delta({ tool_calls: [{ index, ...call }], ...more }, name) };
  }

  #choice(delta: Json, finish: object, text = ""): StreamEvent {
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    return { data: { ...this.#head, choices: [{ index: 0, delta: { ...role, ...delta }, ...finish }] }, text };
  }
}

/** Reads a stream by another reader and rewrites its chunks. */
export abstract class RewritingReader implements StreamReader {
  readonly #inner: StreamReader;

  constructor(inner: StreamReader) {
    this.#inner = inner;
  }

  get fault(): AttemptError | null {
    return this.#inner.fault;
  }

  get done(): boolean {
    return this.#inner.done;
  }

  get complete(): boolean {
    return this.#inner.complete;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    return this.#rewritten(this.#inner.feed(chunk));
  }

  finish(): readonly StreamEvent[] {
    return this.#rewritten(this.#inner.finish());
  }

  /** null for a chunk of which nothing is left yet. */
  protected abstract rewrite(event: StreamEvent): StreamEvent | null;

  #rewritten(events: readonly StreamEvent[]): readonly StreamEvent[] {
    return events.flatMap((event) => this.rewrite(event) ?? []);
  }
}

/** Why an answer ended, as a choice says it. */
export interface Finish {
  /** `function_call` is OpenAI's own for the former `functions`. */
  readonly finish_reason: FinishReason | "function_call";
  /** The provider's own word, where it is another one. */
  readonly native_finish_reason?: string;
  readonly stop_sequence?: string;
}

/**
 * What a provider's word means: a canonical reason, or that there is no answer. `broken`: given up at the provider.
 * `unreadable`: what the model wrote is none, another try may come out well. `timeout`: it took too long there.
 */
type Meaning = Finish["finish_reason"] | "broken" | "unreadable" | "timeout";

interface Vocabulary {
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** Of every other word. */
  readonly others: FinishReason;
}

type FinishDialect = "openai" | "anthropic" | "bedrock" | "cohere" | "gemini";

const VOCABULARIES: Readonly<Record<FinishDialect, Vocabulary>> = {
  // Behind OpenAI's own words those of servers that are compatible with it: Mistral, OpenRouter, DeepSeek, Z.ai.
  openai: vocabulary("stop", {
    stop: ["stop"],
    length: ["length", "model_length", "max_tokens", "MAX_TOKENS"],
    tool_calls: ["tool_calls", "tool_use", "tool_call"],
    content_filter: ["content_filter", "safety", "SAFETY", "sensitive"],
    function_call: ["function_call"],
    broken: ["error", "insufficient_system_resource", "network_error"],
  }),
  // @anthropic-ai/sdk resources/beta/messages/messages.d.ts, BetaStopReason
  anthropic: vocabulary("stop", {
    stop: ["end_turn", "stop_sequence", "pause_turn", "compaction"],
    tool_calls: ["tool_use"],
    length: ["max_tokens", "model_context_window_exceeded"],
    content_filter: ["refusal"],
  }),
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, stopReason
  bedrock: vocabulary("stop", {
    stop: ["end_turn", "stop_sequence"],
    tool_calls: ["tool_use"],
    length: ["max_tokens", "model_context_window_exceeded"],
    content_filter: ["content_filtered", "guardrail_intervened"],
    unreadable: ["malformed_model_output", "malformed_tool_use"],
  }),
  // https://docs.cohere.com/reference/chat, finish_reason; the last two are of version 1
  cohere: vocabulary("stop", {
    stop: ["COMPLETE", "STOP_SEQUENCE"],
    tool_calls: ["TOOL_CALL"],
    length: ["MAX_TOKENS", "ERROR_LIMIT"],
    content_filter: ["ERROR_TOXIC"],
    timeout: ["TIMEOUT"],
    broken: ["ERROR"],
  }),
  // https://ai.google.dev/api/generate-content#FinishReason; whatever is no plain end has withheld something
  gemini: vocabulary("content_filter", {
    stop: ["STOP"],
    length: ["MAX_TOKENS"],
    unreadable: [
      "MALFORMED_FUNCTION_CALL",
      "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS",
      "MALFORMED_RESPONSE",
      "MISSING_THOUGHT_SIGNATURE",
    ],
  }),
};

function vocabulary(others: FinishReason, meanings: Readonly<Partial<Record<Meaning, readonly string[]>>>): Vocabulary {
  const pairs = Object.entries(meanings).flatMap(([meaning, all]) =>
    all.map((word) => [word, meaning as Meaning] as const),
  );
  return { meanings: new Map(pairs), others };
}

/** What an answer brought, beside its provider's word for its end. */
interface Ended {
  /** It holds tool calls that are the client's to answer: some providers then say no more than that it ended. */
  readonly called: boolean;
  /** The stop sequence that ended it. */
  readonly sequence?: unknown;
  /** The provider's words for what went wrong. */
  readonly error?: unknown;
}

/** @throws AttemptError for an answer that the provider could not bring to its end. */
export function finishOf(dialect: FinishDialect, word: string, { called, sequence, error }: Ended): Finish {
  const meaning = meaningOf(dialect, word);
  if (meaning === "broken" || meaning === "unreadable" || meaning === "timeout") throw failure(meaning, word, error);
  return {
    finish_reason: called && meaning === "stop" ? "tool_calls" : meaning,
    ...(meaning !== word && { native_finish_reason: word }),
    ...(typeof sequence === "string" && { stop_sequence: sequence }),
  };
}

/** Whether the word says that what the model wrote cannot be used: no more of it is waited for. */
export function unreadableFinish(dialect: FinishDialect, word: unknown): AttemptError | null {
  const failed = typeof word === "string" && meaningOf(dialect, word) === "unreadable";
  return failed ? failure("unreadable", word, undefined) : null;
}

function meaningOf(dialect: FinishDialect, word: string): Meaning {
  const { meanings, others } = VOCABULARIES[dialect];
  return meanings.get(word) ?? others;
}

function failure(meaning: "broken" | "unreadable" | "timeout", word: string, error: unknown): AttemptError {
  if (meaning === "unreadable") return malformed(`an answer that it calls broken (${publicMessage(word)})`);
  if (meaning === "timeout") return new AttemptError("timeout", "upstream gave its answer up");
  if (error !== undefined) return reportedError(error);
  return new AttemptError("status", `upstream broke its answer off: ${publicMessage(word)}`);
}

/** Whether a word stands for itself in a choice as it is: nothing needs to be rewritten. */
export function isCanonicalFinish(word: unknown, called: boolean): boolean {
  return typeof word === "string" && VOCABULARIES.openai.meanings.get(word) === word && !(called && word === "stop");
}
