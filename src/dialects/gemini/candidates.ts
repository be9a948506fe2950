import { type Call, isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../errors.ts";
import { sha256 } from "../tool-ids.ts";
import { CallIds } from "./call-ids.ts";
import { Choice } from "./choice.ts";

/** More than Gemini gives: what is above it is a defect. */
const MAX_CHOICES = 128;
const RESPONSE_ID = /^[\w-]{1,128}$/;

/** The candidates of one answer, in one body or over many chunks. */
export class Candidates {
  readonly #model: string;
  /** Without an id from the upstream the conversation's length keeps the calls of its turns apart. */
  readonly #turn: string;
  readonly #choices = new Map<number, Choice>();
  #head: Json | null = null;
  #ids: CallIds | null = null;

  constructor(call: Call) {
    const { messages } = call.body;
    this.#model = call.model;
    this.#turn = `${Array.isArray(messages) ? messages.length : 0}/${call.promptBytes}`;
  }

  /** What every chunk and a complete answer begin with. Gemini's API tells no time; Vertex does. */
  get head(): Json {
    return this.#head ?? {};
  }

  /** Every choice that was begun has ended, and there is one. */
  get ended(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ ended }) => ended);
  }

  /** The choices of the deltas in one body. @throws AttemptError for a body that is none. */
  add(body: Json): readonly Json[] {
    this.#begin(body);
    const { candidates, promptFeedback: feedback } = body;
    if (candidates !== undefined && candidates !== null && !Array.isArray(candidates)) {
      throw malformed("candidates that are no list");
    }
    const deltas = (candidates ?? []).flatMap((candidate: unknown): readonly Json[] => {
      if (!isJson(candidate)) throw malformed("a candidate that is no object");
      return this.#choice(candidate["index"] ?? 0).add(candidate);
    });
    const blocked = isJson(feedback) ? feedback["blockReason"] : null;
    if (typeof blocked === "string" && this.#choices.size === 0) this.#choice(0).block(blocked);
    return deltas;
  }

  /** The last deltas. @throws AttemptError when something was begun and not ended. */
  finish(): readonly Json[] {
    return [...this.#choices.values()].toSorted((a, b) => a.index - b.index).flatMap((choice) => choice.finish());
  }

  #begin(body: Json): void {
    if (this.#head !== null) return;
    const { responseId, modelVersion, createTime } = body;
    const seed =
      typeof responseId === "string" && RESPONSE_ID.test(responseId) ? responseId : sha256(this.#turn).slice(0, 24);
    const created = typeof createTime === "string" ? Math.floor(Date.parse(createTime) / 1000) : Number.NaN;
    this.#ids = new CallIds(seed);
    this.#head = {
      id: `chatcmpl-${seed}`,
      ...(Number.isSafeInteger(created) && { created }),
      model: typeof modelVersion === "string" ? modelVersion : this.#model,
    };
  }

  #choice(index: unknown): Choice {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= MAX_CHOICES) {
      throw malformed("a candidate out of range");
    }
    const known = this.#choices.get(index);
    if (known) return known;
    const choice = new Choice(index, (this.#ids ??= new CallIds("")));
    this.#choices.set(index, choice);
    return choice;
  }
}
