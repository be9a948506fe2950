import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  LedgerQuery,
  LedgerRecord,
  RecordedEntry,
  Store,
  UsageCounts,
  UsageQuery,
  UsageRow,
} from "../../../src/kit/index.ts";
import { FEW_RUNS } from "../../properties/runs.ts";
import { addUser, admission, charged, givenBack, RECORD } from "../support.ts";

const HOUR_MS = 3_600_000;
const NO_COUNTS = { requests: 0, failed: 0, prompt: 0, completion: 0, cached: 0, reasoning: 0, charge: 0n };
const ALWAYS = { from: 0, to: 2 ** 43 } as const;

/** All pages, with how many there were. */
export async function allPages(store: Store, query: Omit<LedgerQuery, "cursor">) {
  const entries: RecordedEntry[] = [];
  let pages = 0;
  for (let cursor: string | undefined, isLast = false; !isLast; pages++) {
    const page = await store.ledgerPage({ ...query, ...(cursor !== undefined && { cursor }) });
    expect(page.entries.length).toBeLessThanOrEqual(query.limit);
    entries.push(...page.entries);
    isLast = page.cursor === null;
    cursor = page.cursor ?? undefined;
  }
  return { entries, pages };
}

export async function allUsage(store: Store, query: Omit<UsageQuery, "cursor" | "from" | "to">): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const page = await store.usage({ ...ALWAYS, ...query, ...(cursor !== undefined && { cursor }) });
    expect(page.rows.length).toBeLessThanOrEqual(query.limit);
    rows.push(...page.rows);
    isLast = page.cursor === null;
    cursor = page.cursor ?? undefined;
  }
  return rows;
}

/** What the entries add up to, as one would explain it. */
export function usageOf(entries: readonly RecordedEntry[], { per, by }: Pick<UsageQuery, "per" | "by">): UsageRow[] {
  const unit = per === "hour" ? HOUR_MS : 24 * HOUR_MS;
  const dimensions = by.includes("keyId") && !by.includes("userId") ? [...by, "userId" as const] : by;
  const rows = new Map<string, UsageRow>();
  for (const entry of entries) {
    const start = Math.floor(entry.recordedAt / unit) * unit;
    const names = Object.fromEntries(dimensions.map((name) => [name, entry[name] ?? null]));
    const key = JSON.stringify([start, names]);
    const failed = ["failed", "gateway_error", "upstream_cut", "shutdown"].includes(entry.outcome);
    const { prompt, completion, cached, reasoning } = entry.usage;
    const before: UsageCounts = rows.get(key) ?? NO_COUNTS;
    rows.set(key, {
      start,
      ...names,
      requests: before.requests + 1,
      failed: before.failed + Number(failed),
      prompt: before.prompt + prompt,
      completion: before.completion + completion,
      cached: before.cached + cached,
      reasoning: before.reasoning + reasoning,
      charge: before.charge + entry.charge,
    });
  }
  return inOrder([...rows.values()]);
}

const idsOf = (entries: readonly RecordedEntry[]) => entries.map(({ id }) => id);

const replacer = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

function textOf(row: UsageRow): string {
  const fields = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(fields, replacer);
}

