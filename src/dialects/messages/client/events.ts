import { GatewayError, type Json, type Usage } from "../../../kit/index.ts";

/** The most text that may wait for an open tool call to end, in characters. */
const MAX_HELD_CHARACTERS = 4 * 1024 * 1024;

/** Blocks that may wait for it: each delta is looked for among them. More than any model begins at once. */
const MAX_OPEN_BLOCKS = 1024;

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
    if (this.#open.length >= MAX_OPEN_BLOCKS) throw tooMuch();
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
    if (this.#held > MAX_HELD_CHARACTERS) throw tooMuch();
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

function tooMuch(): GatewayError {
  return new GatewayError("PROVIDER_ERROR", "upstream mixed too much between tool calls");
}

function isWhole({ kind, sealed, input }: OpenBlock): boolean {
  return kind !== "tool" || sealed || input?.reached === true;
}

/** Finds the end of a JSON object that comes in parts, without keeping them. */
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

/** Messages' own words; an upstream that says one of them as `native_finish_reason` means it. */
const OWN: ReadonlySet<unknown> = new Set([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
  "compaction",
]);

const MAPPED: ReadonlyMap<unknown, string> = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "refusal"],
]);

export interface Stop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

/** What an answer brought. */
interface Produced {
  readonly called: boolean;
  readonly refused: boolean;
  /** A Messages upstream made it: its own word stands, also where it ended its turn after calls that were answered there. */
  readonly isNative: boolean;
}

/** How a canonical choice ended, or one whose end did not come. */
export function stopOf(choice: Json, { called, refused, isNative }: Produced): Stop {
  const { finish_reason, native_finish_reason: word, stop_sequence } = choice;
  const sequence = typeof stop_sequence === "string" ? stop_sequence : null;
  if (isNative && typeof word === "string") return { stop_reason: word, stop_sequence: sequence };
  const own = typeof word === "string" && OWN.has(word) ? word : null;
  const reason = own ?? (sequence !== null ? "stop_sequence" : (MAPPED.get(finish_reason) ?? "end_turn"));
  // Some upstreams say "stop" after tool calls: a client would then never run them.
  const better = refused ? "refusal" : called ? "tool_use" : reason;
  return { stop_reason: reason === "end_turn" ? better : reason, stop_sequence: sequence };
}

const COUNTS: ReadonlySet<string> = new Set([
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
  "output_tokens_details",
]);

export const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** What a stream says at its start of an upstream that has not counted: what a Messages upstream said there, else 0. */
export function firstUsage(native: Json): Json {
  return { ...messagesUsage(NO_USAGE, native), ...ownCounts(native) };
}

function ownCounts(native: Json): Json {
  const counts = Object.entries(native).filter(([name, value]) => COUNTS.has(name) && Number.isSafeInteger(value));
  return Object.fromEntries(counts);
}

/**
 * Usage as Messages counts: `input_tokens` without what was read from and written to the cache.
 * @param native what the upstream's own usage says beside the counts.
 */
export function messagesUsage(
  { prompt, completion, cached, reasoning, cacheWrite = 0 }: Usage,
  native: Json = {},
): Json {
  return {
    ...Object.fromEntries(Object.entries(native).filter(([name]) => !COUNTS.has(name))),
    input_tokens: Math.max(0, prompt - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    // With a breakdown beside it the top level leaves out what is charged with it, and clients reckon with that.
    ...(Array.isArray(native["iterations"]) ? ownCounts(native) : {}),
  };
}
