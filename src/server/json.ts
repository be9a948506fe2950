import { isUtf8 } from "node:buffer";
import { type Awaitable, inTurns, invalidRequest, type Json, nextTurn } from "../kit/index.ts";
import { JsonSize, sizeSteps } from "./json-size.ts";
import { parseSteps } from "./json-slices.ts";
import { fieldsOf } from "./body-text.ts";
import { type KeptBytes, LongTexts } from "./long-texts.ts";

/** Bounds of a body, which are checked before it is parsed. */
const MAX_VALUES = 1_000_000;
const MAX_LEVELS = 200;
/**
 * Different names of fields. Objects of many names take more memory than their text, and listing those of one object,
 * which each copy of it begins with, cannot be broken off.
 */
const MAX_NAMES = 10_000;
/** What V8 takes for a list or an object beside its values, and for a value in one. */
const CONTAINER_BYTES = 64;
/** The same for an object where there are more names than V8 keeps forms of objects for. */
const VARIOUS_CONTAINER_BYTES = 256;
const VARIOUS_NAMES = 1000;
const VALUE_BYTES = 8;
/** Heap bytes that a parsed body may take for each of its own. */
const MAX_HEAP_PER_BYTE = 8;
/** A body up to this is parsed at once, and let off what bounds the heap: nothing is at stake. */
export const SMALL_BODY_BYTES = 256 * 1024;

/**
 * The object that a body holds; a long one is parsed with turns of the event loop between its parts. Its values are
 * counted before it is parsed, so that parsing it takes no memory out of proportion to the body.
 * @throws GatewayError 400 for anything but one JSON object in UTF-8 within the bounds.
 */
export function parseJson(body: Buffer): Awaitable<Json> {
  const parsed = parseBody(body);
  return parsed instanceof Promise ? parsed.then(({ value }) => value) : parsed.value;
}

/** A body, and what was seen of its text. */
export interface ParsedBody {
  readonly value: Json;
  readonly size: JsonSize;
  /** What `value` has stand-ins for; null: it is whole. */
  readonly long: LongTexts | null;
}

/**
 * The same with what was seen of the body's text.
 * @param kept where long texts in messages may be left; null: nowhere.
 */
export function parseBody(body: Buffer, kept: KeptBytes | null = null): Awaitable<ParsedBody> {
  if (body.length === 0) throw invalidRequest("/", "must not be empty");
  if (!isUtf8(body)) throw invalidRequest("/", "must be UTF-8");
  if (body.length > SMALL_BODY_BYTES) return parseLong(body);
  const size = new JsonSize(MAX_LEVELS);
  size.scan(body, 0, body.length);
  requireBounds(size);
  try {
    const long = kept && LongTexts.of(body, kept, size.longTexts);
    if (long !== null) {
      const value = objectOf(JSON.parse(long.text));
      if (fieldsOf(value) === size.fields && long.isIn(value)) return { value, size, long };
    }
    return { value: objectOf(JSON.parse(body.toString())), size, long: null };
  } catch (error) {
    throw refusalOf(error);
  }
}

async function parseLong(body: Buffer): Promise<ParsedBody> {
  const size = await inTurns(sizeSteps(body, MAX_LEVELS, MAX_NAMES));
  requireBounds(size);
  const names = size.names?.size ?? 0;
  if (names > MAX_NAMES) {
    throw invalidRequest("/", `must not have more than ${MAX_NAMES} different names of fields`);
  }
  const containerBytes = names > VARIOUS_NAMES ? VARIOUS_CONTAINER_BYTES : CONTAINER_BYTES;
  if (size.containers * containerBytes + size.values * VALUE_BYTES > MAX_HEAP_PER_BYTE * body.length) {
    throw invalidRequest("/", "has too many small lists and objects for its size");
  }
  try {
    const value = await inTurns(parseSteps(body, MAX_LEVELS));
    await nextTurn();
    return { value: objectOf(value), size, long: null };
  } catch (error) {
    throw refusalOf(error);
  }
}

function requireBounds({ levels, values }: JsonSize): void {
  if (levels > MAX_LEVELS) throw invalidRequest("/", `must not be nested deeper than ${MAX_LEVELS} levels`);
  if (values > MAX_VALUES) throw invalidRequest("/", `must not have more than ${MAX_VALUES} values`);
}

function objectOf(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidRequest("/", "must be an object");
  }
  return value as Json;
}

function refusalOf(error: unknown): unknown {
  return error instanceof SyntaxError ? invalidRequest("/", "must be valid JSON") : error;
}
