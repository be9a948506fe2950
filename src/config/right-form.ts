import { isRecord } from "./schema.ts";

type SchemaNode = Readonly<Record<string, unknown>>;

const AMOUNT = /^(\d{1,9}(?:[.,]\d{1,6})?)\s*([A-Za-z]+)$/;
const AMOUNTS = /(\d{1,9}(?:[.,]\d{1,6})?)\s*([A-Za-z]+)/g;
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
/** What each unit is of the smallest of its kind, the smallest first. */
const FACTORS: readonly ReadonlyMap<string, number>[] = [
  new Map([
    ["ms", 1],
    ["s", 1000],
    ["m", 60_000],
    ["h", 3_600_000],
    ["d", 86_400_000],
  ]),
  new Map(SIZE_UNITS.map((unit, index) => [unit, 1024 ** index])),
];
/** Milliseconds from which a number without a unit is hardly meant as seconds. */
const LIKELY_MS = 1000;

/** A value in the form that its schema asks for, as advice; null when there is no telling what was meant. */
export function rightForm(data: unknown, schema: SchemaNode): string | null {
  const { type, pattern, format } = schema;
  if (typeof data === "number" && typeof pattern === "string") return firstFitting(withUnit(data), pattern);
  if (typeof data !== "string") return null;
  if (type === "boolean") return truthForm(data);
  if (type === "integer" || type === "number") return numberForm(data, schema);
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

function numberForm(text: string, schema: SchemaNode): string | null {
  const plain = numbersOf(text.trim(), schema).filter((number) => isAllowed(number, schema));
  const [first, second] = plain;
  if (first === undefined) return null;
  if (second !== undefined) return `write ${first}, or ${second} if the comma is a decimal point`;
  return `write ${first}${first === text ? ", without quotes" : ""}`;
}

const CURRENCY = /^(?:[$€£]|[A-Z]{3} )\s*|\s*(?:[$€£]| [A-Z]{3})$/g;
const THOUSAND_LETTERS: Readonly<Record<string, number>> = { k: 1_000, K: 1_000, m: 1_000_000, M: 1_000_000 };

/** The numbers that a text may be meant as: two where one comma has three digits behind it. */
function numbersOf(written: string, { type, maximum }: SchemaNode): string[] {
  const percent = /^(\d+(?:[.,]\d+)?)\s*%$/.exec(written)?.[1];
  // A share of one; where larger numbers are allowed nobody knows of what it is.
  if (percent !== undefined) return maximum === 1 ? [String(Number(percent.replace(",", ".")) / 100)] : [];
  const text = written.replaceAll(CURRENCY, "");
  const [, count = "", letter = ""] = /^(\d+(?:\.\d+)?)\s*([kKmM])$/.exec(text) ?? [];
  if (letter !== "") return [String(Number(count) * THOUSAND_LETTERS[letter]!)];
  if (/^[+-]?\d+(?:[_ '’]\d+)*(?:\.\d+)?$/.test(text)) return [text.replaceAll(/[_ '’+]/g, "")];
  if (/^\d+(?:\.\d+)?e[+-]?\d+$/i.test(text)) return [text];
  if (/^\d{1,3}(?:[.\s]\d{3})+,\d+$/.test(text)) return [text.replaceAll(/[.\s]/g, "").replace(",", ".")];
  if (/^\d{1,3}(?:\.\d{3}){2,}$/.test(text)) return [text.replaceAll(".", "")];
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+|,\d{3})$/.test(text)) return [text.replaceAll(",", "")];
  const isGrouped = /^[1-9]\d{0,2},\d{3}$/.test(text);
  const decimal = type === "number" && /^\d+,\d+$/.test(text) ? [text.replace(",", ".")] : [];
  if (isGrouped) return [text.replace(",", ""), ...decimal];
  if (/^\.\d+$/.test(text)) return [`0${text}`];
  return /^\d+\.$/.test(text) ? [text.slice(0, -1)] : decimal;
}

function isAllowed(number: string, schema: SchemaNode): boolean {
  const value = Number(number);
  const bound = (key: string, otherwise: number): number => {
    const limit = schema[key];
    return typeof limit === "number" ? limit : otherwise;
  };
  return (
    (schema["type"] !== "integer" || Number.isInteger(value)) &&
    value >= bound("minimum", -Infinity) &&
    value <= bound("maximum", Infinity) &&
    value > bound("exclusiveMinimum", -Infinity) &&
    value < bound("exclusiveMaximum", Infinity)
  );
}

function dateForm(text: string): string | null {
  const [, year, month = "", day = ""] = DATE.exec(text) ?? [];
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  // There is no 30 February, in no form.
  const isReal = year !== undefined && new Date(date).getUTCDate() === Number(day);
  return isReal ? `write ${date}` : null;
}

/** `15 sec` is `15s`, `32MB` is `32MiB`, `1.5s` is `1500ms`, `1h30m` is `90m`. */
function amountForms(text: string): string[] {
  const [, amount = "", written = ""] = AMOUNT.exec(text.trim()) ?? [];
  const units = UNITS.filter(([pattern]) => pattern.test(written)).map(([, unit]) => unit);
  if (/^\d+$/.test(amount)) return units.map((unit) => `${amount}${unit}`);
  const parts = [...text.matchAll(AMOUNTS)];
  const isWhole = text.replaceAll(AMOUNTS, "").trim() === "";
  return isWhole ? FACTORS.flatMap((factors) => inSmallerUnit(parts, factors)) : [];
}

/** The sum of some amounts in the largest unit that says it exactly; nothing where one is of another kind. */
function inSmallerUnit(parts: readonly RegExpExecArray[], factors: ReadonlyMap<string, number>): string[] {
  let sum = 0;
  for (const [, amount = "", written = ""] of parts) {
    const unit = UNITS.find(([pattern, name]) => pattern.test(written) && factors.has(name))?.[1];
    if (unit === undefined) return [];
    sum += Number(amount.replace(",", ".")) * factors.get(unit)!;
  }
  const found = [...factors].findLast(([, factor]) => Number.isInteger(sum / factor));
  return found === undefined || sum === 0 ? [] : [`${sum / found[1]}${found[0]}`];
}

/**
 * A number of seconds, or of milliseconds where it is large; of bytes as few digits as say it exactly, and of MiB when no
 * one would mean bytes; a share in percent.
 */
function withUnit(amount: number): string[] {
  if (!Number.isInteger(amount)) return [`${Math.round(amount * 1000)}ms`, `${Number((amount * 100).toPrecision(6))}%`];
  const power = [3, 2, 1].find((exponent) => amount % 1024 ** exponent === 0) ?? 0;
  const exact = `${amount / 1024 ** power}${SIZE_UNITS[power]}`;
  return [amount < LIKELY_MS ? `${amount}s` : `${amount}ms`, amount < 1024 ? `${amount}MiB` : exact, `${amount}%`];
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
