import { type Decimal, escapeSegment, type Secret } from "../kit/index.ts";
import { same } from "./same.ts";

const DURATIONS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;
const SIZES = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;

/** Milliseconds as the configuration writes them. */
export function duration(ms: number): string {
  return measure(ms, DURATIONS, "ms");
}

export function size(bytes: number): string {
  return measure(bytes, SIZES, "B");
}

function measure(value: number, units: readonly (readonly [string, number])[], smallest: string): string {
  const [unit, factor] = units.find(([, one]) => value >= one && value % one === 0) ?? [smallest, 1];
  return `${value / factor}${unit}`;
}

/** The shortest exact form. */
export function decimalText({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const fraction = text.slice(text.length - scale).replace(/0+$/, "");
  const whole = text.slice(0, text.length - scale);
  return scale === 0 ? `${sign}${text}` : `${sign}${whole}${fraction && `.${fraction}`}`;
}

/** Negative, zero or positive, as `a` is below, equal to or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = [a.digits * 10n ** BigInt(b.scale), b.digits * 10n ** BigInt(a.scale)];
  return left < right ? -1 : Number(left > right);
}

export function decimalNumber({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`);
}

/** What may be shown of a secret. */
export function secretText({ empty }: Secret): string {
  return empty ? "none" : "set";
}

/** Where two plain values differ, as JSON pointers: what may be shown where a value could be a secret. */
export function pointersOfDifference(a: unknown, b: unknown, pointer = ""): readonly string[] {
  if (same(a, b)) return [];
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
    return [pointer === "" ? "/" : pointer];
  }
  const found = [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    pointersOfDifference(a[key], b[key], `${pointer}/${escapeSegment(key)}`),
  );
  // Of secrets there is nothing to see inside.
  return found.length > 0 ? found : [pointer];
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The key of the configuration behind a name of the snapshot. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
