import { GatewayError, type Json } from "../../../kit/index.ts";

/** The most text that may wait for an open tool call to end, in characters. */
const MAX_HELD = 4 * 1024 * 1024;

export type LaneKind = "text" | "thinking" | "tool" | "native";

/** One content block on its way to the client. */
export interface Lane {
  readonly kind: LaneKind;
  /** Which of its kind: the index of a tool call, a reasoning detail or a native block. */
  readonly key: unknown;
  readonly block: Json;
  /** Nothing more comes for it. */
  sealed: boolean;
  readonly input: JsonEnd | null;
  written: boolean;
  readonly held: Json[];
}

export function frame(type: string, fields: Json = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/**
 * Writes content blocks one after the other. The first lane is open; what arrives for others while a tool call is open
 * and its arguments are not whole waits, because blocks must not overlap.
 */
export class BlockSequence {
  #lanes: Lane[] = [];
  #index = 0;
  #held = 0;

  /** The block that was begun last, unless it has been closed. */
  get last(): Lane | undefined {
    return this.#lanes.at(-1);
  }

  find(kind: LaneKind, key: unknown): Lane | undefined {
    return this.#lanes.find((lane) => lane.kind === kind && lane.key === key && !lane.sealed);
  }

  begin(kind: LaneKind, key: unknown, block: Json): { readonly lane: Lane; readonly text: string } {
    const input = kind === "tool" ? new JsonEnd() : null;
    const lane = { kind, key, block, sealed: false, input, written: false, held: [] };
    this.#lanes.push(lane);
    return { lane, text: this.#lanes.length === 1 ? this.#start(lane) : this.#advance() };
  }

  delta(lane: Lane, delta: Json): string {
    if (typeof delta["partial_json"] === "string") lane.input?.feed(delta["partial_json"]);
    if (lane !== this.#lanes[0]) {
      this.#hold(lane, delta);
      return "";
    }
    return this.#write(lane, delta) + this.#advance();
  }

  /** Closes what waits as well: no more will come. */
  end(): string {
    let text = "";
    while (this.#lanes.length > 0) text += this.#close();
    return text;
  }

  /** Closes the open block and forgets what waits. */
  cut(): string {
    this.#lanes.splice(1);
    return this.end();
  }

  #hold(lane: Lane, delta: Json): void {
    this.#held += JSON.stringify(delta).length;
    if (this.#held > MAX_HELD) throw new GatewayError("PROVIDER_ERROR", "upstream mixed too much between tool calls");
    lane.held.push(delta);
  }

  /** Closes the open block while others wait and it needs nothing more. */
  #advance(): string {
    let text = "";
    while (this.#lanes.length > 1 && isWhole(this.#lanes[0]!)) text += this.#close();
    return text;
  }

  #close(): string {
    const [lane, next] = this.#lanes;
    if (lane === undefined) return "";
    let text = "";
    if (lane.kind === "tool" && !lane.written)
      text += this.#write(lane, { type: "input_json_delta", partial_json: "" });
    text += frame("content_block_stop", { index: this.#index });
    this.#index += 1;
    this.#lanes.shift();
    return next === undefined ? text : text + this.#start(next);
  }

  #start(lane: Lane): string {
    let text = frame("content_block_start", { index: this.#index, content_block: lane.block });
    for (const delta of lane.held.splice(0)) text += this.#write(lane, delta);
    if (this.#lanes.length === 1) this.#held = 0;
    return text;
  }

  #write(lane: Lane, delta: Json): string {
    lane.written = true;
    return frame("content_block_delta", { index: this.#index, delta });
  }
}

function isWhole({ kind, sealed, input }: Lane): boolean {
  return kind !== "tool" || sealed || input?.reached === true;
}

/** Tells when the pieces of a JSON object have come to its end, without keeping them. */
class JsonEnd {
  reached = false;
  #depth = 0;
  #quoted = false;
  #escaped = false;

  feed(piece: string): void {
    for (let at = 0; at < piece.length && !this.reached; at++) this.#next(piece[at]!);
  }

  #next(character: string): void {
    if (this.#quoted) {
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#quoted = false;
    } else if (character === '"') this.#quoted = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if ((character === "}" || character === "]") && --this.#depth <= 0) this.reached = true;
  }
}
