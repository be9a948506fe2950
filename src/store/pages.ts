import {
  invalidRequest,
  type LedgerFilter,
  type LedgerPage,
  type LedgerQuery,
  type RecordedEntry,
} from "../kit/index.ts";

/** Entries that one call looks at, and those that it reads at once. */
const MAX_SCANNED_COUNT = 5_000;
const ENTRIES_PER_STEP = 500;

export interface Listed {
  readonly entry: RecordedEntry;
  /** Where the list goes on behind it; null: it ends. */
  readonly next: string | null;
}

/**
 * A page of a ledger whose entries come in the order of their recording, the last one first.
 * @param read so many entries at most from a position on, the list's beginning for null; none: it has ended.
 * @param inOrder false: only about in that order. The list ends where it begins, not with the first entry that is too old.
 */
export async function ledgerPageOf(
  query: LedgerQuery,
  read: (position: string | null, count: number) => Promise<readonly Listed[]>,
  inOrder = true,
): Promise<LedgerPage> {
  const { limit, from = -Infinity } = query;
  const entries: RecordedEntry[] = [];
  let position = query.cursor === undefined ? null : decodeCursor(query.cursor);
  for (let scanned = 0, count = limit; scanned < MAX_SCANNED_COUNT; count = ENTRIES_PER_STEP) {
    const step = await read(position, Math.min(count, ENTRIES_PER_STEP));
    if (step.length === 0) return { entries, cursor: null };
    for (const { entry, next } of step) {
      const isTooOld = entry.recordedAt < from;
      if (isTooOld && inOrder) return { entries, cursor: null };
      if (!isTooOld && isAmong(entry, query)) entries.push(entry);
      if (next === null) return { entries, cursor: null };
      if (entries.length === limit) return { entries, cursor: encodeCursor(next) };
      position = next;
      scanned++;
    }
  }
  return { entries, cursor: position === null ? null : encodeCursor(position) };
}

function isAmong(entry: RecordedEntry, filter: LedgerFilter): boolean {
  const { userId, keyId, model, upstream, outcome, requestId, tag, to } = filter;
  return (
    (userId === undefined || entry.userId === userId) &&
    (keyId === undefined || entry.keyId === keyId) &&
    (model === undefined || entry.model === model) &&
    (upstream === undefined || entry.upstream === upstream) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (requestId === undefined || entry.requestId === requestId) &&
    (tag === undefined || (Object.hasOwn(entry.tags ?? {}, tag.name) && entry.tags?.[tag.name] === tag.value)) &&
    (to === undefined || entry.recordedAt < to)
  );
}

/** Nobody is to read anything into it. */
export function encodeCursor(position: string): string {
  return Buffer.from(position).toString("base64url");
}

/** @throws GatewayError for what `encodeCursor` cannot have made. */
export function decodeCursor(cursor: string): string {
  const position = Buffer.from(cursor, "base64url").toString();
  if (position === "" || encodeCursor(position) !== cursor) throw wrongCursor();
  return position;
}

export function wrongCursor(): Error {
  return invalidRequest("/cursor", "is none that this list has given");
}
