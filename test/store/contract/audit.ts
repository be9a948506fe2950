import { describe, expect, test } from "vitest";
import { type AuditEntry, type NewAuditEntry, type Store, Uuids } from "../../../src/kit/index.ts";

const ids = new Uuids();

/** Of an operator who gave credits. */
export function auditEntry(at: number, more: Partial<NewAuditEntry> = {}): NewAuditEntry {
  const change = { action: "grantCredits", target: "user_1", details: { amount: "5", reason: "ü \u0000 }{" } };
  const end = { outcome: "done", status: 200, address: "192.0.2.1" } as const;
  return { id: ids.timed(at), at, name: "grace", role: "operator", ...change, ...end, ...more };
}

/** As an entry is noted before its change is made. */
function begunOf(entry: NewAuditEntry): NewAuditEntry {
  return { ...entry, outcome: "begun", status: null };
}

/** What was written, without what the chain adds. */
function writtenOf({ digest: _digest, previous: _previous, ...entry }: AuditEntry): NewAuditEntry {
  return entry;
}

const HOUR_MS = 3_600_000;
const CHAINED = /^[0-9a-f]{64}$/;

/** The audit log; `clock` is the store's own. */
export function auditSuite(store: () => Store, clock: { now: number }): void {
  const list = async (limit = 200, before: string | null = null) => store().listAudit({ before, limit });

  describe("the audit log", () => {
    test("is read from its end, in pages, and an entry is there once however often it is written", async () => {
      const entries = Array.from({ length: 7 }, (_, index) => auditEntry(clock.now + index));
      for (const entry of entries) await store().writeAudit(begunOf(entry));
      expect((await list(7)).map(writtenOf)).toEqual(entries.map(begunOf).toReversed());
      expect((await list(1))[0]).toMatchObject({ digest: null, previous: null });
      for (const entry of entries) await store().writeAudit(entry);
      await store().writeAudit({ ...entries[3]!, name: "mallory" });
      await store().writeAudit(begunOf(entries[3]!));
      const expected = entries.toReversed();
      const first = await list(3);
      expect(first.map(writtenOf)).toEqual(expected.slice(0, 3));
      const next = await list(3, first.at(-1)!.id);
      expect(next.map(writtenOf)).toEqual(expected.slice(3, 6));
      expect((await list(3, next.at(-1)!.id)).map(writtenOf)[0]).toEqual(expected[6]);
      expect(await list(3, "0")).toEqual([]);
    });

    test("chains every entry to the one before, also those of one moment", async () => {
      const entries = Array.from({ length: 30 }, () => auditEntry(clock.now));
      await Promise.all(
        entries.map(async (entry) => {
          await store().writeAudit(begunOf(entry));
          await store().writeAudit(entry);
        }),
      );
      const chain = await list(31);
      expect(new Set(chain.slice(0, 30).map(({ id }) => id))).toEqual(new Set(entries.map(({ id }) => id)));
      for (const [index, { digest, previous }] of chain.slice(0, 30).entries()) {
        expect(digest).toMatch(CHAINED);
        expect(previous).toBe(chain[index + 1]?.digest ?? null);
      }
      const verdict = await store().verifyAudit(chain[29]!.digest!);
      expect(verdict).toMatchObject({ bad: null, begun: 0, unchained: 0, head: chain[0]!.digest, found: true });
      expect(await store().verifyAudit("0".repeat(64))).toMatchObject({ bad: null, found: false });
    });

    test("takes an entry whose process died into the chain as it began", async () => {
      const lost = begunOf(auditEntry(clock.now));
      await store().writeAudit(lost);
      expect(await store().verifyAudit()).toMatchObject({ begun: 1, bad: null });
      clock.now += 2 * HOUR_MS;
      await store().writeAudit(auditEntry(clock.now));
      expect(await store().verifyAudit()).toMatchObject({ begun: 0, bad: null });
      const [first] = await list(1);
      expect(first).toMatchObject({ ...lost, digest: expect.stringMatching(CHAINED) as unknown });
    });

    test("forgets who an entry was about, and still verifies", async () => {
      const about = (more: Partial<NewAuditEntry>) => auditEntry(clock.now, more);
      const named = [
        about({ target: "user_gone" }),
        about({ target: "user_2", details: { email: "Gone@example.com" } }),
        about({ target: null, details: { reason: "asked by gone@example.com.", keys: [{ user: "user_gone" }] } }),
        about({ action: "userSignIn", name: "user", role: "user", target: "user_gone", address: "192.0.2.77" }),
      ];
      const others = [
        about({ target: "user_gone2" }),
        about({ details: { email: "nota.gone@example.com", more: "gone@example.com.au" } }),
      ];
      for (const entry of [...named, ...others]) await store().writeAudit(entry);
      const begun = about({ target: "user_gone", outcome: "begun", status: null });
      await store().writeAudit(begun);
      expect(await store().eraseAudit(["user_gone", "gone@example.com"])).toBe(5);
      const [open, ...entries] = await list(7);
      expect(open).toMatchObject({ id: begun.id, target: null, details: {}, erased: true });
      const text = JSON.stringify(entries.slice(2));
      for (const gone of ["user_gone", "one@example", "192.0.2.77", "salt"]) expect(text).not.toContain(gone);
      expect(entries.slice(2).map(({ erased, name }) => [erased, name])).toEqual([
        [true, "user"],
        [true, "grace"],
        [true, "grace"],
        [true, "grace"],
      ]);
      expect(entries.slice(0, 2).map(writtenOf)).toEqual(others.toReversed());
      expect(await store().verifyAudit()).toMatchObject({ bad: null, erased: 4 });
      expect(await store().eraseAudit(["user_gone", "gone@example.com"])).toBe(0);
      clock.now += 2 * HOUR_MS;
      await store().writeAudit(auditEntry(clock.now));
    });
  });
}
