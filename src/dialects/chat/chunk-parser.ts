import { isJson, type Json } from "../../kit/index.ts";
import { parseJson } from "../canonical/json.ts";

/** Shapes learnt in a row without a chunk that had one of them: such a stream is not worth learning. */
const MAX_VAIN = 4;
/** What providers fill chunks up with, so that lengths give nothing away: OpenAI, Mistral. */
const PADDINGS = ["obfuscation", "p"];
/** Values that stand for themselves wherever they are put: neither is part of a text or a number beside it. */
const PROBES = ["[1]", "[2]"] as const;

/**
 * Parses the chunks of one stream as JSON.parse would. Most differ from the one before in a piece of text, and in padding:
 * where a JSON text differs from another in complete values alone, so does what it says.
 */
export class ChunkParser {
  #shape: Shape | null = null;
  #vain = 0;

  /** @returns undefined for what is not JSON. */
  parse(raw: string): unknown {
    const known = this.#shape === null ? undefined : read(this.#shape, raw);
    if (known !== undefined) {
      this.#vain = 0;
      return known;
    }
    const data = parseJson(raw);
    const shape = this.#vain < MAX_VAIN && isJson(data) ? learn(raw, data) : null;
    if (shape !== null) {
      this.#shape = shape;
      this.#vain += 1;
    }
    return data;
  }
}

/** What chunks have in common. */
interface Shape {
  readonly chunk: Json;
  readonly choice: Json;
  /** Of the one field of the choice's delta. */
  readonly name: string;
  /** Of the padding behind it; null without. */
  readonly padding: string | null;
  /** The text before, between and behind the two values; without padding nothing is between. */
  readonly texts: readonly [string, string, string];
}

/** The chunk of a text; undefined when it has another shape. */
function read({ chunk, choice, name, padding, texts }: Shape, raw: string): Json | undefined {
  const [before, between, after] = texts;
  const end = raw.length - after.length;
  // Not `startsWith`, which takes twice as long.
  if (raw.slice(0, before.length) !== before || raw.slice(end) !== after) return undefined;
  const stop = padding === null ? end : raw.indexOf(between, before.length);
  if (stop < 0) return undefined;
  const text = parseJson(raw.slice(before.length, stop));
  if (typeof text !== "string") return undefined;
  const choices = [{ ...choice, delta: { [name]: text } }];
  if (padding === null) return { ...chunk, choices };
  const filled = parseJson(raw.slice(stop + between.length, end));
  return typeof filled === "string" ? { ...chunk, choices, [padding]: filled } : undefined;
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
  return { chunk, choice, name, padding, texts: [before, between, after] };
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
