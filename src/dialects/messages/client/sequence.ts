import { GatewayError, type Json } from "../../../kit/index.ts";

/** The most text that may wait for an open tool call to end, in characters. */
const MAX_HELD = 4 * 1024 * 1024;

export type BlockKind = "text" | "thinking" | "tool" | "native";

/** One content block on its way to the client. */
export interface OpenBlock {
  readonly kind: BlockKind;
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
 * Writes content blocks one after the other. The first is open; what arrives for others while a tool call is open
 * and its arguments are not whole waits, because blocks must not overlap.
 */
export class BlockSequence {
  #open: OpenBlock[] = [];
  #index = 0;
  #held = 0;

  /** The block that was begun last, unless it has been closed. */
  get last(): OpenBlock | undefined {
    return this.#open.at(-1);
  }

  find(kind: BlockKind, key: unknown): OpenBlock | undefined {
    return this.#open.find((opened) => opened.kind === kind && opened.key === key && !opened.sealed);
  }

  begin(kind: BlockKind, key: unknown, block: Json): { readonly opened: OpenBlock; readonly text: string } {
    const input = kind === "tool" ? new JsonEnd() : null;
    const opened = { kind, key, block, sealed: false, input, written: false, held: [] };
    this.#open.push(opened);
    return { opened, text: this.#open.length === 1 ? this.#start(opened) : this.#advance() };
  }

  delta(opened: OpenBlock, delta: Json): string {
    if (typeof delta["partial_json"] === "string") opened.input?.feed(delta["partial_json"]);
    if (opened !== this.#open[0]) {
      this.#hold(opened, delta);
      return "";
    }
    return this.#write(opened, delta) + this.#advance();
  }

  /** Closes what waits as well: no more will come. */
  end(): string {
    let text = "";
    while (this.#open.length > 0) text += this.#close();
    return text;
  }

  /** Closes the open block and forgets what waits. */
  cut(): string {
    this.#open.splice(1);
    return this.end();
  }

  #hold(opened: OpenBlock, delta: Json): void {
    this.#held += JSON.stringify(delta).length;
    if (this.#held > MAX_HELD) throw new GatewayError("PROVIDER_ERROR", "upstream mixed too much between tool calls");
    opened.held.push(delta);
  }

  /** Closes the open block while others wait and it needs nothing more. */
  #advance(): string {
    let text = "";
    while (this.#open.length > 1 && isWhole(this.#open[0]!)) text += this.#close();
    return text;
  }

  #close(): string {
    const [opened, next] = this.#open;
    if (opened === undefined) return "";
    let text = "";
    if (opened.kind === "tool" && !opened.written)
      text += this.#write(opened, { type: "input_json_delta", partial_json: "" });
    text += frame("content_block_stop", { index: this.#index });
    this.#index += 1;
    this.#open.shift();
    return next === undefined ? text : text + this.#start(next);
  }

  #start(opened: OpenBlock): string {
    let text = frame("content_block_start", { index: this.#index, content_block: opened.block });
    for (const delta of opened.held.splice(0)) text += this.#write(opened, delta);
    if (this.#open.length === 1) this.#held = 0;
    return text;
  }

  #write(opened: OpenBlock, delta: Json): string {
    opened.written = true;
    return frame("content_block_delta", { index: this.#index, delta });
  }
}

function isWhole({ kind, sealed, input }: OpenBlock): boolean {
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