/** Of rows in any order. */
export function inOrder(rows: readonly UsageRow[]): UsageRow[] {
  return rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

/** Pages of the ledger and what it adds up to. */
export function ledgerSuite(open: () => Store, numRuns: number): void {
  const serve = async (userId: string, record: Partial<LedgerRecord> = {}, charge = 1n): Promise<string> => {
    const request = admission(userId);
    await open().admit(request);
    await open().settle({ ...charged(request, charge), record: { ...RECORD, ...record } });
    return request.id;
  };

  describe("pages of the ledger", () => {
    test("of a user have each entry once, the last one first, whatever the limit", async () => {
      const [user, other] = [await addUser(open(), 100n), await addUser(open(), 100n)];
      const ids: string[] = [];
      for (let turn = 0; turn < 7; turn++) {
        ids.push(await serve(user.id));
        await serve(other.id);
      }
      for (const limit of [1, 2, 3, 7, 8, 1_000]) {
        const { entries } = await allPages(open(), { userId: user.id, limit });
        expect(idsOf(entries)).toEqual(ids.toReversed());
      }
      const { entries } = await allPages(open(), { userId: user.id, limit: 10 });
      const { recordedAt, ...entry } = entries[0]!;
      expect(entry).toEqual({ ...RECORD, id: ids.at(-1), userId: user.id, charge: 1n });
      expect(recordedAt).toBeGreaterThan(0);
    });

    test("of all users have each entry once", async () => {
      const users = await Promise.all(Array.from({ length: 3 }, () => addUser(open(), 100n)));
      const ids: string[] = [];
      for (let turn = 0; turn < 12; turn++) ids.push(await serve(users[turn % 3]!.id));
      for (const limit of [2, 5, 1_000]) {
        const { entries } = await allPages(open(), { limit });
        expect(new Set(idsOf(entries)).size).toBe(entries.length);
        expect(
          idsOf(entries)
            .filter((id) => ids.includes(id))
            .toSorted(),
        ).toEqual(ids.toSorted());
        const times = entries.map(({ recordedAt }) => recordedAt);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      }
    });

    test("are filtered by everything", async () => {
      const [user, other] = [await addUser(open(), 100n), await addUser(open(), 100n)];
      const requestId = `req-of-${user.id}`;
      const odd = {
        requestId,
        keyId: "key_odd",
        model: "route/odd",
        upstream: null,
        outcome: "failed",
        tags: { team: "blue", __proto__: null } as unknown as Record<string, string>,
        tier: "Odd",
      } as const;
      const plain = await serve(user.id);
      const strange = await serve(user.id, odd);
      await serve(other.id, { keyId: "key_other" });
      const of = async (query: Omit<LedgerQuery, "limit">) => {
        const mine = await allPages(open(), { ...query, userId: user.id, limit: 10 });
        const all = await allPages(open(), { ...query, limit: 10 });
        const ids = idsOf(mine.entries);
        expect(idsOf(all.entries.filter(({ userId }) => userId === user.id))).toEqual(ids);
        return ids;
      };
      const { entries } = await allPages(open(), { userId: user.id, limit: 10 });
      expect(entries[0]).toMatchObject({ ...odd, tags: { team: "blue" } });
      expect(await of({ keyId: "key_odd" })).toEqual([strange]);
      expect(await of({ keyId: "key_1" })).toEqual([plain]);
      expect(await of({ model: "route/odd" })).toEqual([strange]);
      expect(await of({ upstream: "alpha" })).toEqual([plain]);
      expect(await of({ outcome: "failed" })).toEqual([strange]);
      expect(await of({ requestId })).toEqual([strange]);
      expect(await of({ tag: { name: "team", value: "blue" } })).toEqual([strange]);
      expect(await of({ tag: { name: "team", value: "red" } })).toEqual([]);
      expect(await of({ tag: { name: "toString", value: "x" } })).toEqual([]);
      expect(await of({ outcome: "failed", upstream: "alpha" })).toEqual([]);
      expect(await of({ keyId: "key_other" }), "somebody else's").toEqual([]);
      const [first, last] = [entries.at(-1)!.recordedAt, entries[0]!.recordedAt];
      expect((await of({ from: first, to: last + 1 })).toSorted()).toEqual([plain, strange].toSorted());
      expect(await of({ to: first })).toEqual([]);
      expect(await of({ from: last + 1 })).toEqual([]);
    });

    test("go on where they were, whatever comes meanwhile", async () => {
      const user = await addUser(open(), 100n);
      const ids = [await serve(user.id), await serve(user.id), await serve(user.id)];
      const first = await open().ledgerPage({ userId: user.id, limit: 1 });
      const whole = await open().ledgerPage({ limit: 1 });
      await serve(user.id);
      const second = await open().ledgerPage({ userId: user.id, limit: 5, cursor: first.cursor! });
      expect(idsOf([...first.entries, ...second.entries])).toEqual(expect.arrayContaining(ids));
      const next = await open().ledgerPage({ limit: 5, cursor: whole.cursor! });
      expect(idsOf([...whole.entries, ...next.entries])).toEqual(expect.arrayContaining(ids));
    });

    test("a cursor of somebody else's list shows nothing of it, one that is none is refused", async () => {
      const [user, other] = [await addUser(open(), 100n), await addUser(open(), 100n)];
      for (let turn = 0; turn < 3; turn++) await serve(user.id);
      await serve(other.id);
      for (const query of [{ userId: user.id, limit: 1 }, { limit: 1 }]) {
        const { cursor } = await open().ledgerPage(query);
        for (const filter of [{ userId: other.id }, { userId: "nobody" }]) {
          const asked = Promise.try(() => open().ledgerPage({ ...filter, limit: 9, cursor: cursor! }));
          const entries = await asked.then(
            (page) => page.entries,
            () => [],
          );
          expect(entries.filter(({ userId }) => userId !== filter.userId)).toEqual([]);
        }
      }
      for (const cursor of [
        "",
        "-",
        "x",
        "MQ==",
        "e30",
        "LTE",
        "MS41",
        Buffer.from("9".repeat(400)).toString("base64url"),
      ])
        for (const userId of [user.id, undefined])
          await expect(
            Promise.try(() => open().ledgerPage({ ...(userId !== undefined && { userId }), limit: 1, cursor })),
          ).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      await expect(
        Promise.try(() => open().usage({ per: "day", by: [], ...ALWAYS, limit: 1, cursor: "MQ" })),
      ).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    });
  });

  describe("usage", () => {
    test("adds up to the entries, by everything, in any pages", async () => {
      const step = fc.record({
        user: fc.nat(2),
        what: fc.constantFrom("charge", "charge", "give back", "fail"),
        model: fc.constantFrom("m/1", "m/2", '"a\\b/ü\n\u007f'),
        keyId: fc.constantFrom(null, "key_a", "key_b"),
        upstream: fc.constantFrom(null, "alpha", "beta"),
        tier: fc.constantFrom(undefined, "Lite", "Max", "é/%"),
        tags: fc.constantFrom(undefined, { team: "Lite", "7": "1" }),
        prompt: fc.nat(1_000),
        counts: fc.constantFrom({}, { completion: 0, cached: 0 }, { reasoning: 3, cacheWrite: 5 }),
        charge: fc.bigInt({ min: 0n, max: 2n ** 52n }),
      });
      const by = fc.subarray(["model", "upstream", "tier", "userId", "keyId"] as const);
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 12 }),
          by,
          fc.constantFrom("hour" as const, "day" as const),
          fc.integer({ min: 1, max: 5 }),
          async (steps, by, per, limit) => {
            const store = open();
            const users = await Promise.all(Array.from({ length: 3 }, () => addUser(store, 100n)));
            for (const { user, what, charge, prompt, counts, tier, tags, ...names } of steps) {
              const request = admission(users[user]!.id);
              await store.admit(request);
              const usage = { ...RECORD.usage, ...counts, prompt };
              const outcome = what === "fail" ? ("failed" as const) : ("served" as const);
              const marks = { ...(tier !== undefined && { tier }), ...(tags && { tags }) };
              const record = { ...RECORD, ...names, usage, outcome, ...marks };
              await store.settle(what === "give back" ? givenBack(request) : { ...charged(request, charge), record });
            }
            for (const { id: userId } of users) {
              const { entries } = await allPages(store, { userId, limit: 1_000 });
              const rows = await allUsage(store, { per, by, userId, limit });
              expect(inOrder(rows)).toEqual(usageOf(entries, { per, by }));
              const some = await allUsage(store, { per, by, userId, model: "m/1", keyId: "key_a", limit });
              const among = entries.filter(({ model, keyId }) => model === "m/1" && keyId === "key_a");
              expect(inOrder(some)).toEqual(usageOf(among, { per, by }));
            }
          },
        ),
        { numRuns: Math.min(numRuns, FEW_RUNS) },
      );
    });

    test("of all users is that of each together, the latest first", async () => {
      const store = open();
      const { entries } = await allPages(store, { limit: 1_000 });
      for (const by of [[], ["model"], ["upstream", "tier"], ["userId"], ["keyId", "model"]] as const)
        for (const per of ["hour", "day"] as const) {
          const rows = await allUsage(store, { per, by, limit: 50 });
          expect(inOrder(rows)).toEqual(usageOf(entries, { per, by }));
          const days = rows.map(({ start }) => Math.floor(start / (24 * HOUR_MS)));
          expect(days).toEqual(days.toSorted((a, b) => b - a));
        }
    });

    test("of some time is that of the hours, or days, that begin in it", async () => {
      const store = open();
      const user = await addUser(store, 100n);
      await serve(user.id, {}, 7n);
      const [row] = await allUsage(store, { per: "hour", by: [], userId: user.id, limit: 9 });
      const { start } = row!;
      const of = async (from: number, to: number) =>
        (await store.usage({ per: "hour", by: [], userId: user.id, from, to, limit: 9 })).rows.map(
          ({ charge }) => charge,
        );
      expect(await of(start, start + 1)).toEqual([7n]);
      expect(await of(start + 1, start + HOUR_MS)).toEqual([]);
      expect(await of(start - HOUR_MS, start)).toEqual([]);
      expect(await of(start + 5, start)).toEqual([]);
    });
  });
}
