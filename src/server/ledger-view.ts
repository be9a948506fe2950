import type {
  LedgerEntry as ShownEntry,
  LedgerPage as ShownPage,
  LedgerQuery as Parameters,
  UsagePage as ShownUsagePage,
  UsageQuery as UsageParameters,
  UsageRow as ShownRow,
} from "../../schemas/types.gen.ts";
import {
  invalidRequest,
  type LedgerPage,
  type LedgerQuery,
  nanoToString,
  type RecordedEntry,
  type Usage,
  type UsageDimension,
  type UsagePage,
  type UsageQuery,
  type UsageRow,
} from "../kit/index.ts";

/** Entries and rows of a page that nobody has said the size of. */
const ROWS_PER_PAGE = 50;
const SHOWN_DAY_COUNT = 30;
const DAY_MS = 86_400_000;

const DIMENSIONS: Readonly<Record<string, UsageDimension>> = {
  model: "model",
  upstream: "upstream",
  tier: "tier",
  user: "userId",
  key: "keyId",
};

/** What a listing of the ledger asks the store for. @throws GatewayError 400 for a time that there is not. */
export function ledgerQueryOf(parameters: Parameters): LedgerQuery {
  const { user, key, model, upstream, outcome, tag, request_id: requestId, from, to, limit, cursor } = parameters;
  const colon = tag?.indexOf(":") ?? 0;
  return {
    ...(user !== undefined && { userId: user }),
    ...(key !== undefined && { keyId: key }),
    ...(model !== undefined && { model }),
    ...(upstream !== undefined && { upstream }),
    ...(outcome !== undefined && { outcome }),
    ...(requestId !== undefined && { requestId }),
    ...(tag !== undefined && { tag: { name: tag.slice(0, colon), value: tag.slice(colon + 1) } }),
    ...(from !== undefined && { from: timeIn("/from", from) }),
    ...(to !== undefined && { to: timeIn("/to", to) }),
    limit: limit ?? ROWS_PER_PAGE,
    ...(cursor !== undefined && { cursor }),
  };
}

/** As `ledgerQueryOf`. @param now Unix milliseconds. */
export function usageQueryOf(parameters: UsageParameters, now: number): UsageQuery {
  const { per = "day", by, from, to, user, key, model, upstream, limit, cursor } = parameters;
  const names = [...new Set(by?.split(","))];
  return {
    per,
    by: names.flatMap((name) => DIMENSIONS[name] ?? []),
    from: from === undefined ? now - SHOWN_DAY_COUNT * DAY_MS : timeIn("/from", from),
    to: to === undefined ? now : timeIn("/to", to),
    ...(user !== undefined && { userId: user }),
    ...(key !== undefined && { keyId: key }),
    ...(model !== undefined && { model }),
    ...(upstream !== undefined && { upstream }),
    limit: limit ?? ROWS_PER_PAGE,
    ...(cursor !== undefined && { cursor }),
  };
}

function timeIn(pointer: string, text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalidRequest(pointer, "is no time");
  return time;
}

export function shownLedger({ entries, cursor }: LedgerPage): ShownPage {
  return { data: entries.map(shownEntry), next_cursor: cursor };
}

function shownEntry(entry: RecordedEntry): ShownEntry {
  return {
    id: entry.id,
    request_id: entry.requestId,
    user_id: entry.userId,
    key_id: entry.keyId,
    model: entry.model,
    upstream: entry.upstream,
    tier: entry.tier ?? null,
    outcome: entry.outcome,
    estimated: entry.estimated,
    usage: shownCounts(entry.usage),
    cost: nanoToString(entry.charge),
    tags: { ...entry.tags },
    received_at: new Date(entry.receivedAt).toISOString(),
    ended_at: new Date(entry.endedAt).toISOString(),
    recorded_at: new Date(entry.recordedAt).toISOString(),
    duration_ms: Math.max(0, Math.round(entry.endedAt - entry.receivedAt)),
  };
}

function shownCounts({ characters, milliseconds, images, cacheWrite, cacheWrite1h, ...usage }: Usage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    cached_tokens: usage.cached,
    reasoning_tokens: usage.reasoning,
    ...(characters && { characters }),
    ...(milliseconds && { audio_ms: milliseconds }),
    ...(images && { images }),
    ...(cacheWrite && { cache_write_tokens: cacheWrite }),
    ...(cacheWrite1h && { cache_write_1h_tokens: cacheWrite1h }),
  };
}

export function shownUsage({ rows, cursor }: UsagePage): ShownUsagePage {
  return { data: rows.map(shownRow), next_cursor: cursor };
}

function shownRow(row: UsageRow): ShownRow {
  return {
    start: new Date(row.start).toISOString(),
    ...(row.model !== undefined && { model: row.model }),
    ...(row.upstream !== undefined && { upstream: row.upstream }),
    ...(row.tier !== undefined && { tier: row.tier }),
    ...(row.userId !== undefined && { user_id: row.userId }),
    ...(row.keyId !== undefined && { key_id: row.keyId }),
    requests: row.requests,
    failed: row.failed,
    prompt_tokens: row.prompt,
    completion_tokens: row.completion,
    cached_tokens: row.cached,
    reasoning_tokens: row.reasoning,
    cost: nanoToString(row.charge),
  };
}

const COLUMNS = [
  "id",
  "request_id",
  "user_id",
  "key_id",
  "model",
  "upstream",
  "tier",
  "outcome",
  "estimated",
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "characters",
  "audio_ms",
  "images",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "cost",
  "tags",
  "received_at",
  "ended_at",
  "recorded_at",
  "duration_ms",
] as const;

/** How an export is written: the media type, what is in front, and a line by entry. */
export const EXPORTS = {
  ndjson: { type: "application/x-ndjson", head: "", line: (entry: ShownEntry) => `${JSON.stringify(entry)}\n` },
  csv: { type: "text/csv; charset=utf-8; header=present", head: `${COLUMNS.join(",")}\r\n`, line: csvLine },
} as const;

function csvLine({ usage, tags, ...entry }: ShownEntry): string {
  const values: Record<string, unknown> = { ...entry, ...usage, tags: JSON.stringify(tags) };
  return `${COLUMNS.map((name) => cell(values[name])).join(",")}\r\n`;
}

/** A spreadsheet takes a text that begins like one of these for a formula: with an apostrophe it is a text. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : "";
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
