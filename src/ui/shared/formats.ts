/** Placeholder for a missing value. */
export const NONE = "–";

const LOCALE = "en";
const COUNT = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });
const ABSOLUTE = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" });
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `12,345`. */
export function formatCount(value: number): string {
  return COUNT.format(value);
}

/** `12.3K`: where there is no room; the exact one belongs into a title or a table. */
export function formatCompact(value: number): string {
  return COMPACT.format(value);
}

/** @param share 0 to 1 */
export function formatPercent(share: number): string {
  return PERCENT.format(share);
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * An amount from its exact text, without going through a double: groups of thousands, at least two decimals, and of a
 * small amount so many that two digits of it are seen.
 */
export function formatCredits(exact: string, { digits }: { readonly digits?: number } = {}): string {
  const match = DECIMAL.exec(exact);
  if (match === null) return exact;
  const [, sign, whole = "0", fraction = ""] = match;
  const zeros = /^0*/.exec(fraction)![0].length;
  const kept = digits ?? (BigInt(whole) > 0n ? 2 : Math.min(9, Math.max(2, zeros + 2)));
  const scaled = BigInt(whole + fraction.slice(0, kept).padEnd(kept, "0"));
  const rounded = scaled + (Number(fraction[kept] ?? "0") >= 5 ? 1n : 0n);
  const text = rounded.toString().padStart(kept + 1, "0");
  const cut = text.length - kept;
  const trimmed = text.slice(cut).replace(/0+$/, "").padEnd(Math.min(2, kept), "0");
  const grouped = text.slice(0, cut).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const shown = trimmed === "" ? grouped : `${grouped}.${trimmed}`;
  return `${/[1-9]/.test(shown) ? sign : ""}${shown}`;
}

/** With its unit. */
export function creditsText(exact: string): string {
  return `${formatCredits(exact)} credits`;
}

/** For sums of a chart only: amounts themselves stay texts. */
export function creditsNumber(exact: string): number {
  return Number(exact);
}

/** `340 ms`, `1.24 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < 1) return `${COUNT.format(ms)} ms`;
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(2)} s`;
  const units = [
    [DAY_MS, "d"],
    [HOUR_MS, "h"],
    [MINUTE_MS, "min"],
    [SECOND_MS, "s"],
  ] as const;
  const seconds = Math.round(ms / SECOND_MS) * SECOND_MS;
  const first = units.findIndex(([unit]) => seconds >= unit);
  const parts: string[] = [];
  let left = seconds;
  for (const [unit, name] of units.slice(first, first + 2)) {
    const count = Math.floor(left / unit);
    left -= count * unit;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(" ");
}

/** `3 minutes ago`, `in 2 hours`. */
export function formatRelative(at: number, now: number): string {
  const difference = at - now;
  const size = Math.abs(difference);
  if (size < 5 * SECOND_MS) return "now";
  const units = [
    [DAY_MS, "day"],
    [HOUR_MS, "hour"],
    [MINUTE_MS, "minute"],
    [SECOND_MS, "second"],
  ] as const;
  const [unit, name] = units.find(([unit]) => size >= unit) ?? units[3];
  if (unit === DAY_MS && size > 60 * DAY_MS) return ABSOLUTE.format(at);
  return RELATIVE.format(Math.trunc(difference / unit), name);
}

/** In the reader's own time zone. */
export function formatAbsolute(at: number): string {
  return ABSOLUTE.format(at);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${COUNT.format(Number((bytes / 1024 ** power).toFixed(1)))} ${UNITS[power]}`;
}

/** `1 key`, `2 keys`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
