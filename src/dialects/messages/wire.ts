import { isJson, type Json } from "../../kit/index.ts";
import { annotationOf } from "../canonical/annotations.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf, type Finish } from "../canonical/finish.ts";
import { objects } from "../canonical/json.ts";

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

/** How the answer ended; `native_finish_reason` is null where it was not told. */
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
