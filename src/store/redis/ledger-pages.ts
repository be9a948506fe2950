import type { LedgerPage, LedgerQuery, LedgerStore, UsagePage, UsageQuery } from "../../kit/index.ts";
import { type Listed, ledgerPageOf, wrongCursor } from "../pages.ts";
import { usagePageOf } from "../usage.ts";
import { WINDOW_MS } from "../windows.ts";
import type { Connection } from "./connection.ts";
import { readWritten } from "./ledger.ts";
import { type Keys, loadScript } from "./scripts.ts";
import { type LedgerSweep, usageSource } from "./sweep.ts";

const PAGE = loadScript("ledger-page");

/**
 * The store's role of the ledger. Of one user it shows everything, of all what this process has recorded, and others until
 * their last sweep.
 * @param retention milliseconds for which entries are kept.
 */
export function ledgerMethods(connection: Connection, keys: Keys, sweep: LedgerSweep, retention: number): LedgerStore {
  const source = usageSource(connection, keys);
  return {
    async ledgerPage(query: LedgerQuery): Promise<LedgerPage> {
      const { userId } = query;
      if (userId !== undefined) return pageOfUser(connection, keys, { ...query, userId });
      await sweep.sweep();
      // Clocks may differ.
      const [oldest, newest] = [Date.now() - retention - WINDOW_MS.day, Date.now() + WINDOW_MS.day];
      return pageOfAll(connection, keys, query, { oldest, newest });
    },

    async usage(query: UsageQuery): Promise<UsagePage> {
      await (query.userId === undefined ? sweep.sweep() : sweep.sweepUsers([query.userId]));
      return usagePageOf(query, source, Date.now());
    },
  };
}

/** Pages of one user's ledger. A place is a time, and how many entries of just that time have not been given. */
function pageOfUser(
  connection: Connection,
  keys: Keys,
  query: LedgerQuery & { readonly userId: string },
): Promise<LedgerPage> {
  const { userId, to = Number.MAX_SAFE_INTEGER } = query;
  return ledgerPageOf(query, async (place, count) => {
    const asked = place === null ? [to, 0] : numbersIn(place);
    const reply = await connection.run(PAGE, [keys.ledger(userId)], [...asked, count]);
    const [below, written] = reply as [number, string[]];
    let [time, left] = [NaN, below];
    const entries = written.map((text, index): Listed => {
      const entry = readWritten(userId, text);
      if (index > 0) left = entry.recordedAt === time ? left + 1 : 0;
      time = entry.recordedAt;
      return { entry, next: `${time} ${left}` };
    });
    return entries.toReversed();
  });
}

/**
 * Pages of all users' entries, from the lists that the sweep has written. A place is a day, and how many of its entries
 * have not been given.
 * @param oldest Unix milliseconds before which nothing is kept. @param newest what nothing can be later than.
 */
function pageOfAll(
  connection: Connection,
  keys: Keys,
  query: LedgerQuery,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
): Promise<LedgerPage> {
  const firstDay = dayOf(Math.max(query.from ?? 0, oldest));
  const lastDay = dayOf(Math.min((query.to ?? Infinity) - 1, newest));
  const read = async (place: string | null, count: number): Promise<Listed[]> => {
    let [day, left]: [number, number | null] = place === null ? [lastDay, null] : numbersIn(place);
    // No list has given such a place: the way from there could be as long as numbers are large.
    if (day > lastDay) [day, left] = [lastDay, null];
    for (; day >= firstDay; day--, left = null) {
      const [list] = keys.ledgerDay(day);
      left ??= Number(await connection.call("LLEN", list));
      while (left > 0) {
        const end: number = left;
        const texts = (await connection.call("LRANGE", list, Math.max(0, end - count), end - 1)) as string[];
        if (texts.length === 0) break;
        const found = texts.toReversed().flatMap((text, index) => {
          // One that was taken back.
          return text === "" ? [] : [listed(text, `${day} ${end - index - 1}`)];
        });
        if (found.length > 0) return found;
        left = Math.max(0, end - count);
      }
    }
    return [];
  };
  // What a process has left is swept late.
  return ledgerPageOf(query, read, false);
}

/** "<user> <entry as it is written in the user's ledger>" */
function listed(text: string, next: string): Listed {
  const at = text.indexOf(" ");
  return { entry: readWritten(text.slice(0, at), text.slice(at + 1)), next };
}

function dayOf(time: number): number {
  return Math.floor(time / WINDOW_MS.day);
}

function numbersIn(place: string): [number, number] {
  const [, first, second] = /^(\d{1,16}) (\d{1,15})$/.exec(place) ?? [];
  if (first === undefined || second === undefined) throw wrongCursor();
  return [Number(first), Number(second)];
}
