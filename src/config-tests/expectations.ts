import type { ConfigTestAmount as Amount, ConfigTestExpect, ConfigTestText, ConfigTestTime as Time } from "#schema";
import { join } from "../config/diagnostics.ts";
import { milliseconds } from "../config/settings.ts";
import {
  decimal,
  GatewayError,
  nanoToString,
  NANOS_PER_UNIT,
  pathOf,
  toNano,
  type WindowName,
  type Windows,
} from "../kit/index.ts";
import type { Attempt } from "../offline/record.ts";
import type { OfflineResult } from "../offline/room.ts";

/** One thing that is not as expected. */
export interface Mismatch {
  /** Of what was expected, below `expect`. */
  readonly pointer: string;
  readonly expected: string;
  readonly actual: string;
}

type Key = keyof ConfigTestExpect;
/** @param at pointer of the key. */
type Check<Expected> = (expected: Expected, result: OfflineResult, at: string) => readonly Mismatch[];

/** Of `matches`. */
export const PATTERN_FLAGS = "su";
/** Keys that say what there is after a request: of several, after the last. */
const AFTERWARDS: ReadonlySet<string> = new Set<Key>(["credits", "used", "left"]);

const CHECKS: { readonly [K in Key]-?: Check<NonNullable<ConfigTestExpect[K]>> } = {
  status: (expected, { status }, at) => same(expected, status, at),
  code: (expected, { code }, at) => same(expected, code ?? "none", at),
  outcome: (expected, { outcome }, at) => same(expected, outcome ?? "none", at),
  complete: (expected, { complete }, at) => same(expected, complete, at),
  body: (expected, { body }, at) => {
    if (typeof expected === "string") return matching(expected, body, at);
    const { json = {}, ...text } = expected;
    return [...matching(text, body, at), ...jsonValues(json, body, join(at, "json"))];
  },
  headers: (expected, { headers }, at) =>
    Object.entries(expected).flatMap(([name, one]) =>
      matching(typeof one === "number" ? String(one) : one, headers[name.toLowerCase()] ?? "none", join(at, name)),
    ),
  events: (expected, { events }, at) => amount(expected, BigInt(events.length) * NANOS_PER_UNIT, at),
  upstream: (expected, { upstream }, at) => same(expected, upstream ?? "none", at),
  attempts: (expected, { attempts }, at) => {
    if (typeof expected === "number") return same(expected, attempts.length, at);
    const fits =
      expected.length === attempts.length && expected.every((one, index) => isAttempt(one, attempts[index]!));
    return fits
      ? []
      : [{ pointer: at, expected: list(expected.map(written)), actual: list(attempts.map(attemptText)) }];
  },
  dropped: (expected, { dropped }, at) => same(list(expected.toSorted()), list(dropped.toSorted()), at),
  limit: (expected, { trace }, at) => same(expected, trace.refusal ?? "none", at),
  charge: (expected, { charge }, at) => amount(expected, charge, at),
  credits: (expected, { balance }, at) => amount(expected, balance, at),
  used: (expected, { windows }, at) => counters(expected, windows, ({ used }) => used, at),
  left: (expected, { windows }, at) =>
    counters(expected, windows, ({ limit, used }) => (limit === null ? "none" : limit - used), at),
  took: (expected, { took }, at) => time(expected, took, at),
};

/** What of an answer is not as expected. @param isLast of the requests that a step sends. */
export function mismatches(expected: ConfigTestExpect, result: OfflineResult, isLast: boolean): readonly Mismatch[] {
  const found: Mismatch[] = [];
  for (const key of Object.keys(CHECKS) as Key[]) {
    if (expected[key] === undefined || (AFTERWARDS.has(key) && !isLast)) continue;
    const check = CHECKS[key] as Check<unknown>;
    found.push(...check(expected[key], result, join("", key)));
  }
  return found;
}

function same(expected: string | number | boolean, actual: string | number | boolean, pointer: string): Mismatch[] {
  return expected === actual ? [] : [{ pointer, expected: String(expected), actual: String(actual) }];
}

function matching(expected: string | ConfigTestText, actual: string, pointer: string): Mismatch[] {
  if (typeof expected === "string") {
    return expected === actual ? [] : [{ pointer, expected: quoted(expected), actual: quoted(actual) }];
  }
  const { contains = [], matches } = expected;
  const missing = [contains].flat().filter((part) => !actual.includes(part));
  const found = missing.map((part) => ({
    pointer: join(pointer, "contains"),
    expected: `contains ${quoted(part)}`,
    actual: quoted(actual),
  }));
  if (matches === undefined || new RegExp(matches, PATTERN_FLAGS).test(actual)) return found;
  return [...found, { pointer: join(pointer, "matches"), expected: `matches /${matches}/`, actual: quoted(actual) }];
}

function jsonValues(expected: Readonly<Record<string, unknown>>, body: string, pointer: string): Mismatch[] {
  let root: unknown;
  try {
    root = JSON.parse(body);
  } catch {
    if (Object.keys(expected).length === 0) return [];
    return [{ pointer, expected: "JSON", actual: quoted(body) }];
  }
  return Object.entries(expected).flatMap(([path, value]) => {
    const actual = pathOf(path).reduce<unknown>(
      (inner, key) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      root,
    );
    return same(jsonText(value), jsonText(actual), join(pointer, path));
  });
}

