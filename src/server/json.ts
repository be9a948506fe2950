import { isUtf8 } from "node:buffer";
import { invalidRequest, type Json } from "../kit/index.ts";

/** Bounds of a body, which are checked before it is parsed. */
const MAX_VALUES = 1_000_000;
const MAX_LEVELS = 200;
/** What V8 takes for a list or an object beside its values, and for a value in one. */
const CONTAINER_BYTES = 64;
const VALUE_BYTES = 8;
/** Heap bytes that a parsed body may take for each of its own. Small bodies are let off: nothing is at stake. */
const MAX_HEAP_PER_BYTE = 8;
const SMALL_BODY_BYTES = 256 * 1024;
/** Bytes of a text after which looking for its end natively is faster than byte by byte. */
const LONG_TEXT_BYTES = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The size of a JSON text, known before anything is made of it. */
export interface JsonSize {
  /** Lists, objects and what is in them; of a text that is not JSON an upper bound. */
  readonly values: number;
  readonly containers: number;
  readonly levels: number;
}

/** One pass over the bytes, without an allocation; stops at the first level beyond `MAX_LEVELS`. */
export function sizeOf(body: Buffer): JsonSize {
  let values = 1;
  let containers = 0;
  let level = 0;
  let levels = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case QUOTE:
        at = endOfText(body, at);
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        containers += 1;
        level += 1;
        if (level > levels) levels = level;
        if (level > MAX_LEVELS) return { values, containers, levels };
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        level -= 1;
        break;
      default:
    }
  }
  return { values, containers, levels };
}

/** Where the closing quote of the text is that begins at `from`; the body's length when it has none. */
function endOfText(body: Buffer, from: number): number {
  const near = Math.min(body.length, from + LONG_TEXT_BYTES);
  let at = from + 1;
  for (; at < near; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  for (;;) {
    const quote = body.indexOf(QUOTE, at);
    if (quote < 0) return body.length;
    let before = quote;
    while (before > at && body[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/**
 * The object that a body holds. Its values are counted before it is parsed, so that parsing it neither holds the event
 * loop for 100 ms nor takes memory out of proportion to the body.
 * @throws GatewayError 400 for anything but one JSON object in UTF-8 within the bounds.
 */
export function parseJson(body: Buffer): Json {
  if (body.length === 0) throw invalidRequest("/", "must not be empty");
  if (!isUtf8(body)) throw invalidRequest("/", "must be UTF-8");
  const { values, containers, levels } = sizeOf(body);
  if (levels > MAX_LEVELS) throw invalidRequest("/", `must not be nested deeper than ${MAX_LEVELS} levels`);
  if (values > MAX_VALUES) throw invalidRequest("/", `must not have more than ${MAX_VALUES} values`);
  const heap = containers * CONTAINER_BYTES + values * VALUE_BYTES;
  if (body.length > SMALL_BODY_BYTES && heap > MAX_HEAP_PER_BYTE * body.length) {
    throw invalidRequest("/", "has too many small lists and objects for its size");
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw invalidRequest("/", "must be valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidRequest("/", "must be an object");
  }
  return value as Json;
}
