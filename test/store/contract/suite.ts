import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Admission, Limits, NewKey, OnChange, Refusal, Store, User } from "../../../src/kit/index.ts";
import { codeSuite } from "./codes.ts";
import { familySuite } from "./families.ts";
import { deletionSuite } from "./deletion.ts";
import { idempotencySuite } from "./idempotency.ts";
import { identitySuite } from "./identities.ts";
import { ledgerSuite } from "./ledger.ts";
import { keyBudgetSuite } from "./key-budgets.ts";
import { auditSuite } from "./audit.ts";
import { keyChangeSuite } from "./key-changes.ts";
import { keyLimitSuite } from "./key-limits.ts";
import { stopSuite } from "./stops.ts";
import * as support from "../support.ts";
import { DAY, HOUR, MINUTE, OPEN, RECORD, START, admission, charged, digest, givenBack, unique } from "../support.ts";
import { throttleSuite } from "./throttle.ts";
import { userSuite } from "./users.ts";
import { valueSuite } from "./values.ts";
import { windowCountsSuite } from "./window-counts.ts";
import { RUNS } from "../../properties/runs.ts";

export interface SuiteOptions {
  /** Unix milliseconds; never goes back during a suite. */
  readonly now: () => number;
}

const WAIT = { timeout: 10_000, interval: 20 };
const CODE = { email: "a@example.com", client: "192.0.2.1", tries: 5, triesOfOthers: 3 };

function newKey(userId: string, more: Partial<NewKey> = {}): NewKey {
  const id = unique("key");
  return { id, userId, name: "laptop", prefix: "rk_01234567", digest: digest(id), ...more };
}

/** Leaves out that some may have been missed. */
function appendTo(heard: string[]): OnChange {
  return (userId) => {
    if (userId !== null) heard.push(userId);
  };
}

/**
 * What every store promises (kit/store.ts). `open` gives an empty store.
 * @param numRuns of each property; fewer for one whose code another store has, with each call slower.
 */
