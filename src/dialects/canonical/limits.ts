import { isJson, type Json } from "../../kit/index.ts";
import { type Form, RESET_TEXTS, RESETS } from "./limits-table.ts";

/** When a limit ends, as a provider tells it: after so many milliseconds, at a Unix time in milliseconds, or both. */
export interface Reset {
  readonly wait: number | null;
  readonly at: number | null;
}

export const NO_RESET: Reset = { wait: null, at: null };

const HEADER_ROWS = RESETS.filter(({ header }) => header !== undefined);
const FIELD_ROWS = RESETS.filter(({ field }) => field !== undefined);

const UNITS_MS: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(ms|milliseconds?)$/i, 1],
  [/^(s|secs?|seconds?)$/i, 1_000],
  [/^(m|mins?|minutes?)$/i, 60_000],
  [/^(h|hrs?|hours?)$/i, 3_600_000],
  [/^(d|days?)$/i, 86_400_000],
];
const PROTOBUF = /^\d{1,9}(?:\.\d{1,9})?s$/;
const DURATION = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|s|m|h|d))+$/;

export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What `retry-after` and its siblings tell, in milliseconds from `now`; null when they tell nothing. */
export function explicitWait(headers: HeaderValues, now: number): number | null {
  return waitFrom(explicitReset(headers), now);
}

/**
 * When the limit that was met is full again, by the headers that tell it of each limit: of those of which nothing remains
 * the last one, and without any such of those that do not tell what remains. Null when they tell nothing.
 */
export function windowWait(headers: HeaderValues, now: number): number | null {
  return waitFrom(windowReset(headers), now);
}

const MIN_WAIT_MS = 50;
const MAX_WAIT_MS = 300_000;

/** Nobody is left alone for longer than 300 s because a provider says so, and none is asked again at once. */
export function boundedWait(wait: number | null): number | null {
  return wait === null ? null : Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.ceil(wait)));
}

/** Milliseconds from `now`; null for a time that has passed, or none. */
export function waitFrom({ wait, at }: Reset, now: number): number | null {
  const left = at === null ? 0 : at - now;
  if (wait !== null) return Math.max(wait, left);
  return left > 0 ? left : null;
}

function explicitReset(headers: HeaderValues): Reset {
  for (const { kind, header, form } of HEADER_ROWS) {
    if (kind !== "explicit") continue;
    for (const name of Object.keys(headers)) {
      const reset = header!.test(name) ? readValue(first(headers[name]), form) : NO_RESET;
      if (told(reset)) return reset;
    }
  }
  return NO_RESET;
}

function windowReset(headers: HeaderValues): Reset {
  let exhausted = NO_RESET;
  let unknown = NO_RESET;
  for (const name of Object.keys(headers)) {
    const row = HEADER_ROWS.find(({ kind, header }) => kind === "window" && header!.test(name));
    if (row === undefined) continue;
    const value = first(headers[name]);
    for (const { reset, left } of row.form === "ietf" ? ietfWindows(value) : [windowOf(headers, name, value)]) {
      // A window that ends now, or has ended, is not what refused the request.
      if (!told(reset) || (reset.at === null && reset.wait === 0)) continue;
      if (left === false) exhausted = later(exhausted, reset);
      else if (left === null) unknown = later(unknown, reset);
    }
  }
  return told(exhausted) ? exhausted : unknown;
}

interface Window {
  readonly reset: Reset;
  /** Whether something remains; null when it is not told. */
  readonly left: boolean | null;
}

/** Beside `…-reset…` stands `…-remaining…`, beside Anthropic's unified ones `…-status`. */
function windowOf(headers: HeaderValues, name: string, value: string | undefined): Window {
  const remaining = first(headers[name.replace("reset", "remaining")]);
  const status = name.endsWith("-reset") ? first(headers[name.replace(/reset$/, "status")]) : undefined;
  const isNumber = remaining !== undefined && /^-?\d+(\.\d+)?$/.test(remaining);
  const left = isNumber ? Number(remaining) > 0 : status === undefined ? null : status.toLowerCase() !== "rejected";
  return { reset: readValue(value, "any"), left };
}

function ietfWindows(value: string | undefined): readonly Window[] {
  if (value === undefined) return [];
  const named = /\blimit=/.test(value) || /\breset=/.test(value) ? [value] : value.split(",");
  return named.map((item) => {
    const left = /[;,\s](?:r|remaining)=(\d{1,15})/.exec(`;${item}`)?.[1];
    const reset = readValue(/[;,\s](?:t|reset)=(\d{1,15})/.exec(`;${item}`)?.[1], "any");
    return { reset, left: left === undefined ? null : Number(left) > 0 };
  });
}

