import { hash } from "node:crypto";
import { nearest } from "../kit/index.ts";
import { asText, badParameter } from "./fields.ts";
import { STRICT_VENDORS } from "./strict/rule.ts";

/** Whose way of writing answers and errors. */
export const SHAPES = ["openai", "cohere", "jina", "voyage", "together"] as const;
export type Shape = (typeof SHAPES)[number];

/** Ways in which upstreams that call themselves OpenAI-compatible are not. */
export const DEFECTS = [
  "no-role",
  "no-finish",
  "no-done",
  "no-object",
  "tool-index-1",
  "tool-no-index",
  "tool-no-type",
  "empty-ids",
  "repeated-ids",
  "null-deltas",
  "azure-first-chunk",
  "usage-every-chunk",
  "usage-with-choices",
  "xai-reasoning",
  "groq-usage",
  "mistral-tools",
] as const;
export type Defect = (typeof DEFECTS)[number];

/** One key of a script: reads its value (text of a query, or JSON); `undefined` means it cannot be used. */
interface KeyRule<Value> {
  readonly parse: (value: unknown) => Value | undefined;
  readonly expects: string;
  readonly does: string;
  /** Part of what a healthy answer looks like: it stays when `fail_times` or `fail_ratio` spare a request. */
  readonly shape?: true;
}

const MAXIMUM_COUNT = 1_000_000;
/** Beyond it a timer fires at once. */
const MAXIMUM_DELAY_MS = 2 ** 31 - 1;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const count = (does: string) => entry(parseCount, "a whole number from 0 to 1000000", does);
const duration = (does: string) => entry(parseDuration, "a duration such as 300ms or 2s", does);
const flag = (does: string) => entry(parseFlag, "true or false", does);
const text = (does: string) => entry((value) => (typeof value === "string" ? value : undefined), "text", does);
const word = <const Word extends string>(words: readonly Word[], does: string) =>
  entry((value) => words.find((one) => one === value), `one of ${words.join(", ")}`, `${does}: ${words.join(", ")}`);
const anything = (does: string) => entry(parseAnything, "a number, or anything to send in its place", does);
const shape = <Value>(of: KeyRule<Value>): KeyRule<Value> => ({ ...of, shape: true });

/**
 * Every key of a script. Positions count the events of a stream, the role delta being the first, or the parts of an
 * audio body; any other answer is one event, and a position of 1 or more in it means half of its bytes.
 */
export const SCRIPT = {
  first_byte: duration("waits before the status line"),
  first_event: duration("waits between the head and the first event"),
  chunk_delay: shape(duration("waits between events")),
  chunks: shape(count("this many content events, or parts of audio")),
  chunk_bytes: shape(
    count("content events are padded to this many bytes of text; parts of audio have as many at least"),
  ),
  stall_after: count("silence after this many events; 0: after the head"),
  reset_after: count("TCP reset after this many events; 0: before the status line"),
  close_after: count("FIN without the ending after this many events; 0: before the status line"),
  end_after: count("a clean end of the HTTP body after this many events, without the stream's own ending"),
  malformed_after: count("an event that is not JSON, or bytes that are no audio, after this many events"),
  error_after: count("an error object, then the end, after this many events of a 200"),
  error_first: flag("the same as error_after=0"),
  no_usage: flag("no counts of tokens or seconds; also written usage=none"),
  no_done: flag("no [DONE]"),
  status: entry(parseStatus, "a status from 200 to 999", "answers with this status and an error body"),
  retry_after: entry(parseText, "text or a number", "a Retry-After header, as written"),
  message: text("the error's message"),
  html: flag("an HTML page instead of JSON or events"),
  gzip: flag("a body compressed without being asked for"),
  drip: entry(parseDrip, "BYTES or BYTES/INTERVAL such as 5/100ms", "the body arrives few bytes at a time"),
  wrong_length: flag("a content-length larger than the body, then FIN"),
  fail_times: count("only the first requests of this script meet its faults"),
  fail_ratio: entry(parseRatio, "a number from 0 to 1", "only this share of requests meets the script's faults"),
  seed: text("picks which ones: the same seed, the same ones"),
  name: text("what fail_times and fail_ratio count by; the script itself without it"),
  "usage.prompt": shape(anything("claimed prompt tokens")),
  "usage.completion": shape(anything("claimed completion tokens")),
  "usage.cached": shape(anything("claimed prompt tokens read from a cache")),
  "usage.cache_write": shape(anything("claimed prompt tokens written to a cache")),
  "usage.seconds": shape(anything("claimed seconds of a transcribed file")),
  finish: shape(text("why the answer ended, in the dialect's own word")),
  defect: shape(
    entry(parseDefects, `some of ${DEFECTS.join(", ")}`, `breaks OpenAI's rules of form: ${DEFECTS.join(", ")}`),
  ),
  metadata: shape(word(["after", "before"], "Bedrock's counts, seen from the stop reason")),
  vendor: shape(word(STRICT_VENDORS, "refuses, in its words, what this provider refuses")),
  record: shape(flag("the ledger keeps the request's body")),
  shape: shape(word(SHAPES, "answers and errors in this provider's form")),
  embedding: shape(word(["float", "base64"], "vectors in this encoding, whatever was asked for")),
  image: shape(word(["url", "b64_json"], "images in this form, whatever was asked for")),
  images: shape(count("this many images, whatever was asked for")),
  segments: shape(count("this many segments of a transcript")),
} as const;

type Key = keyof typeof SCRIPT;

/** What a request asks of the simulator; empty: a healthy answer. Durations are milliseconds. */
export type Script = { readonly [K in Key]?: NonNullable<ReturnType<(typeof SCRIPT)[K]["parse"]>> };