export function storeSuite(
  name: string,
  open: (options: SuiteOptions) => Promise<Store>,
  numRuns: number = RUNS,
): void {
  describe(`${name} store`, () => {
    const clock = { now: START };
    let store: Store;
    let user: User;

    beforeAll(async () => {
      store = await open({ now: () => clock.now });
    });
    afterAll(() => store.close());
    beforeEach(async () => {
      // Each test begins with a new day and a new user.
      clock.now += DAY;
      user = await addUser(1_000n);
    });

    const addUser = (credits: bigint) => support.addUser(store, credits);
    const current = async () => (await store.findUser(user.id))!;
    const admit = (more: Parameters<typeof admission>[1] = {}) => {
      const request = admission(user.id, more);
      return Promise.resolve(store.admit(request)).then((result) => ({ request, result }));
    };
    const refusal = async (limits: Limits, hold: bigint) => {
      const { result } = await admit({ limits, hold, stream: true });
      return result.ok ? "ok" : result.refusal;
    };
    const used = async () => {
      const { day, hour, minute } = await store.windows(user.id, OPEN);
      return [day.used, hour.used, minute.used];
    };

    describe("windows", () => {
      test("a user without requests has used nothing, and neither has an unknown one", async () => {
        const limits: Limits = { day: 50, hour: null, minute: 100, streams: 5 };
        const now = clock.now;
        const expected = {
          day: { used: 0, limit: 50, resetsAt: now - (now % DAY) + DAY },
          hour: { used: 0, limit: null, resetsAt: now - (now % HOUR) + HOUR },
          minute: { used: 0, limit: 100, resetsAt: now - (now % MINUTE) + MINUTE },
        };
        expect(await store.windows(user.id, limits)).toEqual(expected);
        expect(await store.windows("user_nobody", limits)).toEqual(expected);
      });

      test("an admission counts its units for the day and 1 for hour and minute", async () => {
        const limits = { day: 50, hour: 40, minute: 30, streams: 5 };
        const { result } = await admit({ units: 5, limits });
        expect(result).toEqual({ ok: true, stopToken: 0, windows: await store.windows(user.id, limits) });
        expect(result.windows.day).toMatchObject({ used: 5, limit: 50 });
        expect(result.windows.hour).toMatchObject({ used: 1, limit: 40 });
        expect(result.windows.minute).toMatchObject({ used: 1, limit: 30 });
      });

      test("without a limit requests still count", async () => {
        await admit();
        await admit({ units: 3 });
        expect(await used()).toEqual([4, 2, 2]);
      });

      test("each window ends at its edge, not before", async () => {
        await admit();
        for (const [length, expected] of [
          [MINUTE, [1, 1, 0]],
          [HOUR, [1, 0, 0]],
          [DAY, [0, 0, 0]],
        ] as const) {
          const { minute, hour, day } = await store.windows(user.id, OPEN);
          const edge = { [MINUTE]: minute, [HOUR]: hour, [DAY]: day }[length]!.resetsAt;
          const before = await used();
          clock.now = edge - 1;
          expect((await used())[length === MINUTE ? 2 : length === HOUR ? 1 : 0]).toBe(1);
          clock.now = edge;
          expect(await used(), `after ${before} at the edge`).toEqual(expected);
        }
      });

      test("a full window refuses until it ends and then starts from 0", async () => {
        const limits = { ...OPEN, minute: 2 };
        await admit({ limits });
        await admit({ limits });
        const { result } = await admit({ limits });
        expect(result).toMatchObject({ ok: false, refusal: "minute", windows: { minute: { used: 2, limit: 2 } } });
        clock.now = result.windows.minute.resetsAt;
        const next = await admit({ limits });
        expect(next.result).toMatchObject({ ok: true, windows: { minute: { used: 1 }, hour: { used: 3 } } });
      });

      test("a tier's limits are those of the call: a lower limit than the use refuses, a higher one admits again", async () => {
        await admit({ limits: { ...OPEN, day: 5 }, units: 5 });
        expect((await admit({ limits: { ...OPEN, day: 3 } })).result).toMatchObject({ ok: false, refusal: "day" });
        expect((await admit({ limits: { ...OPEN, day: 6 } })).result.ok).toBe(true);
      });
    });

    describe("refusals", () => {
      test("a refusal changes nothing", async () => {
        await admit({ stream: true, hold: 400n });
        const before = [await current(), await used(), await store.running(user.id)];
        const refused: readonly [Refusal, Parameters<typeof admit>[0]][] = [
          ["credits", { hold: 601n }],
          ["day", { limits: { ...OPEN, day: 1 } }],
          ["hour", { limits: { ...OPEN, hour: 1 } }],
          ["minute", { limits: { ...OPEN, minute: 1 } }],
          ["streams", { stream: true, limits: { ...OPEN, streams: 1 } }],
        ];
        for (const [refusal, more] of refused) {
          const { result } = await admit(more);
          expect(result).toEqual({ ok: false, refusal, windows: await store.windows(user.id, more!.limits ?? OPEN) });
        }
        expect([await current(), await used(), await store.running(user.id)]).toEqual(before);
        expect(await store.ledger(user.id)).toEqual([]);
      });

      test("they are told in the order credits, day, hour, minute, streams", async () => {
        const none: Limits = { day: 0, hour: 0, minute: 0, streams: 0 };
        expect(await refusal(none, 1_001n)).toBe("credits");
        expect(await refusal(none, 1_000n)).toBe("day");
        expect(await refusal({ ...none, day: null }, 0n)).toBe("hour");
        expect(await refusal({ ...none, day: null, hour: null }, 0n)).toBe("minute");
        expect(await refusal({ ...OPEN, streams: 0 }, 0n)).toBe("streams");
        expect(await refusal(OPEN, 1_000n)).toBe("ok");
      });

      test("fewer units left than needed refuse; exactly as many admit", async () => {
        const limits = { ...OPEN, day: 7 };
        await admit({ limits, units: 3 });
        expect((await admit({ limits, units: 5 })).result).toMatchObject({ ok: false, refusal: "day" });
        expect((await admit({ limits, units: 4 })).result).toMatchObject({ ok: true, windows: { day: { used: 7 } } });
      });

      test("only streams take stream slots", async () => {
        const limits = { ...OPEN, streams: 1 };
        expect((await admit({ limits, stream: true })).result.ok).toBe(true);
        expect((await admit({ limits, stream: false })).result.ok).toBe(true);
        expect((await admit({ limits, stream: true })).result).toMatchObject({ ok: false, refusal: "streams" });
      });

      test("an unknown user is not admitted", async () => {
        await expect((async () => store.admit(admission("user_nobody")))()).rejects.toThrow("user_nobody");
      });
    });

    describe("credits", () => {
      test("running holds are not available; a charge replaces its hold", async () => {
        const first = await admit({ hold: 700n });
        expect((await admit({ hold: 301n })).result).toMatchObject({ ok: false, refusal: "credits" });
        const second = await admit({ hold: 300n });
        expect(second.result.ok).toBe(true);
        expect(await current()).toMatchObject({ balance: 1_000n, held: 1_000n, granted: 1_000n });
        await store.settle(charged(first.request, 650n));
        expect(await current()).toMatchObject({ balance: 350n, held: 300n, granted: 1_000n });
        await store.settle(charged(second.request, 350n));
        expect(await current()).toMatchObject({ balance: 0n, held: 0n, granted: 1_000n });
      });

      test("the balance falls below zero only by what a request exceeds its hold", async () => {
        const { request } = await admit({ hold: 1_000n });
        await store.settle(charged(request, 1_200n));
        expect(await current()).toMatchObject({ balance: -200n, held: 0n });
        expect((await admit({ hold: 1n })).result).toMatchObject({ ok: false, refusal: "credits" });
      });

      test("nothing to hold needs no credits", async () => {
        await store.grant(user.id, -5_000n);
        expect((await admit({ hold: 0n })).result.ok).toBe(true);
      });

      test("not enforced: the hold is recorded and nobody is refused", async () => {
        expect((await admit({ hold: 5_000n, enforceCredits: false })).result.ok).toBe(true);
        expect(await current()).toMatchObject({ balance: 1_000n, held: 5_000n });
      });

      describe("less than the longest answer costs", () => {
        const longest = { hold: 10n, fullHold: 1_001n };

        test("all that is left is held, so that one request runs at a time", async () => {
          const { request, result } = await admit(longest);
          expect(result.ok).toBe(true);
          expect(await current()).toMatchObject({ balance: 1_000n, held: 1_000n });
          expect((await store.running(user.id)).held).toBe(1_000n);
          expect((await admit(longest)).result).toMatchObject({ ok: false, refusal: "credits" });
          await store.settle(charged(request, 1_200n));
          expect(await current()).toMatchObject({ balance: -200n, held: 0n });
        });

        test("of 100 requests at once one is admitted; a request without credits to hold runs beside it", async () => {
          const all = await Promise.all(Array.from({ length: 100 }, () => admit(longest)));
          expect(all.filter(({ result }) => result.ok)).toHaveLength(1);
          expect((await admit({ hold: 0n, fullHold: 1_001n })).result.ok).toBe(true);
          expect((await current()).held).toBe(1_000n);
        });

        test("the hold is the usual one while as much is left, and where credits are not enforced", async () => {
          await admit({ hold: 10n, fullHold: 1_000n });
          expect((await current()).held).toBe(10n);
          await admit({ ...longest, enforceCredits: false });
          expect((await current()).held).toBe(20n);
          await admit({ hold: 10n, fullHold: 990n });
          expect((await current()).held).toBe(1_000n);
        });

        test("amounts beyond what a double holds stay exact", async () => {
          const left = 2_000_000_000_000_000_001n;
          const rich = await addUser(left);
          await store.admit(admission(rich.id, { hold: 1n, fullHold: left + 1n }));
          expect((await store.findUser(rich.id))?.held).toBe(left);
        });

        test("a repeated admission holds no more", async () => {
          const { request } = await admit(longest);
          expect(await store.admit(request)).toMatchObject({ ok: true });
          expect((await current()).held).toBe(1_000n);
        });
      });

      test("amounts beyond what a double holds stay exact", async () => {
        const large = 2_000_000_000_000_000_001n;
        const rich = await addUser(large);
        const request = admission(rich.id, { hold: 1_000_000_000_000_000_003n });
        await store.admit(request);
        await store.settle(charged(request, 999_999_999_999_999_999n));
        expect(await store.findUser(rich.id)).toMatchObject({ balance: 1_000_000_000_000_000_002n, granted: large });
        expect((await store.ledger(rich.id))[0]!.charge).toBe(999_999_999_999_999_999n);
      });

      test("of 100 concurrent requests on a balance for one, one is admitted", async () => {
        const all = await Promise.all(Array.from({ length: 100 }, () => admit({ hold: 1_000n })));
        expect(all.filter(({ result }) => result.ok)).toHaveLength(1);
        expect(new Set(all.map(({ result }) => (result.ok ? "ok" : result.refusal)))).toEqual(
          new Set(["ok", "credits"]),
        );
      });
    });

    describe("settlement", () => {
      test("writes one ledger entry and releases slot and hold", async () => {
        const { request } = await admit({ stream: true, hold: 40n });
        expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 40n });
        await store.settle(charged(request, 25n));
        expect(await store.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
        const entry = { ...RECORD, id: request.id, userId: user.id, charge: 25n };
        expect(await store.ledger(user.id)).toEqual([entry]);
        expect(await used()).toEqual([1, 1, 1]);
      });

      test("keeps nulls, flags, tags and tier of a record", async () => {
        const { request } = await admit();
        const tags = { team: "blue", ü: '"{', __proto__: "x" };
        const record = {
          ...RECORD,
          keyId: null,
          upstream: null,
          estimated: true,
          outcome: "killed",
          tags,
          tier: "Lite",
        } as const;
        await store.settle({ ...charged(request, 0n), record });
        expect(await store.ledger(user.id)).toEqual([{ ...record, id: request.id, userId: user.id, charge: 0n }]);
      });

      test("repeated and concurrent calls change nothing", async () => {
        const { request } = await admit({ stream: true, hold: 40n });
        await Promise.all([25n, 25n, 30n].map(async (charge) => store.settle(charged(request, charge))));
        await store.settle(charged(request, 25n));
        await store.settle(givenBack(request));
        expect(await store.ledger(user.id)).toHaveLength(1);
        expect(await current()).toMatchObject({ balance: 975n, held: 0n });
        expect(await used()).toEqual([1, 1, 1]);
      });

      test.each([
        ["charged", (request: Admission) => charged(request, 25n)],
        ["without a charge", (request: Admission) => charged(request, 0n)],
        ["given back", givenBack],
        ["given back with a record", (request: Admission) => ({ ...givenBack(request), record: RECORD })],
      ])("%s: says once that it changed something, to concurrent calls too", async (_, settled) => {
        const { request } = await admit({ stream: true, hold: 40n });
        const calls = [1, 2, 3].map(async () => store.settle(settled(request)));
        expect((await Promise.all(calls)).filter(Boolean)).toEqual([true]);
        for (const one of [settled(request), charged(request, 25n), givenBack(request)])
          expect(await store.settle(one)).toBe(false);
        expect(await store.settle(settled(admission(user.id))), "nobody admitted it").toBe(false);
      });

      test("an admission that is repeated counts once, also as the last that fits", async () => {
        const limits: Limits = { day: 1, hour: 1, minute: 1, streams: 1 };
        const request = admission(user.id, { limits, stream: true, hold: 600n });
        expect(await store.admit(request)).toMatchObject({ ok: true });
        expect(await store.admit(request)).toMatchObject({ ok: true, windows: { day: { used: 1 } } });
        expect(await store.admit({ ...request, limits: OPEN, hold: 10n })).toMatchObject({ ok: true });
        expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 600n });
      });

      test("given back: counters, slot and hold are as if the request had never been", async () => {
        const { request } = await admit({ stream: true, hold: 40n, units: 5 });
        await store.settle(givenBack(request));
        expect(await used()).toEqual([0, 0, 0]);
        expect(await current()).toMatchObject({ balance: 1_000n, held: 0n });
        expect(await store.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
        expect(await store.ledger(user.id)).toEqual([]);
        await store.settle(charged(request, 25n));
        expect(await current(), "a settlement after it").toMatchObject({ balance: 1_000n });
      });

      describe("released while its charge is still to be found out", () => {
        const limits = { ...OPEN, streams: 1 };

        test("slot and hold are free at once, the counts stay, and the charge comes once", async () => {
          const { request } = await admit({ stream: true, hold: 1_000n, units: 5, limits });
          const windows = await used();
          await store.release(request);
          expect(await store.running(user.id)).toEqual({ requests: 1, streams: 0, held: 0n });
          expect(await current()).toMatchObject({ balance: 1_000n, held: 0n });
          expect(await used()).toEqual(windows);
          expect((await admit({ stream: true, hold: 1_000n, limits })).result.ok).toBe(true);
          expect(await store.settle(charged(request, 70n))).toBe(true);
          expect(await store.settle(charged(request, 70n))).toBe(false);
          expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 1_000n });
          expect(await current()).toMatchObject({ balance: 930n, held: 1_000n });
          expect(await store.ledger(user.id)).toMatchObject([{ id: request.id, charge: 70n }]);
        });

        test("once is as often as twice, and what is settled, or another user's, stays as it is", async () => {
          const [one, other] = [
            (await admit({ stream: true, hold: 400n })).request,
            (await admit({ hold: 40n })).request,
          ];
          await store.release(one);
          await store.release(one);
          await store.release({ id: other.id, userId: "user_nobody" });
          expect(await store.running(user.id)).toEqual({ requests: 2, streams: 0, held: 40n });
          await store.settle(givenBack(one));
          await store.release(one);
          await store.release({ id: "ex_nobody", userId: user.id });
          expect(await store.running(user.id)).toEqual({ requests: 1, streams: 0, held: 40n });
          expect(await used()).toEqual([1, 1, 1]);
        });

        test("its user's stop counts it no more", async () => {
          const { request } = await admit({ stream: true });
          await store.release(request);
          expect(await store.stopStreams(user.id)).toMatchObject({ streams: 0 });
          await store.settle(charged(request, 1n));
        });
      });

      test("given up unanswered: slot and hold are free, the counts stay, the record costs nothing", async () => {
        const { request } = await admit({ stream: true, hold: 40n, units: 5 });
        const record = { ...RECORD, upstream: null, outcome: "client_gone" as const };
        expect(await store.settle({ id: request.id, userId: user.id, giveBack: false, charge: 0n, record })).toBe(true);
        expect(await used()).toEqual([5, 1, 1]);
        expect(await current()).toMatchObject({ balance: 1_000n, held: 0n });
        expect(await store.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
        expect(await store.ledger(user.id)).toEqual([{ ...record, id: request.id, userId: user.id, charge: 0n }]);
        expect(await store.settle(givenBack(request)), "once").toBe(false);
        expect(await used()).toEqual([5, 1, 1]);
      });

      test("units go back only to the window they were counted in", async () => {
        const { request } = await admit({ units: 5 });
        clock.now += HOUR;
        await admit();
        await store.settle(givenBack(request));
        expect(await used(), "same day, another hour").toEqual([1, 1, 1]);
        const late = await admit({ units: 5 });
        clock.now += DAY;
        await admit();
        await store.settle(givenBack(late.request));
        expect(await used(), "another day").toEqual([1, 1, 1]);
      });

      test.each([
        ["of a speech", { characters: 5_000 }, { characters: 5_000 }],
        ["of a transcription, with text", { milliseconds: 90_500, characters: 0 }, { milliseconds: 90_500 }],
        ["of images", { images: 3 }, { images: 3 }],
        [
          "of all kinds",
          { characters: 1, milliseconds: 2 ** 40, images: 3, cacheWrite: 7, cacheWrite1h: 5 },
          undefined,
        ],
      ])("a record keeps units %s; of none it says nothing", async (_, units, kept) => {
        const { request } = await admit();
        const usage = { ...RECORD.usage, ...units };
        await store.settle({ ...charged(request, 1n), record: { ...RECORD, usage } });
        const [entry] = await store.ledger(user.id);
        expect(entry!.usage).toStrictEqual({ ...RECORD.usage, ...(kept ?? units) });
      });

      test("a record of a request given back is kept without its units", async () => {
        const { request } = await admit({ units: 5 });
        await store.settle({ ...givenBack(request), record: { ...RECORD, outcome: "failed" } });
        expect(await used()).toEqual([0, 0, 0]);
        expect(await store.ledger(user.id)).toMatchObject([{ outcome: "failed", charge: 0n }]);
      });

      test("a charge that is negative or has no record is refused and changes nothing", async () => {
        const { request } = await admit({ hold: 40n });
        for (const wrong of [charged(request, -1n), { ...charged(request, 5n), record: null }]) {
          await expect(Promise.resolve(store.settle(wrong))).rejects.toThrow(RangeError);
        }
        expect(await current()).toMatchObject({ balance: 1_000n, held: 40n });
        await store.settle(charged(request, 5n));
        expect(await current()).toMatchObject({ balance: 995n, held: 0n });
      });

      test("the ledger lists the oldest first and one user's only", async () => {
        const other = await addUser(0n);
        const requests = await Promise.all([admit(), admit(), admit()]);
        for (const [index, { request }] of requests.entries()) {
          await store.settle({ ...charged(request, 1n), record: { ...RECORD, endedAt: START - index } });
        }
        const ids = (await store.ledger(user.id)).map((entry) => entry.id);
        expect(ids).toEqual(requests.map(({ request }) => request.id).toReversed());
        expect(await store.ledger(other.id)).toEqual([]);
      });
    });

    describe("under concurrency", () => {
      test("500 requests on a limit of 100: exactly 100", async () => {
        for (const window of ["day", "hour", "minute"] as const) {
          clock.now += DAY;
          const limits = { ...OPEN, [window]: 100 };
          const all = await Promise.all(Array.from({ length: 500 }, () => admit({ limits })));
          expect(all.filter(({ result }) => result.ok)).toHaveLength(100);
          expect((await store.windows(user.id, limits))[window].used).toBe(100);
        }
      });

      test("500 streams on 5 slots: exactly 5, and 5 more once they have ended", async () => {
        const limits = { ...OPEN, streams: 5 };
        for (const round of [1, 2]) {
          const all = await Promise.all(Array.from({ length: 500 }, () => admit({ limits, stream: true })));
          const running = all.filter(({ result }) => result.ok);
          expect(running, `round ${round}`).toHaveLength(5);
          expect(await store.running(user.id)).toMatchObject({ streams: 5 });
          await Promise.all(running.map(async ({ request }) => store.settle(charged(request, 0n))));
        }
        expect(await used()).toEqual([10, 10, 10]);
      });

      test("users do not share limits", async () => {
        const limits = { ...OPEN, day: 3 };
        const users = await Promise.all([addUser(0n), addUser(0n)]);
        const admissions = users.flatMap(({ id }) => Array.from({ length: 10 }, () => admission(id, { limits })));
        await Promise.all(admissions.map(async (request) => store.admit(request)));
        for (const { id } of users) expect((await store.windows(id, limits)).day.used).toBe(3);
      });

      test("one that fails does not take its neighbours along", async () => {
        const good = Array.from({ length: 3 }, () => admission(user.id));
        const [bad, ...rest] = await Promise.allSettled([
          (async () => store.admit(admission("user_nobody")))(),
          ...good.map(async (request) => store.admit(request)),
        ]);
        expect(bad.status).toBe("rejected");
        expect(rest.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
        expect(await used()).toEqual([3, 3, 3]);
      });
    });

    describe("users", () => {
      test("are found by id and by address in any case", async () => {
        const id = unique("user");
        const email = `${id}@Example.com`;
        const added = await store.addUser({ id, email, tier: "Lite", credits: 5n });
        expect(added).toEqual({
          id,
          email,
          tier: "Lite",
          balance: 5n,
          held: 0n,
          granted: 5n,
          charged: 0n,
          createdAt: clock.now,
        });
        for (const name of [id, email, email.toUpperCase()]) expect(await store.findUser(name)).toEqual(added);
        for (const name of ["", "user_nobody", "%", "nobody@example.com"])
          expect(await store.findUser(name)).toBeNull();
      });

      test("an address belongs to one user, whatever its case", async () => {
        const again = { id: unique("user"), email: user.email.toUpperCase(), tier: "Free", credits: 9n };
        expect(await store.addUser(again)).toBeNull();
        expect(await store.findUser(again.id)).toBeNull();
        expect(await current()).toEqual(user);
      });

      test("50 concurrent sign-ups with one address make one user", async () => {
        const email = `${unique("one")}@example.com`;
        const all = await Promise.all(
          Array.from({ length: 50 }, async () =>
            store.addUser({ id: unique("user"), email, tier: "Free", credits: 1n }),
          ),
        );
        expect(all.filter((added) => added !== null)).toHaveLength(1);
      });

      test("are listed, the oldest first", async () => {
        clock.now += 1;
        const later = await addUser(0n);
        const all = await store.listUsers();
        expect(all.slice(-2)).toEqual([user, later]);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      });

      test("change their tier, which their keys follow", async () => {
        const key = newKey(user.id);
        await store.addKey(key, 50);
        expect(await store.setTier(user.id, "Max")).toEqual({ ...user, tier: "Max" });
        expect(await store.principalByDigest(key.digest)).toMatchObject({ tier: "Max" });
        expect(await store.setTier("user_nobody", "Max")).toBeNull();
      });

      test("are granted and taken credits", async () => {
        expect(await store.grant(user.id, 500n)).toMatchObject({ balance: 1_500n, granted: 1_500n });
        expect(await store.grant(user.id, -2_000n)).toMatchObject({ balance: -500n, granted: -500n });
        expect(await store.grant("user_nobody", 1n)).toBeNull();
        expect(await store.grant(user.email, 1n), "by id only").toBeNull();
      });

      test("never own more than integers can hold", async () => {
        const most = await store.grant(user.id, 2n ** 61n - 1_001n);
        expect(most!.balance).toBe(2n ** 61n - 1n);
        for (const amount of [1n, 2n ** 63n, 2n ** 70n]) {
          await expect((async () => store.grant(user.id, amount))()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
        }
        expect(await current()).toEqual(most);
      });
    });

    describe("keys", () => {
      test("name their user, tier and themselves until they are revoked", async () => {
        const key = newKey(user.id);
        const { digest, ...listed } = key;
        const added = await store.addKey(key, 50);
        expect(added).toEqual({ ...listed, createdAt: clock.now, lastUsedAt: null });
        expect(await store.principalByDigest(digest)).toMatchObject({ userId: user.id, tier: "Free", keyId: key.id });
        expect(await store.listKeys(user.id)).toEqual([added]);
        expect(await store.revokeKey(key.id)).toBe(true);
        expect(await store.principalByDigest(digest)).toBeNull();
        expect(await store.listKeys(user.id)).toEqual([]);
        expect(await store.revokeKey(key.id), "a second time").toBe(false);
      });

      test("unknown digests have no principal", async () => {
        await store.addKey(newKey(user.id), 50);
        for (const unknown of [digest("nothing"), new Uint8Array(32), new Uint8Array(0)]) {
          expect(await store.principalByDigest(unknown)).toBeNull();
        }
      });

      test("are revoked only for their user when one is named", async () => {
        const other = await addUser(0n);
        const key = newKey(user.id);
        await store.addKey(key, 50);
        expect(await store.revokeKey(key.id, other.id)).toBe(false);
        expect(await store.principalByDigest(key.digest)).not.toBeNull();
        expect(await store.revokeKey(key.id, user.id)).toBe(true);
        expect(await store.revokeKey("key_nothing")).toBe(false);
      });

      test("at most `maximum` live ones, also when they are made at once", async () => {
        const keys = Array.from({ length: 8 }, () => newKey(user.id));
        const added = await Promise.all(keys.map(async (key) => store.addKey(key, 5)));
        const made = added.filter((key) => key !== null);
        expect(made).toHaveLength(5);
        expect(await store.addKey(newKey(user.id), 5)).toBeNull();
        await store.revokeKey(made[0]!.id);
        expect(await store.addKey(newKey(user.id), 5)).not.toBeNull();
      });

      test("keep names as they are", async () => {
        const names = ["', DROP TABLE users; --", "名前 🔑", "a\u0000b\r\nc", "%_\\", "x".repeat(100)];
        for (const name of names) await store.addKey(newKey(user.id, { name }), 50);
        expect(new Set((await store.listKeys(user.id)).map((key) => key.name))).toEqual(new Set(names));
      });

      test("remember their last use, never an earlier one", async () => {
        const [a, b] = [newKey(user.id), newKey(user.id)];
        await store.addKey(a, 50);
        await store.addKey(b, 50);
        await store.touchKeys(
          new Map([
            [a.id, 500],
            ["key_nothing", 700],
          ]),
        );
        await store.touchKeys(new Map([[a.id, 400]]));
        await store.touchKeys(new Map());
        const uses = (await store.listKeys(user.id)).map((key) => [key.id, key.lastUsedAt]);
        expect(new Map(uses as [string, number | null][])).toEqual(
          new Map([
            [a.id, 500],
            [b.id, null],
          ]),
        );
      });

      test("of an unknown user are not made", async () => {
        await expect((async () => store.addKey(newKey("user_nobody"), 50))()).rejects.toThrow("user_nobody");
      });
    });

    describe("principals", () => {
      test("of an access token are the user as it is now", async () => {
        expect(await store.principalOf(user.id)).toMatchObject({ userId: user.id, tier: "Free", keyId: null });
        await store.setTier(user.id, "Max");
        expect(await store.principalOf(user.id)).toMatchObject({ userId: user.id, tier: "Max", keyId: null });
        for (const nobody of ["user_nobody", "", user.email]) expect(await store.principalOf(nobody)).toBeNull();
      });

      test("are admitted under the version in force, whatever has changed before", async () => {
        const key = newKey(user.id);
        const changes = [
          () => store.addKey(key, 50),
          () => store.setTier(user.id, "Max"),
          () => store.grant(user.id, 5n),
          () => store.revokeKey(key.id),
        ];
        for (const change of changes) {
          await change();
          const version = (await store.principalOf(user.id))?.version;
          expect((await admit({ version })).result).toMatchObject({ ok: true });
        }
      });
    });

    describe("instances", () => {
      test("are told of with what they last said, as long as they said", async () => {
        const [a, b] = [unique("instance"), unique("instance")];
        const said = async () => {
          const all = await store.listInstances();
          return [all.get(a), all.get(b)];
        };
        await store.publishInstance(a, '{"one":1}', MINUTE);
        await store.publishInstance(b, "名前\r\n\u0000", 2 * MINUTE);
        await store.publishInstance(a, "", MINUTE);
        expect(await said()).toEqual(["", "名前\r\n\u0000"]);
        clock.now += MINUTE;
        expect(await said(), "a has said nothing since").toEqual([undefined, "名前\r\n\u0000"]);
        clock.now += MINUTE;
        expect(await said()).toEqual([undefined, undefined]);
      });

      test("hear what is broadcast, their own included, until they let go", async () => {
        const heard: string[] = [];
        const letGo = store.onBroadcast((text) => heard.push(text));
        const text = unique("名前\n");
        await vi.waitFor(async () => {
          await store.broadcast(text);
          expect(heard).toContain(text);
        }, WAIT);
        letGo();
        const count = heard.length;
        await store.broadcast(text);
        await store.ping();
        expect(heard.length).toBe(count);
      });

      test("that ran nothing are buried without a trace", async () => {
        const { request } = await admit({ stream: true, hold: 40n });
        await store.markInstanceDead(unique("instance"));
        expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 40n });
        await store.settle(charged(request, 25n));
        expect(await current()).toMatchObject({ balance: 975n, held: 0n });
      });
    });

    test("who hears of stops may let go, and again", async () => {
      const letGo = store.onStop(() => {});
      letGo();
      letGo();
      expect(await store.stopStreams(user.id)).toMatchObject({ token: 1 });
    });

    test("a changed tier and a revoked key are heard of until one lets go, what is refused is not", async () => {
      const other = await addUser(0n);
      const [heard, last] = [[] as string[], [] as string[]];
      const letGo = store.onChange(appendTo(heard));
      const letLastGo = store.onChange(appendTo(last));
      const begun = async () => {
        await store.setTier(other.id, "Max");
        return heard.length > 0 && last.length > 0;
      };
      await expect.poll(begun, { timeout: 10_000 }).toBe(true);
      const key = newKey(user.id);
      await store.addKey(key, 50);
      expect(await store.revokeKey(key.id, other.id)).toBe(false);
      expect(await store.setTier("user_nobody", "Max")).toBeNull();
      expect(await store.revokeKey(key.id, user.id)).toBe(true);
      expect(await store.revokeKey(key.id)).toBe(false);
      // The nodes of a Cluster pass pushes on in no order: what is counted is the pushes about one user.
      const others = countOf(heard, other.id);
      await store.setTier(other.id, "Lite");
      await expect
        .poll(() => countOf(heard, user.id) > 0 && countOf(heard, other.id) > others, { timeout: 10_000 })
        .toBe(true);
      expect([countOf(heard, user.id), countOf(heard, "user_nobody")]).toEqual([1, 0]);
      letGo();
      letGo();
      const before = heard.length;
      await store.setTier(user.id, "Lite");
      await expect.poll(() => countOf(last, user.id), { timeout: 10_000 }).toBe(2);
      expect(heard).toHaveLength(before);
      letLastGo();
    });

    test("remembers the first value of a name", async () => {
      const name = unique("made").replace("_", "-");
      const values = await Promise.all(["one", "two"].map(async (value) => store.remember(name, value)));
      expect(values).toEqual(["one", "one"]);
      expect(await store.remember(name, "three")).toBe("one");
      expect(await store.remember(`${name}-b`, "four")).toBe("four");
    });

    test("answers a ping", async () => {
      await expect((async () => store.ping())()).resolves.toBeUndefined();
    });

    stopSuite(() => store);
    auditSuite(() => store, clock);
    userSuite(() => store, clock, numRuns);
    keyLimitSuite(() => store, clock);
    keyChangeSuite(() => store, clock);
    deletionSuite(() => store, clock);
    ledgerSuite(() => store, numRuns);
    keyBudgetSuite(() => store, clock, numRuns);
    throttleSuite(() => store, clock, numRuns);
    valueSuite(() => store, clock, numRuns);
    windowCountsSuite(() => store, clock, numRuns);
    codeSuite(() => store, clock, numRuns);
    familySuite(() => store, clock, numRuns);
    identitySuite(() => store);
    idempotencySuite(() => store, clock, numRuns);
  });

  test(`${name} store: after close everything is STORE_UNAVAILABLE, and closing again is nothing`, async () => {
    const store = await open({ now: () => START });
    const user = (await store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n }))!;
    const waiting = Promise.resolve(store.admit(admission(user.id)));
    await store.close();
    await store.close();
    await expect(waiting, "taken before the close").resolves.toMatchObject({ ok: true });
    const calls: readonly (() => unknown)[] = [
      () => store.admit(admission(user.id)),
      () => store.settle(givenBack(admission(user.id))),
      () => store.windows(user.id, OPEN),
      () => store.running(user.id),
      () => store.principalByDigest(new Uint8Array(32)),
      () => store.principalOf(user.id),
      () => store.touchKeys(new Map([["key_1", 1]])),
      () => store.addUser({ id: "user_2", email: "b@example.com", tier: "Free", credits: 0n }),
      () => store.findUser(user.id),
      () => store.listUsers(),
      () => store.setTier(user.id, "Max"),
      () => store.grant(user.id, 1n),
      () => store.findUsers({ limit: 1 }),
      () => store.setDisabled(user.id, true),
      () => store.listGrants(user.id, { limit: 1, after: null }),
      () => store.addKey(newKey(user.id), 50),
      () => store.listKeys(user.id),
      () => store.revokeKey("key_1"),
      () => store.ledger(user.id),
      () => store.stopStreams(user.id),
      () => store.stopTokens([user.id]),
      () => store.throttle([{ name: "a", limit: 1 }], MINUTE),
      () => store.addCounts({ name: "a", length: MINUTE, endsAt: START + MINUTE }, [{ name: "a", uses: 1 }]),
      () => store.putCode({ ...CODE, digest: digest("1"), expiresAt: START + 1 }),
      () => store.takeCode("a@example.com", "192.0.2.1", [digest("1")]),
      () => store.addFamily({ id: "fam_1", userId: user.id, digest: digest("1"), expiresAt: START + 1 }),
      () => store.rotate({ digest: digest("1"), successor: digest("2"), grace: 0 }),
      () => store.endFamily(digest("1")),
      () => store.findIdentity("https://id.example", "1"),
      () => store.linkIdentity("https://id.example", "1", user.id),
      () => store.claimKey({ userId: user.id, digest: "d", fingerprint: "f", id: "ex_1", requestId: "r" }, MINUTE),
      () => store.forgetKeys(user.id),
      () => store.markInstanceDead("instance_1"),
      () => store.publishInstance("one", "{}", 1_000),
      () => store.listInstances(),
      () => store.remember("made", "x"),
      () => store.ping(),
    ];
    for (const call of calls) {
      const unavailable = { code: "STORE_UNAVAILABLE", details: { retryAfter: 1 } };
      await expect((async () => call())(), `after close: ${call}`).rejects.toMatchObject(unavailable);
    }
  });
}

function countOf(list: readonly string[], id: string): number {
  return list.filter((one) => one === id).length;
}
