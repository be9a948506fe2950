import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import { parseJson } from "./json.ts";

/** Shapes learnt in a row without a chunk that had one of them: such a stream is not worth learning. */
const MAX_UNUSED_SHAPES = 4;
/** What providers fill chunks up with, so that lengths give nothing away: OpenAI, Mistral. */
const PADDINGS = ["obfuscation", "p"];
/** Values that stand for themselves wherever they are put: neither is part of a text or a number beside it. */
const PROBES = ["[1]", "[2]"] as const;
/** Fields of a delta that are text, whatever it says. */
const TEXTS: ReadonlySet<string> = new Set(["content", "refusal", "reasoning_content"]);

/**
 * Parses the chunks of one stream as JSON.parse would. Most differ from the one before in a piece of text, and in padding:
 * where a JSON text differs from another in complete values alone, so does what it says.
 */
export class ChunkParser {
  /** Of the chunk that was parsed last; null where it had none. */
  shape: Shape | null = null;
  #known: Shape | null = null;
  #unusedShapes = 0;

  /** @returns undefined for what is not JSON. */
  parse(raw: string): unknown {
    const chunk = this.#known?.read(raw) ?? null;
    if (chunk !== null) {
      this.#unusedShapes = 0;
      this.shape = this.#known;
      return chunk.data;
    }
    this.shape = null;
    const data = parseJson(raw);
    const shape = this.#unusedShapes < MAX_UNUSED_SHAPES && isJson(data) ? learn(raw, data) : null;
    if (shape !== null) {
      this.#known = shape;
      this.#unusedShapes += 1;
    }
    return data;
  }
}

/** A chunk of a known shape. A copy of it, such as a plugin makes to change something, has none. */
export class ShapedChunk implements StreamEvent {
  readonly data: Json;
  readonly raw: string;
  readonly text: string;
  readonly #shape: Shape;

  constructor(data: Json, raw: string, text: string, shape: Shape) {
    this.data = data;
    this.raw = raw;
    this.text = text;
    this.#shape = shape;
  }

  static shapeOf(event: StreamEvent): Shape | null {
    return #shape in event ? event.#shape : null;
  }
}

/** What chunks have in common: all that they say but for one text and the padding. */
export class Shape {
  /** How their texts begin and end. */
  readonly before: string;
  readonly after: string;
  /** Between text and padding. */
  readonly #between: string;
  readonly #chunk: Json;
  readonly #choice: Json;
  /** Of the one field of the choice's delta. */
  readonly #name: string;
  /** Of the padding behind it; null without: then nothing is between. */
  readonly #padding: string | null;

  constructor(
    texts: readonly [before: string, between: string, after: string],
    chunk: Json,
    choice: Json,
    name: string,
    padding: string | null,
  ) {
    [this.before, this.#between, this.after] = texts;
    this.#chunk = chunk;
    this.#choice = choice;
    this.#name = name;
    this.#padding = padding;
  }

  /** Whether its chunks are a piece of text each, and no more than that. */
  get isText(): boolean {
    return TEXTS.has(this.#name) && this.#choice["finish_reason"] === null;
  }

  /** The chunk of a text; null when it has another shape. */
  read(raw: string): ShapedChunk | null {
    const { before, after } = this;
    const end = raw.length - after.length;
    // Not `startsWith`, which takes twice as long.
    if (raw.slice(0, before.length) !== before || raw.slice(end) !== after) return null;
    const padding = this.#padding;
    const stop = padding === null ? end : raw.indexOf(this.#between, before.length);
    if (stop < 0) return null;
    const text = parseJson(raw.slice(before.length, stop));
    if (typeof text !== "string") return null;
    const choices = [{ ...this.#choice, delta: { [this.#name]: text } }];
    if (padding === null) return new ShapedChunk({ ...this.#chunk, choices }, raw, text, this);
    const filled = parseJson(raw.slice(stop + this.#between.length, end));
    if (typeof filled !== "string") return null;
    return new ShapedChunk({ ...this.#chunk, choices, [padding]: filled }, raw, text, this);
  }
}

/** The shape of a chunk with one choice whose delta is one text; null for any other. */
function learn(raw: string, data: Json): Shape | null {
  const delta = onlyChoice(data)?.["delta"];
  if (!isJson(delta)) return null;
  const name = firstName(delta);
  if (typeof delta[name] !== "string") return null;
  const padding = PADDINGS.find((field) => typeof data[field] === "string") ?? null;
  const [before, rest] = around(raw, name, delta[name]);
  const [between, after] = padding === null ? ["", rest] : around(rest, padding, data[padding]);
  // Whatever the text is like: what takes these places in it is what takes the values' places in the chunk.
  const chunk = parseJson(before + PROBES[0] + (padding === null ? "" : between + PROBES[1]) + after);
  const choice = isJson(chunk) ? onlyChoice(chunk) : null;
  if (!isJson(chunk) || choice === null) return null;
  if (JSON.stringify(choice["delta"]) !== `{${JSON.stringify(name)}:${PROBES[0]}}`) return null;
  if (padding !== null && JSON.stringify(chunk[padding]) !== PROBES[1]) return null;
  // Anything but plain values would be one object shared by all chunks.
  if (!isPlainWithout(chunk, ["choices", padding]) || !isPlainWithout(choice, ["delta"])) return null;
  return new Shape([before, between, after], chunk, choice, name, padding);
}

function onlyChoice({ choices }: Json): Json | null {
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : null;
  return isJson(choice) ? choice : null;
}

function firstName(object: Json): string {
  for (const name in object) return name;
  return "";
}

function isPlainWithout(object: Json, names: readonly (string | null)[]): boolean {
  return Object.entries(object).every(
    ([name, value]) => typeof value !== "object" || value === null || names.includes(name),
  );
}

/** The text before and behind the value of a field that is written as JSON.stringify does. */
function around(text: string, name: string, value: unknown): readonly [string, string] {
  const field = `${JSON.stringify(name)}:`;
  const written = JSON.stringify(value);
  const begin = text.indexOf(field + written) + field.length;
  return [text.slice(0, begin), text.slice(begin + written.length)];
}