/**
 * Merges scripts, a later one deciding: text is a query (`?stall_after=2`, `-` for none) or JSON, else an object.
 * @throws SimError 400 naming the key, and for an unknown one the nearest that exists, if any is near.
 */
export function parseScript(...sources: readonly unknown[]): Script {
  const values = new Map<string, unknown>();
  for (const source of sources) for (const [key, value] of pairs(source)) values.set(key, value);
  const script: Record<string, unknown> = {};
  for (const [key, value] of values) {
    if (!isKey(key)) {
      throw badParameter(`sim.${key}`, `Unknown simulator key '${key}'. ${hint(key)}`);
    }
    const { parse, expects } = SCRIPT[key];
    const parsed = parse(value);
    if (parsed === undefined) {
      throw badParameter(`sim.${key}`, `Simulator key '${key}' must be ${expects}, not ${JSON.stringify(value)}.`);
    }
    // A flag that is off is as if it had not been written: `play` tests for presence only.
    if (parsed !== false) script[key] = parsed;
  }
  return script;
}

/** The part of a script that describes a healthy answer. */
export function shapeOf(script: Script): Script {
  return Object.fromEntries(Object.entries(script).filter(([key]) => isKey(key) && SCRIPT[key].shape)) as Script;
}

function entry<Value>(parse: (value: unknown) => Value | undefined, expects: string, does: string): KeyRule<Value> {
  return { parse, expects, does };
}

function isKey(key: string): key is Key {
  return Object.hasOwn(SCRIPT, key);
}

function pairs(source: unknown): Iterable<readonly [string, unknown]> {
  if (source === undefined || source === null || source === "" || source === "-") return [];
  if (typeof source === "string")
    return source.startsWith("{") ? pairs(parseJson(source)) : [...new URLSearchParams(source)].flatMap(unfold);
  if (typeof source !== "object" || Array.isArray(source)) {
    throw badParameter(
      "sim",
      `A simulator script is an object or a query such as 'stall_after=2', not ${typeof source}.`,
    );
  }
  return Object.entries(source).flatMap(unfold);
}

/** `usage` stands for several keys. */
function unfold([key, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (key !== "usage") return [[key, value]];
  if (value === "none") return [["no_usage", true]];
  if (typeof value !== "object" || value === null) return [[key, value]];
  return Object.entries(value).map(([part, inner]) => [`usage.${part}`, inner]);
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw badParameter("sim", `A simulator script is not JSON: ${String(cause)}`);
  }
}

function parseCount(value: unknown): number | undefined {
  const number = parseNumber(value);
  return Number.isInteger(number) && number >= 0 && number <= MAXIMUM_COUNT ? number : undefined;
}

function parseDuration(value: unknown): number | undefined {
  const [, number, unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(asText(value)) ?? [];
  const milliseconds = Number(number) * (UNIT_MS[unit] ?? 1);
  return milliseconds <= MAXIMUM_DELAY_MS ? milliseconds : undefined;
}

function parseFlag(value: unknown): boolean | undefined {
  const written = asText(value);
  if (["", "true", "1"].includes(written)) return true;
  return ["false", "0"].includes(written) ? false : undefined;
}

function parseStatus(value: unknown): number | undefined {
  const number = parseNumber(value);
  return Number.isInteger(number) && number >= 200 && number <= 999 ? number : undefined;
}

function parseRatio(value: unknown): number | undefined {
  const number = parseNumber(value);
  return number >= 0 && number <= 1 ? number : undefined;
}

function parseText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? asText(value) : undefined;
}

function parseAnything(value: unknown): unknown {
  const number = parseNumber(value);
  return Number.isNaN(number) ? value : number;
}

function parseDefects(value: unknown): readonly Defect[] | undefined {
  const names = asText(value)
    .split(",")
    .filter((name) => name !== "");
  const known = DEFECTS.filter((defect) => names.includes(defect));
  return known.length === new Set(names).size ? known : undefined;
}

function parseDrip(value: unknown): { readonly bytes: number; readonly every: number } | undefined {
  const [bytes, every = "10ms"] = asText(value).split("/");
  const parsed = { bytes: parseCount(bytes), every: parseDuration(every) };
  if (!parsed.bytes || parsed.every === undefined) return undefined;
  return { bytes: parsed.bytes, every: parsed.every };
}

/** NaN for anything that is no finite number or its text. */
function parseNumber(value: unknown): number {
  const usable = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
  const number = usable ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : Number.NaN;
}

/** Help for a key that does not exist: a beginning is completed, a mistake corrected. */
function hint(name: string): string {
  const keys = Object.keys(SCRIPT);
  const meant = keys.find((key) => name !== "" && key.startsWith(name)) ?? nearest(name, keys);
  return meant === null ? `Keys: ${keys.join(", ")}.` : `Did you mean '${meant}'?`;
}

/** Counts requests by script, for `fail_times` and `fail_ratio`. */
export class Occurrences {
  readonly #counts = new Map<string, number>();

  /** Whether the script's faults hit this request. A probe (`counted` false) looks without using one up. */
  applies(script: Script, counted: boolean): boolean {
    if (script.fail_times === undefined && script.fail_ratio === undefined) return true;
    const name = script.name ?? JSON.stringify(script);
    const seen = this.#counts.get(name) ?? 0;
    if (counted) this.#counts.set(name, seen + 1);
    return seen < (script.fail_times ?? Infinity) && chance(`${script.seed ?? ""}:${seen}`) < (script.fail_ratio ?? 1);
  }
}

/** A number in [0, 1) that depends on nothing but `of`. */
function chance(of: string): number {
  return Number.parseInt(hash("sha256", of).slice(0, 8), 16) / 2 ** 32;
}
