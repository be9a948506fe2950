import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Limits, Store } from "../../../src/kit/index.ts";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { countsOf, LocalView } from "../../../src/store/resilient/local-view.ts";
import type { StoreState } from "../../../src/store/resilient/store.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { windowStates } from "../../../src/store/windows.ts";
import { RUNS } from "../../properties/runs.ts";
import { resilient, until } from "./support.ts";
import {
  DAY,
  HOUR,
  MINUTE,
  OPEN,
  RECORD,
  START,
  addUser,
  admission,
  charged,
  digest,
  givenBack,
  unique,
} from "../support.ts";

const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };

test("closed: a store that is away refuses, and windows fail", async () => {
  const { user, open, away } = await resilient();
  const store = open();
  away(true);
  await expect(store.admit(admission(user.id))).rejects.toMatchObject(UNAVAILABLE);
  await expect(store.windows(user.id, OPEN)).rejects.toMatchObject(UNAVAILABLE);
});

async function opened(more: Parameters<typeof resilient>[0] = {}) {
  const parts = await resilient({ onFailure: () => "open", ...more });
  return { ...parts, store: parts.open() };
}

const limit = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: null, freq: 4 });
const window = (max: number) => fc.record({ window: fc.integer({ min: 1, max }), used: fc.nat() });

