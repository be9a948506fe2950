import { describe, expect, test } from "vitest";
import { type AuditEntry, type Store, Uuids } from "../../../src/kit/index.ts";

const ids = new Uuids();

/** Of an operator who gives credits. */
export function auditEntry(at: number, more: Partial<AuditEntry> = {}): AuditEntry {
  const change = { action: "grantCredits", target: "user_1", details: { amount: "5", reason: "ü \u0000 }{" } };
  return { id: ids.timed(at), at, name: "grace", role: "operator", ...change, outcome: "begun", status: null, ...more };
}

/** What was changed over the admin API; `clock` is the store's own. */
export function auditSuite(store: () => Store, clock: { now: number }): void {
  describe("the audit log", () => {
    test("is read from its end, in pages, and an entry is there once however often it is written", async () => {
      const start = clock.now;
      const entries = Array.from({ length: 7 }, (_, index) => auditEntry(start + index));
      await Promise.all(entries.map(async (entry) => store().writeAudit(entry)));
      const done = { ...entries[3]!, outcome: "done", status: 200 } as const;
      await store().writeAudit(done);
      const expected = entries.with(3, done).toReversed();
      const all = await store().listAudit({ before: null, limit: 200 });
      expect(all.filter(({ at }) => at >= start)).toEqual(expected);
      const first = await store().listAudit({ before: null, limit: 3 });
      expect(first).toEqual(expected.slice(0, 3));
      const next = await store().listAudit({ before: first.at(-1)!.id, limit: 3 });
      expect(next).toEqual(expected.slice(3, 6));
      expect((await store().listAudit({ before: next.at(-1)!.id, limit: 3 }))[0]).toEqual(expected[6]);
      expect(await store().listAudit({ before: "0", limit: 3 })).toEqual([]);
    });

    test("has those of one moment once each, in any order", async () => {
      clock.now += 1_000;
      const entries = Array.from({ length: 5 }, () => auditEntry(clock.now));
      await Promise.all(entries.map(async (entry) => store().writeAudit(entry)));
      const pages: AuditEntry[] = [];
      for (let before: string | null = null; pages.length < 5;) {
        const page: readonly AuditEntry[] = await store().listAudit({ before, limit: 2 });
        before = page.at(-1)?.id ?? null;
        pages.push(...page.slice(0, 5 - pages.length));
      }
      expect(new Set(pages.map(({ id }) => id))).toEqual(new Set(entries.map(({ id }) => id)));
    });
  });
}
