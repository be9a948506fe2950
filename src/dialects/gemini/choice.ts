import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../errors.ts";
import { finishOf, unreadableFinish } from "../finish.ts";
import { withSignature } from "../tool-ids.ts";
import type { CallIds } from "./call-ids.ts";
import { annotationsOf } from "./citations.ts";
import { logprobsOf } from "./logprobs.ts";
import { PartReader, type Piece } from "./pieces.ts";
import { markSignature } from "./signatures.ts";

/** One candidate's way into OpenAI's deltas, which a stream sends and a complete answer puts together. */
export class Choice {
  readonly index: number;
  readonly #ids: CallIds;
  readonly #reader = new PartReader();
  #begun = false;
  #content = "";
  #calls = 0;
  /** Which detail of reasoning is being written, and whether it has begun. */
  #detail = 0;
  #thinking = false;
  #ended: string | null = null;
  /** What tells of sources; repeated, the last is the whole. */
  #sources: Json = {};

  constructor(index: number, ids: CallIds) {
    this.index = index;
    this.#ids = ids;
  }

  /** Whether a finish reason was seen. */
  get ended(): boolean {
    return this.#ended !== null;
  }

  /** The deltas of one candidate, or of one chunk's part of it. @throws AttemptError for what is none. */
  add(candidate: Json): readonly Json[] {
    const reason = candidate["finishReason"];
    const unreadable = unreadableFinish("gemini", reason);
    if (unreadable !== null) throw unreadable;
    const deltas = this.#reader.read(candidate["content"]).map((piece) => this.#delta(piece));
    if (isEnd(reason)) this.#ended = reason;
    for (const key of ["groundingMetadata", "citationMetadata"]) {
      if (isJson(candidate[key])) this.#sources = { ...this.#sources, [key]: candidate[key] };
    }
    const content = logprobsOf(candidate);
    if (content === null || content.length === 0) return deltas.map((delta) => this.#choice(delta));
    const [first = {}, ...rest] = deltas;
    return [{ ...this.#choice(first), logprobs: { content } }, ...rest.map((delta) => this.#choice(delta))];
  }

  /** The last deltas, for a candidate that has ended. @throws AttemptError when a function call has not. */
  finish(): readonly Json[] {
    if (this.#reader.open) throw malformed("a function call without an end");
    const annotations = annotationsOf(this.#sources, this.#content);
    const reason = this.#ended ?? "STOP";
    const last = {
      ...this.#choice({}),
      ...finishOf("gemini", reason, { called: this.#calls > 0 }),
    };
    const before = annotations.length > 0 ? [this.#choice({ annotations })] : [];
    return this.#begun ? [...before, last] : [this.#choice({ content: "" }), ...before, last];
  }

  /** A prompt that was refused ends like an answer that was. */
  block(reason: string): void {
    this.#ended = reason;
  }

  #choice(delta: Json): Json {
    // Empty ones bring an end or counts: they must not be the first.
    const opening = !this.#begun && Object.keys(delta).length > 0;
    if (opening) this.#begun = true;
    return { index: this.index, delta: opening ? { role: "assistant", ...delta } : delta, finish_reason: null };
  }

  #delta(piece: Piece): Json {
    switch (piece.type) {
      case "text":
        this.#content += piece.text;
        this.#close();
        return { content: piece.text };
      case "thought":
        this.#thinking = true;
        return {
          reasoning_content: piece.text,
          reasoning_details: [{ type: "reasoning.text", index: this.#detail, text: piece.text }],
        };
      case "signature":
        return { reasoning_details: [this.#signature(piece.bearer, piece.signature)] };
      case "call":
        this.#close();
        return { tool_calls: [this.#call(piece)] };
      case "image":
        this.#close();
        return { images: [{ type: "image_url", image_url: { url: piece.url } }] };
    }
  }

  #signature(bearer: "thought" | "text" | "empty", signature: string): Json {
    const marked = markSignature(bearer, signature);
    if (bearer !== "thought") this.#close();
    const index = this.#detail;
    this.#detail += 1;
    this.#thinking = false;
    if (bearer === "thought") return { type: "reasoning.text", index, signature: marked };
    return { type: "reasoning.encrypted", index, data: marked };
  }

  #close(): void {
    if (this.#thinking) this.#detail += 1;
    this.#thinking = false;
  }

  #call({ id, name, args, signature }: Extract<Piece, { type: "call" }>): Json {
    const index = this.#calls;
    this.#calls += 1;
    return {
      index,
      id: withSignature(this.#ids.next(id), signature),
      type: "function",
      function: { name, arguments: args },
      ...(signature !== null && { extra_content: { google: { thought_signature: signature } } }),
    };
  }
}

/** Whether a candidate's `finishReason` says that it has ended. */
function isEnd(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED";
}
