import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Admission,
  budgetPeriodOf,
  budgetResetsAt,
  type KeyBudget,
  type RequestBudget,
  type Settlement,
  type Store,
} from "../../../src/kit/index.ts";
import { addUser, admission, DAY, digest, HOUR, OPEN, RECORD, unique } from "../support.ts";

/** Budgets of keys: checked with the other limits, spent with the charge. */
export function keyBudgetSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  async function addKey(userId: string, budget: KeyBudget): Promise<RequestBudget> {
    const id = unique("key");
    const key = { id, userId, name: "n", prefix: "rk_01234567", digest: digest(id), limits: { budget } };
    await store().addKey(key, 50);
    return { keyId: id, ...budget };
  }

  async function withKey(amount: bigint, per: KeyBudget["per"] = "total") {
    const user = await addUser(store(), 1_000n);
    return { userId: user.id, budget: await addKey(user.id, { amount, per }) };
  }

  async function admit(userId: string, budget: RequestBudget, hold: bigint, more: Partial<Admission> = {}) {
    const request = admission(userId, { hold, budget, enforceCredits: false, ...more });
    const result = await store().admit(request);
    return { request, refusal: result.ok ? null : result.refusal };
  }

  const settled = ({ id, userId, budget }: Admission, charge: bigint | null): Settlement => ({
    id,
    userId,
    giveBack: charge === null,
    charge: charge ?? 0n,
    record: charge === null ? null : { ...RECORD, receivedAt: clock.now },
    ...(budget && { budget: { keyId: budget.keyId, per: budget.per } }),
  });

  async function state(userId: string, keyId: string) {
    const { spent, held } = (await store().listKeys(userId)).find(({ id }) => id === keyId)!.budget!;
    return [spent, held];
  }

  const placeOf = ({ keyId, per }: RequestBudget) => `${keyId} ${budgetPeriodOf(per, clock.now)}`;

  /** Every answer and every sum is the model's. */
  async function play(budgets: readonly [KeyBudget, KeyBudget], steps: readonly Step[]): Promise<void> {
    const user = await addUser(store(), 1_000n);
    const keys = [await addKey(user.id, budgets[0]), await addKey(user.id, budgets[1])] as const;
    const running: { request: Admission; place: string }[] = [];
    const [spent, held] = [new Sums(), new Sums()];
    const answers: unknown[] = [];
    const expected: unknown[] = [];
    for (const step of steps) {
      if (step.do === "pass") clock.now += step.time;
      else if (step.do === "admit") {
        const key = keys[step.key % 2]!;
        const place = placeOf(key);
        const fits = step.hold === 0n || spent.of(place) + held.of(place) + step.hold <= key.amount;
        const { request, refusal } = await admit(user.id, key, step.hold);
        answers.push(refusal);
        expected.push(fits ? null : "budget");
        if (!fits) continue;
        running.push({ request, place });
        held.add(place, step.hold);
      } else {
        const [one] = running.splice(step.which, 1);
        if (one === undefined) continue;
        await store().settle(settled(one.request, step.charge));
        held.add(one.place, -one.request.hold);
        spent.add(one.place, step.charge ?? 0n);
      }
      for (const key of keys) {
        answers.push(await state(user.id, key.keyId));
        expected.push([spent.of(placeOf(key)), held.of(placeOf(key))]);
      }
    }
    expect(answers).toEqual(expected);
  }

  describe("budgets of keys", () => {
    test("what is spent, what runs and the request have to fit in, to the last unit", async () => {
      const { userId, budget } = await withKey(100n);
      const first = await admit(userId, budget, 60n);
      expect(first.refusal).toBeNull();
      expect((await admit(userId, budget, 41n, { stream: true })).refusal).toBe("budget");
      expect(await store().running(userId), "a refusal takes nothing").toEqual({ requests: 1, streams: 0, held: 60n });
      const second = await admit(userId, budget, 40n);
      expect([second.refusal, await state(userId, budget.keyId)]).toEqual([null, [0n, 100n]]);
      await store().settle(settled(first.request, 25n));
      expect(await state(userId, budget.keyId)).toEqual([25n, 40n]);
      expect((await admit(userId, budget, 36n)).refusal).toBe("budget");
      await store().settle(settled(second.request, null));
      expect(await state(userId, budget.keyId)).toEqual([25n, 0n]);
      const third = await admit(userId, budget, 75n);
      // An estimate may have been too low.
      await store().settle(settled(third.request, 80n));
      expect(await state(userId, budget.keyId)).toEqual([105n, 0n]);
      expect((await admit(userId, budget, 1n)).refusal).toBe("budget");
      expect((await admit(userId, budget, 0n)).refusal, "what is free").toBeNull();
    });

    test("while less is left of it than the longest answer costs, all of that is held; released it is free", async () => {
      const { userId, budget } = await withKey(100n);
      const longest = { fullHold: 200n };
      const { request, refusal } = await admit(userId, budget, 10n, longest);
      expect([refusal, await state(userId, budget.keyId)]).toEqual([null, [0n, 100n]]);
      expect((await admit(userId, budget, 1n, longest)).refusal).toBe("budget");
      await store().release(request);
      expect(await state(userId, budget.keyId)).toEqual([0n, 0n]);
      await store().settle(settled(request, 30n));
      expect(await state(userId, budget.keyId)).toEqual([30n, 0n]);
      // What is left of the credits is less than what is left of the budget.
      const rich = await withKey(5_000n);
      const second = await admit(rich.userId, rich.budget, 10n, { fullHold: 6_000n, enforceCredits: true });
      expect([second.refusal, await state(rich.userId, rich.budget.keyId)]).toEqual([null, [0n, 1_000n]]);
    });

    test("credits come before, windows after it; without enforced credits it holds as well", async () => {
      const { userId, budget } = await withKey(10n);
      const limits = { ...OPEN, day: 0 };
      expect((await admit(userId, budget, 1_001n, { enforceCredits: true, limits })).refusal).toBe("credits");
      expect((await admit(userId, budget, 11n, { enforceCredits: true, limits })).refusal).toBe("budget");
      expect((await admit(userId, budget, 10n, { limits })).refusal).toBe("day");
    });

    test("is its key's alone", async () => {
      const { userId, budget } = await withKey(10n);
      const other = await addKey(userId, { amount: 10n, per: "day" });
      await admit(userId, budget, 10n);
      expect((await admit(userId, other, 10n)).refusal).toBeNull();
      const free = admission(userId, { hold: 500n });
      expect(await store().admit(free)).toMatchObject({ ok: true });
      expect((await admit(userId, budget, 1n)).refusal).toBe("budget");
    });

    test("is kept to by requests that come at once", async () => {
      const { userId, budget } = await withKey(70n);
      const all = await Promise.all(Array.from({ length: 100 }, () => admit(userId, budget, 10n)));
      expect(all.filter(({ refusal }) => refusal === null)).toHaveLength(7);
      expect(await state(userId, budget.keyId)).toEqual([0n, 70n]);
    });

    test("nothing is held, or spent, twice", async () => {
      const { userId, budget } = await withKey(100n);
      const { request } = await admit(userId, budget, 60n);
      expect(await store().admit(request)).toMatchObject({ ok: true });
      expect(await state(userId, budget.keyId)).toEqual([0n, 60n]);
      for (let times = 0; times < 2; times += 1) await store().settle(settled(request, 50n));
      expect(await state(userId, budget.keyId)).toEqual([50n, 0n]);
    });

    test("amounts are exact", async () => {
      const amount = 2n ** 61n - 1n;
      const { userId, budget } = await withKey(amount);
      const most = { ...budget, amount };
      expect((await admit(userId, most, amount + 1n)).refusal).toBe("budget");
      const { request } = await admit(userId, most, amount - 1_000_000_000n);
      await store().settle(settled(request, amount - 1_000_000_001n));
      await admit(userId, most, 999_999_999n);
      expect((await admit(userId, most, 3n)).refusal).toBe("budget");
      expect((await admit(userId, most, 2n)).refusal).toBeNull();
    });

    test.each(["day", "month"] as const)("a %s ends, and with it what was spent", async (per) => {
      const { userId, budget } = await withKey(100n, per);
      const resetsAt = budgetResetsAt(per, clock.now)!;
      expect((await store().listKeys(userId))[0]?.budget).toEqual({ spent: 0n, held: 0n, resetsAt });
      const [early, late] = [await admit(userId, budget, 50n), await admit(userId, budget, 50n)];
      await store().settle(settled(early.request, 50n));
      clock.now = resetsAt - 1;
      expect((await admit(userId, budget, 1n)).refusal).toBe("budget");
      clock.now = resetsAt;
      expect(await state(userId, budget.keyId)).toEqual([0n, 0n]);
      const next = await admit(userId, budget, 100n);
      expect(next.refusal).toBeNull();
      // A charge belongs to the period in which its request was admitted.
      await store().settle(settled(late.request, 50n));
      expect(await state(userId, budget.keyId)).toEqual([0n, 100n]);
      await store().settle(settled(next.request, 7n));
      expect(await state(userId, budget.keyId)).toEqual([7n, 0n]);
      for (let periods = 0; periods < 3; periods += 1) {
        clock.now = budgetResetsAt(per, clock.now)!;
        const { request } = await admit(userId, budget, 100n);
        await store().settle(settled(request, 3n));
        expect(await state(userId, budget.keyId)).toEqual([3n, 0n]);
      }
    });

    test("of a key that is revoked its requests end as any", async () => {
      const { userId, budget } = await withKey(100n);
      const { request } = await admit(userId, budget, 60n);
      await store().revokeKey(budget.keyId);
      await store().settle(settled(request, 50n));
      expect(await store().findUser(userId)).toMatchObject({ balance: 950n, held: 0n });
    });

    test("random sequences do what the model does", { timeout: 120_000 }, async () => {
      const all = fc.asyncProperty(fc.tuple(BUDGET, BUDGET), fc.array(STEP, { maxLength: 15 }), play);
      await fc.assert(all, { numRuns: Math.ceil(numRuns / 3) });
    });
  });
}

type Step =
  | { readonly do: "admit"; readonly hold: bigint; readonly key: number }
  | { readonly do: "settle"; readonly which: number; readonly charge: bigint | null }
  | { readonly do: "pass"; readonly time: number };

const amount = (max: bigint) => fc.bigInt({ min: 0n, max });
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("admit" as const), hold: amount(40n), key: fc.nat(1) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(9), charge: fc.option(amount(50n)) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(HOUR, DAY, 20 * DAY) }),
  },
);
const BUDGET: fc.Arbitrary<KeyBudget> = fc.record({
  amount: fc.bigInt({ min: 1n, max: 100n }),
  per: fc.constantFrom("day", "month", "total"),
});

class Sums {
  readonly #sums = new Map<string, bigint>();

  of(place: string): bigint {
    return this.#sums.get(place) ?? 0n;
  }

  add(place: string, sum: bigint): void {
    this.#sums.set(place, this.of(place) + sum);
  }
}
