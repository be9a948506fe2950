import { hash } from "node:crypto";
import type { UsageCounts, UsageDimension, UsagePage, UsageQuery, UsageRow } from "../kit/index.ts";
import { decodeCursor, encodeCursor, wrongCursor } from "./pages.ts";
import { WINDOW_MS } from "./windows.ts";

/** How long sums of all users are kept. */
export const USAGE_RETENTION_MS = 400 * WINDOW_MS.day;

/** Stored rows that one call reads; a day counts as some more, though it be empty. */
const MAX_READ_COUNT = 20_000;
const READS_PER_DAY = 50;
const MAX_AHEAD_COUNT = 32;

/** Outcomes that no client has brought about. */
export const FAILED_OUTCOMES = ["failed", "gateway_error", "upstream_cut", "shutdown"] as const;

/** What is stored of an hour; "" for what an entry does not name. Of all users the row names none. */
export interface HourRow extends UsageCounts {
  /** Its number since the epoch. */
  readonly hour: number;
  readonly model: string;
  readonly upstream: string;
  readonly tier: string;
  readonly userId: string;
  readonly keyId: string;
}

/** The stored rows of a day. */
export interface UsageSource {
  /** Of all users together. */
  ofAll(day: number): Promise<readonly HourRow[]>;
  ofUser(userId: string, day: number): Promise<readonly HourRow[]>;
  /** All rows of some users, in the order of their ids, from this one on. @returns `next`: the user after these. */
  byUser(day: number, first: string): Promise<{ readonly rows: readonly HourRow[]; readonly next: string | null }>;
}

/** A place in the list: the day, the user from whom on rows are read, and the digest of the last row that was given. */
type Position = readonly [day: number, user: string, row: string];

/** @param now Unix milliseconds. */
export async function usagePageOf(query: UsageQuery, source: UsageSource, now: number): Promise<UsagePage> {
  const { per, limit, userId } = query;
  const dimensions = dimensionsOf(query);
  const unit = WINDOW_MS[per];
  const oldest = Math.floor(Math.max(query.from, now - USAGE_RETENTION_MS, 0) / WINDOW_MS.day);
  const newest = Math.floor((Math.min(query.to, now + 2 * WINDOW_MS.day) - 1) / WINDOW_MS.day);
  const [cursorDay, cursorUser, cursorRow] = query.cursor === undefined ? [newest, "", ""] : positionOf(query.cursor);
  const isOfAll = userId === undefined && query.keyId === undefined && !dimensions.includes("userId");
  const rows: UsageRow[] = [];

  const readDay = (day: number) => (userId === undefined ? source.ofAll(day) : source.ofUser(userId, day));
  const ahead = new Map<number, Promise<readonly HourRow[]>>();
  /** Days asked for at once: more as long as there is nothing in them. */
  let atOnce = 1;
  async function read(day: number, first: string): Promise<{ rows: readonly HourRow[]; next: string | null }> {
    if (userId === undefined && !isOfAll) return source.byUser(day, first);
    if (!ahead.has(day)) {
      for (let next = day; next >= oldest && next > day - atOnce; next--) {
        const asked = readDay(next);
        // Nobody may come to wait for it.
        asked.catch(() => {});
        ahead.set(next, asked);
      }
    }
    const rows = (await ahead.get(day)) ?? [];
    ahead.delete(day);
    atOnce = rows.length > 0 ? 1 : Math.min(2 * atOnce, MAX_AHEAD_COUNT);
    return { rows, next: null };
  }
  const isAmong = (row: HourRow): boolean => {
    const start = Math.floor((row.hour * WINDOW_MS.hour) / unit) * unit;
    return start >= query.from && start < query.to && row.requests > 0 && isOf(row, query);
  };

  let reads = 0;
  for (let day = Math.min(cursorDay, newest); day >= oldest; day--) {
    let first: string | null = day === cursorDay ? cursorUser : "";
    let last = day === cursorDay ? cursorRow : "";
    while (first !== null) {
      if (reads >= MAX_READ_COUNT) return { rows, cursor: cursorOf([day, first, last]) };
      const slice = await read(day, first);
      reads += READS_PER_DAY + slice.rows.length;
      const found = summed(slice.rows.filter(isAmong), dimensions, unit);
      // When that one is there no more, all come again.
      const given = last === "" ? 0 : found.findIndex(([key]) => digestOf(key) === last) + 1;
      for (const [key, row] of found.slice(given)) {
        if (rows.length === limit) return { rows, cursor: cursorOf([day, first, last]) };
        rows.push(row);
        last = digestOf(key);
      }
      first = slice.next;
      last = "";
    }
  }
  return { rows, cursor: null };
}

/** A key is a user's: with the users' names rows of different users stay apart where none had a key. */
function dimensionsOf({ by }: UsageQuery): readonly UsageDimension[] {
  return by.includes("keyId") && !by.includes("userId") ? [...by, "userId"] : by;
}

function isOf(row: HourRow, { keyId, model, upstream }: UsageQuery): boolean {
  return (
    (keyId === undefined || row.keyId === keyId) &&
    (model === undefined || row.model === model) &&
    (upstream === undefined || row.upstream === upstream)
  );
}

/** Rows by what they are told apart by, in the order of the list: by user where users have rows, then the latest first. */
function summed(
  hours: readonly HourRow[],
  dimensions: readonly UsageDimension[],
  unit: number,
): [key: string, row: UsageRow][] {
  const rows = new Map<string, UsageRow>();
  const names = dimensions.filter((name) => name !== "userId");
  for (const hour of hours) {
    const start = Math.floor((hour.hour * WINDOW_MS.hour) / unit) * unit;
    const owner = dimensions.includes("userId") ? hour.userId : "";
    const key = JSON.stringify([owner, 1e15 - start, ...names.map((name) => hour[name])]);
    rows.set(
      key,
      plus(rows.get(key) ?? { start, ...Object.fromEntries(dimensions.map(valueIn(hour))), ...NO_COUNTS }, hour),
    );
  }
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const NO_COUNTS: UsageCounts = {
  requests: 0,
  failed: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  reasoning: 0,
  charge: 0n,
};

function valueIn(row: HourRow): (name: UsageDimension) => [UsageDimension, string | null] {
  return (name) => [name, row[name] === "" ? null : row[name]];
}

function plus(row: UsageRow, counts: UsageCounts): UsageRow {
  return {
    ...row,
    requests: row.requests + counts.requests,
    failed: row.failed + counts.failed,
    prompt: row.prompt + counts.prompt,
    completion: row.completion + counts.completion,
    cached: row.cached + counts.cached,
    reasoning: row.reasoning + counts.reasoning,
    charge: row.charge + counts.charge,
  };
}

/** A row's names may be longer than a cursor. */
function digestOf(key: string): string {
  return hash("sha256", key, "base64url").slice(0, 22);
}

function cursorOf(position: Position): string {
  return encodeCursor(JSON.stringify(position));
}

function positionOf(cursor: string): Position {
  const position = parsed(decodeCursor(cursor));
  if (!Array.isArray(position) || position.length !== 3) throw wrongCursor();
  const [day, user, row] = position as readonly unknown[];
  if (!Number.isSafeInteger(day) || typeof user !== "string" || typeof row !== "string") throw wrongCursor();
  return [Number(day), user, row];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
