import { AttemptError } from "../../kit/index.ts";
import { publicMessage } from "../json.ts";

/** Why an answer ended, as a choice says it. */
export interface Finish {
  readonly finish_reason: string;
  /** The provider's own word, where it is another one. */
  readonly native_finish_reason?: string;
}

/** `function_call` is OpenAI's own for the former `functions`. */
const CANONICAL: ReadonlySet<unknown> = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);
/** Words of OpenAI-compatible upstreams; others stand for a stop. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["model_length", "length"],
  ["max_tokens", "length"],
  ["MAX_TOKENS", "length"],
  ["tool_use", "tool_calls"],
  ["tool_call", "tool_calls"],
  ["safety", "content_filter"],
  ["SAFETY", "content_filter"],
  ["sensitive", "content_filter"],
]);
/** An answer that broke off at the provider: Mistral and OpenRouter; DeepSeek. */
const BROKEN: ReadonlySet<string> = new Set(["error", "insufficient_system_resource", "network_error"]);

/** Whether a finish reason stands as it is, beside tool calls or without. */
export function isCanonical(word: unknown, called: boolean): boolean {
  return CANONICAL.has(word) && !(called && word === "stop");
}

/**
 * The canonical reason; null for one that says nothing yet.
 * @param called whether the answer has tool calls: some upstreams then say `stop`.
 * @throws AttemptError for an answer that the upstream could not bring to its end.
 */
export function finishOf(word: unknown, called: boolean): Finish | null {
  if (typeof word !== "string" || word === "") return null;
  if (BROKEN.has(word)) throw new AttemptError("status", `upstream broke its answer off: ${publicMessage(word)}`);
  const known = CANONICAL.has(word) ? word : (WORDS.get(word) ?? "stop");
  const finish_reason = called && known === "stop" ? "tool_calls" : known;
  return known === word ? { finish_reason } : { finish_reason, native_finish_reason: word };
}