describe("open, while the store is away", () => {
  test("a limit that was nearly used up stays so, and windows say it", async () => {
    const { user, store, away } = await opened();
    const limits: Limits = { ...OPEN, day: 5 };
    for (let turn = 0; turn < 3; turn++) await store.admit(admission(user.id, { limits }));
    away(true);
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({
      ok: true,
      windows: { day: { used: 4 } },
    });
    expect(await store.admit(admission(user.id, { limits, units: 2 }))).toMatchObject({ ok: false, refusal: "day" });
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({
      ok: true,
      windows: { day: { used: 5 } },
    });
    expect(await store.windows(user.id, limits)).toMatchObject({ day: { used: 5, limit: 5 } });
    await expect((async () => store.running(user.id))()).rejects.toMatchObject(UNAVAILABLE);
  });

  test.each(["total", "day"] as const)("what is charged is taken from the budget of its key (%s)", async (per) => {
    const { user, store, inner, away } = await opened();
    const [keyId, amount] = [unique("key"), 100n];
    const limits = { budget: { amount, per } };
    inner.addKey({ id: keyId, userId: user.id, name: "n", prefix: "rk_0", digest: digest(keyId), limits }, 50);
    const request = () => admission(user.id, { hold: 60n, enforceCredits: false, budget: { keyId, amount, per } });
    const [before, during] = [request(), [request(), request()]];
    await store.admit(before);
    away(true);
    for (const one of during) expect(await store.admit(one)).toMatchObject({ ok: true });
    for (const one of [before, ...during]) {
      await store.settle({ ...charged(one, 50n), record: { ...RECORD, receivedAt: START }, budget: { keyId, per } });
    }
    away(false);
    await until(() => store.pending === 0);
    expect(inner.listKeys(user.id)[0]?.budget).toMatchObject({ spent: 150n, held: 0n });
    expect(await store.admit(request())).toMatchObject({ ok: false, refusal: "budget" });
  });

  test("a refusal of the store is remembered as well", async () => {
    const { user, store, inner, away } = await opened();
    const limits: Limits = { ...OPEN, minute: 1 };
    await inner.admit(admission(user.id, { limits }));
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({ ok: false });
    away(true);
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({ ok: false, refusal: "minute" });
  });

  test("streams that the store admitted keep their slots, and settling frees them", async () => {
    const { user, store, away } = await opened();
    const limits: Limits = { ...OPEN, streams: 2 };
    const stream = () => admission(user.id, { limits, stream: true });
    const [before, during, beyond, after] = [stream(), stream(), stream(), stream()];
    await store.admit(before);
    away(true);
    expect(await store.admit(during)).toMatchObject({ ok: true });
    expect(await store.admit(beyond)).toMatchObject({ ok: false, refusal: "streams" });
    await store.settle(charged(before, 1n));
    expect(await store.admit(after)).toMatchObject({ ok: true });
    expect(await store.admit(after), "repeated").toMatchObject({ ok: true, windows: { day: { used: 3 } } });
    expect(await store.admit(beyond)).toMatchObject({ ok: false, refusal: "streams" });
    for (const request of [during, after]) await store.settle(givenBack(request));
    expect(await store.admit(beyond)).toMatchObject({ ok: true });
  });

  test("credits and versions are not asked for; the last known stop token is given", async () => {
    const { user, store, inner, away } = await opened();
    inner.stopStreams(user.id);
    await store.admit(admission(user.id));
    inner.stopStreams(user.id);
    await store.stopTokens([user.id]);
    away(true);
    const poor = admission(user.id, { hold: 5_000n, version: 3 });
    expect(await store.admit(poor)).toMatchObject({ ok: true, stopToken: 2 });
    expect(await store.admit(admission("user_unseen"))).toMatchObject({ ok: true, stopToken: 0 });
  });

  test("what is admitted here is counted and charged once, when the store is back", async () => {
    const states: StoreState[] = [];
    const { user, store, inner, away, charges, books } = await opened({ onState: (state) => states.push(state) });
    away(true);
    const requests = [1, 2, 3].map((units) => admission(user.id, { hold: 5_000n, stream: true, units }));
    for (const request of requests) await store.admit(request);
    expect(states.at(-1)).toMatchObject({ local: 3, pending: 0 });
    await store.settle(charged(requests[0]!, 100n));
    await store.settle(charged(requests[1]!, 200n));
    await store.settle(givenBack(requests[2]!));
    expect(states.at(-1)).toMatchObject({ local: 0, pending: 2 });
    away(false);
    await until(() => store.pending === 0);
    expect(new Map(charges())).toEqual(
      new Map([
        [requests[0]!.id, 100n],
        [requests[1]!.id, 200n],
      ]),
    );
    expect(books()).toEqual({ balance: 700n, held: 0n });
    expect(inner.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(inner.windows(user.id, OPEN)).toMatchObject({ day: { used: 3 }, hour: { used: 2 }, minute: { used: 2 } });
    expect(states.at(-1)).toEqual({ away: false, pending: 0, rejected: 0, local: 0 });
  });

  test("a crowd of requests that the store may have heard of is told in a few rounds, not a few dozen in each", async () => {
    const { user, store, proxy, clock, away, charges } = await opened({ sleep: () => turn() });
    away(true);
    const requests = Array.from({ length: 600 }, () => admission(user.id));
    for (const request of requests) {
      // Each is what finds out whether the store is back.
      clock.now += 1_000;
      await store.admit(request);
      await store.settle(charged(request, 1n));
    }
    const before = proxy.asked.length;
    away(false);
    await until(() => store.pending === 0);
    expect(charges().length).toBe(requests.length);
    expect(new Set(charges().map(([id]) => id)).size).toBe(requests.length);
    // Once in each round; a round is four answers of the store, one after the other.
    expect(proxy.asked.slice(before).filter((method) => method === "recorded").length).toBeLessThan(12);
  });

  // Of a slow store each answer takes a second: one user after the other would take minutes a round.
  test("the requests of many users are told at the same time", async () => {
    const { store, inner, clock, away } = await opened({ sleep: () => turn() });
    const users = await Promise.all(Array.from({ length: 20 }, () => addUser(inner, 1_000n)));
    away(true);
    for (const user of users) {
      const request = admission(user.id);
      clock.now += 1_000;
      await store.admit(request);
      await store.settle(charged(request, 1n));
    }
    const answers = Promise.withResolvers<void>();
    let asked = 0;
    const asking: Store = inner;
    const { recorded } = inner;
    vi.spyOn(asking, "recorded").mockImplementation(async (...args) => {
      // The first entry is a batch of its own.
      if (++asked === users.length) answers.resolve();
      if (asked > 1) await answers.promise;
      return recorded(...args);
    });
    away(false);
    await until(() => store.pending === 0);
    for (const user of users) expect(inner.ledger(user.id)).toMatchObject([{ charge: 1n }]);
  });

  test("a user that the store does not know is kept apart, not retried for ever", async () => {
    const { store, away, lines } = await opened();
    away(true);
    const request = admission("user_nobody");
    await store.admit(request);
    await store.settle(charged(request, 1n));
    away(false);
    await until(() => store.pending === 0);
    expect(lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { id: request.id } }]);
  });

  test("a store that answers but records nothing gets ten tries", async () => {
    const { user, proxy, inner, store, lines } = await opened({
      sleep: () => turn(),
    });
    proxy.fate = () => "lost";
    const request = admission(user.id);
    await store.admit(request);
    proxy.fate = () => "answer";
    Object.assign(inner, { ledger: () => [], settle: () => false });
    await store.settle(charged(request, 1n));
    await until(() => store.pending === 0);
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors).toMatchObject([{ fields: { err: { message: "the store did not record it in 10 tries" } } }]);
  });

  test("with more settlements in memory than it should hold, nobody is admitted", async () => {
    const { user, store, away } = await opened({ journal: null, sleep: () => new Promise(() => {}) });
    away(true);
    const requests = Array.from({ length: 10_000 }, () => admission(user.id));
    await Promise.all(requests.map(async (request) => store.admit(request)));
    for (const request of requests) Promise.try(() => store.settle(charged(request, 1n))).catch(() => {});
    await until(() => store.pending === 10_000);
    await expect(store.admit(admission(user.id))).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("the local view", () => {
  const command = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("admit"), units: fc.integer({ min: 1, max: 5 }), stream: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("end"), which: fc.nat(15), giveBack: fc.boolean() }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("pass"),
        time: fc.constantFrom(1, MINUTE - 1, MINUTE, HOUR, DAY, -MINUTE, -DAY),
      }),
    },
  );

  test("admits and refuses as the store does, from what was seen last", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ day: limit(12), hour: limit(6), minute: limit(4), streams: limit(3) }),
        fc.array(command, { maxLength: 25, size: "max" }),
        fc.nat(8),
        async (limits, commands, seed) => {
          const clock = { now: START };
          const store = sqliteStore(openMemory(), () => clock.now);
          store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n });
          const view = new LocalView(() => clock.now);
          for (let turn = 0; turn < seed; turn++) {
            const { windows } = await store.admit(admission("user_1", { limits: OPEN }));
            view.saw("user_1", windows, false);
          }
          const ids: string[] = [];
          const results: (readonly [unknown, unknown])[] = [];
          for (const step of commands) {
            if ("time" in step) clock.now += step.time;
            else if ("which" in step) {
              const id = ids[step.which];
              if (id === undefined) continue;
              const request = admission("user_1", { id });
              await store.settle(step.giveBack ? givenBack(request) : charged(request, 0n));
              view.end(id, step.giveBack);
            } else {
              const request = admission("user_1", { limits, units: step.units, stream: step.stream });
              ids.push(request.id);
              results.push([view.admit(request, false), await store.admit(request)]);
            }
            results.push([view.windows("user_1", limits), store.windows("user_1", limits)]);
          }
          expect(results.map(([here]) => here)).toEqual(results.map(([, there]) => there));
          expect(view.size).toBe(store.running("user_1").requests - seed);
          store.close();
        },
      ),
      { numRuns: Math.min(2_000, Number(process.env["NUM_RUNS"] ?? 60)) },
    );
  });

  test("finds the counts behind windows", () => {
    fc.assert(
      fc.property(fc.record({ day: window(30_000), hour: window(700_000), minute: window(40_000_000) }), (counts) => {
        expect(countsOf(windowStates(counts, OPEN))).toEqual(counts);
      }),
      { numRuns: RUNS },
    );
  });

  test("remembers the users that were seen last, and no more than it should", () => {
    const view = new LocalView(() => START);
    const limits = { ...OPEN, day: 10 };
    const use = (userId: string) => {
      const request = admission(userId, { limits });
      view.admit(request, false);
      view.end(request.id, false);
    };
    use("user_kept");
    use("user_forgotten");
    for (let turn = 0; turn < 9_999; turn++) {
      if (turn === 5_000) use("user_kept");
      use(`user_${turn}`);
    }
    expect(view.windows("user_kept", limits).day.used).toBe(2);
    expect(view.windows("user_forgotten", limits).day.used).toBe(0);
  });

  test("does not fall back behind what was admitted here and the store has not heard of", () => {
    const view = new LocalView(() => START);
    const store = sqliteStore(openMemory(), () => START);
    onTestFinished(() => store.close());
    const limits = { ...OPEN, day: 10 };
    for (let turn = 0; turn < 3; turn++) view.admit(admission("user_1", { limits }), false);
    const windows = store.windows("user_1", limits);
    view.saw("user_1", windows, true);
    expect(view.windows("user_1", limits).day.used).toBe(3);
    view.saw("user_1", windows, false);
    expect(view.windows("user_1", limits).day.used).toBe(0);
  });
});
