import { isJson, type Json } from "../../kit/index.ts";
import { finishOf, isCanonicalFinish } from "../canonical/finish.ts";
import { CallDeltas } from "./call-deltas.ts";
import { producedText } from "../canonical/chunks.ts";
import { withText } from "./said.ts";
import { isText } from "../canonical/json.ts";

/** Puts the pieces of one streamed choice into the canonical form. */
export class ChoiceReader {
  readonly #index: number;
  readonly #calls: CallDeltas;
  #begun = false;
  /** Its finish reason was seen. */
  finished = false;
  /** What the last piece produced. */
  text = "";

  /** @param seed names the answer. */
  constructor(index: number, seed: string) {
    this.#index = index;
    this.#calls = new CallDeltas(`${seed}/${index}`);
  }

  /**
   * @returns the very same object when it is canonical already; null for one that says nothing after its finish.
   * @throws AttemptError for an answer that broke off.
   */
  read(choice: Json): Json | null {
    return this.#isCanonical(choice) ? choice : this.#rewritten(choice);
  }

  /** The finish of a choice that the upstream ended without one. */
  end(): Json {
    this.finished = true;
    return { index: this.#index, delta: {}, finish_reason: this.#calls.any ? "tool_calls" : "stop" };
  }

  #isCanonical({ index, delta, finish_reason: finish }: Json): boolean {
    if (index !== this.#index || !isJson(delta)) return false;
    const first = !this.#begun;
    if (first && delta["role"] !== "assistant") return false;
    if (finish !== null && (this.finished || delta["tool_calls"] !== undefined)) return false;
    if (finish !== null && !isCanonicalFinish(finish, this.#calls.any)) return false;
    let calls: unknown;
    let text = "";
    for (const name in delta) {
      const value = delta[name];
      if (name === "content" || name === "refusal") {
        // OpenAI's own first delta says null; elsewhere some clients take it for the end of a text.
        if (typeof value === "string") text += value;
        else if (!first || value !== null) return false;
      } else if (name === "reasoning_content") {
        if (typeof value !== "string") return false;
        text += value;
      } else if (name === "tool_calls") calls = value;
      else if (value === null || name === "reasoning" || (name === "role" && value !== "assistant")) return false;
    }
    // Last, because it counts the calls.
    if (calls !== undefined && !this.#calls.accept(calls)) return false;
    this.text = calls === undefined ? text : producedText(delta);
    this.#begun = true;
    this.finished ||= finish !== null;
    return true;
  }

  #rewritten({ message, ...choice }: Json): Json | null {
    const part = isJson(choice["delta"]) ? choice["delta"] : isJson(message) ? message : {};
    const { role: _role, tool_calls, ...said } = withText(part);
    const fields = Object.entries(said).filter(([, value]) => value !== null);
    const calls = this.#calls.read(tool_calls);
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    const delta = { ...role, ...Object.fromEntries(fields), ...(calls.length > 0 && { tool_calls: calls }) };
    this.text = producedText(delta);
    if (this.finished && calls.length === 0 && fields.every(([, value]) => value === "")) return null;
    const { finish_reason: word } = choice;
    const ends = !this.finished && isText(word);
    const finish = ends ? finishOf("openai", word, { called: this.#calls.any }) : null;
    this.finished ||= finish !== null;
    return { ...choice, index: this.#index, delta, ...(finish ?? { finish_reason: null }) };
  }
}
