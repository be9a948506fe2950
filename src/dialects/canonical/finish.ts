import { AttemptError } from "../../kit/index.ts";
import { malformed, publicMessage, reportedError } from "./errors.ts";
import type { FinishReason } from "./message.ts";

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
  readonly words: ReadonlyMap<string, Meaning>;
  /** Of every other word. */
  readonly others: FinishReason;
}

export type FinishDialect = "openai" | "anthropic" | "bedrock" | "cohere" | "gemini";

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

function vocabulary(others: FinishReason, words: Readonly<Partial<Record<Meaning, readonly string[]>>>): Vocabulary {
  const pairs = Object.entries(words).flatMap(([meaning, all]) =>
    all.map((word) => [word, meaning as Meaning] as const),
  );
  return { words: new Map(pairs), others };
}

/** What an answer brought, beside its provider's word for its end. */
export interface Ended {
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
  const { words, others } = VOCABULARIES[dialect];
  return words.get(word) ?? others;
}

function failure(meaning: "broken" | "unreadable" | "timeout", word: string, error: unknown): AttemptError {
  if (meaning === "unreadable") return malformed(`an answer that it calls broken (${publicMessage(word)})`);
  if (meaning === "timeout") return new AttemptError("timeout", "upstream gave its answer up");
  if (error !== undefined) return reportedError(error);
  return new AttemptError("status", `upstream broke its answer off: ${publicMessage(word)}`);
}

/** Whether a word stands for itself in a choice as it is: nothing needs to be rewritten. */
export function isCanonicalFinish(word: unknown, called: boolean): boolean {
  return typeof word === "string" && VOCABULARIES.openai.words.get(word) === word && !(called && word === "stop");
}
