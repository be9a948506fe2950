import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Counter } from "../../kit/index.ts";
import { countAt } from "../windows.ts";

type CounterRow = Record<"ends_at" | "used", bigint>;

/** Named counters. Names come from clients: of any length and content, so rows are keyed by their digests. */
export function counterTable(db: DatabaseSync, now: () => number) {
  const select = db.prepare("SELECT ends_at, used FROM counters WHERE digest = ? AND length = ?");
  const write = db.prepare(
    `INSERT INTO counters VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ends_at = excluded.ends_at, used = excluded.used`,
  );
  const forget = db.prepare(
    `DELETE FROM counters WHERE (digest, length) IN
       (SELECT digest, length FROM counters WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
  );

  function countOf({ name, limit }: Counter, length: number, at: number) {
    const digest = hash("sha256", name, "buffer");
    const row = select.get(digest, length) as CounterRow | undefined;
    const stored = row ? { window: Number(row.ends_at) / length - 1, used: Number(row.used) } : { window: 0, used: 0 };
    const { window, used } = countAt(stored, length, at);
    const save = (count: number) => write.run(digest, length, (window + 1) * length, count);
    return { used, full: used >= limit, endsAt: (window + 1) * length, tookAlong: window < stored.window, save };
  }

  return {
    /** Must run inside a transaction. */
    throttle(counters: readonly Counter[], length: number): number | null {
      const at = now();
      const counts = counters.map((counter) => countOf(counter, length, at));
      const full = counts.filter((count) => count.full);
      if (full.length > 0) {
        // Kept, or a full count would stay full until the window that is far ahead.
        for (const { tookAlong, used, save } of full) if (tookAlong) save(used);
        return Math.max(...full.map(({ endsAt }) => endsAt)) - at;
      }
      for (const { used, save } of counts) save(used + 1);
      // More than a call adds, so that ended windows never pile up.
      forget.run(at, 2 * counts.length);
      return null;
    },
  };
}
