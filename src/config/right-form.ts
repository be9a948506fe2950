import { isRecord } from "./schema.ts";

type SchemaNode = Readonly<Record<string, unknown>>;

/** A number, as operators write it; also with marks between thousands. */
const NUMBER = /^\d[\d_, ]*(\.\d+)?$/;
const AMOUNT = /^(\d{1,9})\s*([A-Za-z]+)$/;
const DATE = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/;
const TRUE = /^(?:true|yes|on|y)$/i;
const FALSE = /^(?:false|no|off|n)$/i;

/** Units as people write them, with the one that the format has. One may mean several: `5m` of time, `5M` of bytes. */
const UNITS: readonly (readonly [written: RegExp, unit: string])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/i, "ms"],
  [/^(?:s|secs?|seconds?)$/i, "s"],
  [/^(?:m|mins?|minutes?)$/i, "m"],
  [/^(?:h|hrs?|hours?)$/i, "h"],
  [/^(?:d|days?)$/i, "d"],
  [/^(?:b|bytes?)$/i, "B"],
  [/^(?:k|kb|kib)$/i, "KiB"],
  [/^(?:m|mb|mib)$/i, "MiB"],
  [/^(?:g|gb|gib)$/i, "GiB"],
];
const SIZE_UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** A value in the form that its schema asks for, as advice; null when there is no telling what was meant. */
export function rightForm(data: unknown, schema: SchemaNode): string | null {
  const { type, pattern, format } = schema;
  if (typeof data === "number" && typeof pattern === "string") return firstFitting(withUnit(data), pattern);
  if (typeof data !== "string") return null;
  if (type === "boolean") return truthForm(data);
  if (type === "integer" || type === "number") return numberForm(data);
  if (format === "date") return dateForm(data);
  return typeof pattern === "string" ? firstFitting(amountForms(data), pattern) : null;
}

/** How to write what stands in the place of another type, in words that hold none of it. */
export function otherForm(type: unknown, data: unknown): string | null {
  if (type === "string" && typeof data !== "object") return "put the value in quotes";
  if (type === "array") return isRecord(data) ? "start each item with a dash" : "put the value in [ ]";
  return type === "object" && Array.isArray(data) ? "write a map, key: value, without dashes" : null;
}

function truthForm(text: string): string | null {
  if (TRUE.test(text)) return "write true";
  return FALSE.test(text) ? "write false" : null;
}

function numberForm(text: string): string | null {
  if (!NUMBER.test(text)) return null;
  const plain = text.replaceAll(/[_, ]/g, "");
  return `write ${plain}${plain === text ? ", without quotes" : ""}`;
}

function dateForm(text: string): string | null {
  const [, year, month = "", day = ""] = DATE.exec(text) ?? [];
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  // There is no 30 February, in no form.
  const isReal = year !== undefined && new Date(date).getUTCDate() === Number(day);
  return isReal ? `write ${date}` : null;
}

/** `15 sec` is `15s`, `32MB` is `32MiB`. */
function amountForms(text: string): string[] {
  const [, amount = "", written = ""] = AMOUNT.exec(text.trim()) ?? [];
  return UNITS.filter(([pattern]) => pattern.test(written)).map(([, unit]) => `${amount}${unit}`);
}

/** A number of seconds; of bytes as few digits as say it exactly, and of MiB when no one would mean bytes. */
function withUnit(amount: number): string[] {
  const power = [3, 2, 1].find((exponent) => amount % 1024 ** exponent === 0) ?? 0;
  const exact = `${amount / 1024 ** power}${SIZE_UNITS[power]}`;
  return [`${amount}s`, amount < 1024 ? `${amount}MiB` : exact];
}

/**
 * The advice to write the first candidate that fits.
 * @param pattern of the schema: what does not fit it would be advice to make the next mistake.
 */
function firstFitting(candidates: readonly string[], pattern: string): string | null {
  const fits = new RegExp(pattern, "u");
  const found = candidates.find((candidate) => fits.test(candidate));
  return found === undefined ? null : `write ${found}`;
}