/** The same for equal values, whatever the order of their keys. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
  return text ?? "nothing";
}

/** What became of a request, a line each: what plugins decided, the targets of its chain, the answer. */
export function wayOf({ trace, attempts, status, code, upstream, charge, took }: OfflineResult): readonly string[] {
  const decided = trace.decisions.filter(({ hook, result }) => WAY_HOOKS.has(hook) && result !== "skipped");
  const plugins = decided.map(({ plugin, result, error }) => {
    const why = error instanceof Error ? ` (${error instanceof GatewayError ? error.code : error.message})` : "";
    return result === "passed" ? plugin : `${plugin} ${result}${why}`;
  });
  const tried = attempts.map((attempt) => `${attemptText(attempt)}${attempt.reason && ` (${attempt.reason})`}`);
  const by = upstream === null ? "" : ` by ${upstream}`;
  const answer = `${status}${code === null ? by : ` ${code}`}, charged ${nanoToString(charge)}${took > 0 ? `, after ${took}ms` : ""}`;
  return [
    `plugins: ${plugins.length === 0 ? "none was reached" : plugins.join(" → ")}`,
    `chain: ${tried.length === 0 ? "not reached" : tried.join(" → ")}`,
    `answer: ${answer}`,
  ];
}

const WAY_HOOKS: ReadonlySet<string> = new Set(["identify", "admit", "transform", "answer", "response"]);

type AttemptEntry = Exclude<NonNullable<ConfigTestExpect["attempts"]>, number>[number];

function isAttempt(expected: AttemptEntry, actual: Attempt): boolean {
  if (typeof expected === "string") {
    const [upstream, outcome = actual.outcome] = expected.split(" ");
    return upstream === actual.upstream && outcome === actual.outcome;
  }
  const { upstream, model, outcome, status } = { ...actual, ...expected };
  return (
    upstream === actual.upstream && model === actual.model && outcome === actual.outcome && status === actual.status
  );
}

function written(attempt: AttemptEntry): string {
  if (typeof attempt === "string") return attempt;
  const { upstream = "any", model, outcome = "", status } = attempt;
  return [model === undefined ? upstream : `${upstream}/${model}`, outcome, status ?? ""].filter(String).join(" ");
}

/** `aurora/aurora-1 status 503`. */
export function attemptText({ upstream, model, outcome, status }: Attempt): string {
  return `${upstream}/${model} ${outcome}${outcome !== "served" && status > 0 ? ` ${status}` : ""}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.join(", ");
}

type Comparison = "=" | "<" | "<=" | ">" | ">=";

function compared(text: string): { readonly comparison: Comparison; readonly value: string } {
  const [, comparison, value = ""] = /^(<=?|>=?)? ?(.*)$/.exec(text) ?? [];
  return { comparison: (comparison as Comparison | undefined) ?? "=", value };
}

function holds<Value extends number | bigint>(actual: Value, comparison: Comparison, expected: Value): boolean {
  switch (comparison) {
    case "=":
      return actual === expected;
    case "<":
      return actual < expected;
    case "<=":
      return actual <= expected;
    case ">":
      return actual > expected;
    case ">=":
      return actual >= expected;
  }
}

const NANO_DIGITS = 9;

/** @param actual in nano-units, exact. */
function amount(expected: Amount, actual: bigint, pointer: string): Mismatch[] {
  const { comparison, value } = compared(String(expected));
  const { digits, scale } = decimal(value);
  const nanos = toNano({ digits, scale });
  // An amount of fewer than nano-units is none that there could be: rounded, it would be another one.
  const isWhole = scale <= NANO_DIGITS || nanos * 10n ** BigInt(scale - NANO_DIGITS) === digits;
  if (isWhole && holds(actual, comparison, nanos)) return [];
  return [{ pointer, expected: String(expected), actual: nanoToString(actual) }];
}

function time(expected: Time, actual: number, pointer: string): Mismatch[] {
  const { comparison, value } = compared(expected);
  return holds(actual, comparison, milliseconds(value)) ? [] : [{ pointer, expected, actual: `${actual}ms` }];
}

function counters(
  expected: Readonly<Partial<Record<WindowName, number | "none">>>,
  windows: Windows,
  valueOf: (window: Windows[WindowName]) => number | "none",
  pointer: string,
): Mismatch[] {
  return (["day", "hour", "minute"] as const).flatMap((name) => {
    const one = expected[name];
    return one === undefined ? [] : same(one, valueOf(windows[name]), join(pointer, name));
  });
}

const MAX_QUOTED_CHARACTERS = 300;

/** As it is written in the report. */
function quoted(text: string): string {
  const rest = text.length - MAX_QUOTED_CHARACTERS;
  return rest <= 0 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, MAX_QUOTED_CHARACTERS))} … ${rest} more`;
}