/**
 * What the body of a refusal tells.
 * @param places the objects of the error; @param text the provider's own words.
 */
export function bodyReset(places: readonly Json[], text: string): Reset {
  for (const { field, form } of FIELD_ROWS) {
    for (const place of places) {
      const value = place[field!];
      const isText = typeof value === "string" || (typeof value === "number" && form !== "protobuf");
      const reset = isText ? readValue(String(value), form) : NO_RESET;
      if (told(reset)) return reset;
    }
  }
  // OpenRouter hands on the headers of the limit in the error itself.
  for (const { headers } of places) {
    if (!isJson(headers)) continue;
    const values = Object.entries(headers).filter(
      ([, value]) => typeof value === "string" || typeof value === "number",
    );
    const known = Object.fromEntries(values.map(([name, value]) => [name.toLowerCase(), String(value)]));
    const reset = explicitReset(known);
    const found = told(reset) ? reset : windowReset(known);
    if (told(found)) return found;
  }
  return textReset(text);
}

function textReset(text: string): Reset {
  for (const { text: pattern, is } of RESET_TEXTS) {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) continue;
    if (is === "wait") return { wait: durationOf(found), at: null };
    const at = Date.parse(
      found
        .replace(/,? at |, /, " ")
        .replace(/ ?(UTC|GMT)$/i, "Z")
        .replace(" ", "T"),
    );
    if (!Number.isNaN(at)) return { wait: null, at };
  }
  return NO_RESET;
}

function readValue(value: string | undefined, form: Form): Reset {
  if (value === undefined) return NO_RESET;
  if (form === "protobuf") return { wait: PROTOBUF.test(value) ? durationOf(value) : null, at: null };
  const number = /^\d{1,15}(\.\d{1,12})?$/.test(value) ? Number(value) : null;
  if (form === "milliseconds") return { wait: number, at: null };
  if (number !== null) return form === "any" ? numberReset(number) : { wait: number * 1_000, at: null };
  // `Date.parse` reads almost anything ("-1" is a year): only the forms that providers send are dates.
  const isDate =
    /^[A-Z][a-z]{2,8},? .* GMT$/.test(value) ||
    (form === "any" && /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(value));
  const at = isDate ? Date.parse(value) : Number.NaN;
  // A date that has passed says: now.
  if (!Number.isNaN(at)) return { wait: form === "any" ? null : 0, at };
  return form === "any" && DURATION.test(value) ? { wait: durationOf(value), at: null } : NO_RESET;
}

const LEAST_UNIX_SECONDS = 1e9;
const LEAST_UNIX_MS = 1e12;

/** No limit lasts for thirty years: a number as large is a time. */
function numberReset(number: number): Reset {
  if (number >= LEAST_UNIX_MS) return { wait: null, at: number };
  return number >= LEAST_UNIX_SECONDS ? { wait: null, at: number * 1_000 } : { wait: number * 1_000, at: null };
}

/** Milliseconds of `1m30s`, `2 minutes and 5 seconds`. */
function durationOf(text: string): number {
  let sum = 0;
  for (const [, number, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi)) {
    sum += Number(number) * (UNITS_MS.find(([name]) => name.test(unit))?.[1] ?? 0);
  }
  return Math.ceil(sum);
}

function told({ wait, at }: Reset): boolean {
  return wait !== null || at !== null;
}

function later(a: Reset, b: Reset): Reset {
  return { wait: longest(a.wait, b.wait), at: longest(a.at, b.at) };
}

function longest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return (typeof value === "string" ? value : value?.[0])?.trim();
}

const ADDRESSES = /[a-z][a-z0-9+.-]*:\/\/\S+/gi;
const ACCOUNT =
  /\b(?:account|organi[sz]ation|workspace|project|tenant|subscription)\b|\byour team\b|\b(?:this|your|the) api[- ]key\b/i;
/** OpenAI and Anthropic name the organization of every limit, also of those that they keep by model. */
const MODEL = /\bmodel\b|by ?model\b|\bfor [`'"]?[\w./:@-]{1,100}[`'"]? in (?:your )?organi[sz]ation\b/i;

/**
 * Whether a rate limit is of the whole account, and not of one model. Cases with their sources:
 * `test/dialects/canonical/limits.test.ts`.
 */
export function limitsAccount(codes: readonly string[], text: string): boolean {
  if (codes.includes("usage_limit_reached")) return true;
  const words = text.replace(ADDRESSES, " ");
  return ACCOUNT.test(words) && !MODEL.test(words);
}
