import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Admission } from "../../../src/kit/index.ts";
import { LEASE_MS } from "../../../src/store/redis/leases.ts";
import type { RedisStore } from "../../../src/store/redis/store.ts";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { openAt } from "./support.ts";
import { OPEN, START, addUser, admission, charged, givenBack, unique } from "../support.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const PROCESSES = ["a", "b", "c"] as const;

/** What one process does, or all the world. `which` names an admitted request, also one of another process or settled. */
type Step = { readonly by: number } & (
  | { readonly do: "admit"; readonly stream: boolean; readonly hold: bigint }
  | { readonly do: "settle"; readonly which: number; readonly charge: bigint }
  | { readonly do: "giveBack"; readonly which: number }
  | { readonly do: "renew" | "lose" }
  | { readonly do: "pass"; readonly time: number }
);

const by = fc.nat(PROCESSES.length - 1);
const which = fc.nat(12);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      by,
      do: fc.constant("admit" as const),
      stream: fc.boolean(),
      hold: fc.bigInt({ min: 0n, max: 30n }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      by,
      do: fc.constant("settle" as const),
      which,
      charge: fc.bigInt({ min: 0n, max: 40n }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ by, do: fc.constant("giveBack" as const), which }) },
  { weight: 3, arbitrary: fc.record({ by, do: fc.constant("renew" as const) }) },
  { weight: 1, arbitrary: fc.record({ by, do: fc.constant("lose" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ by, do: fc.constant("pass" as const), time: fc.constantFrom(1, LEASE_MS / 2, LEASE_MS) }),
  },
);

/** Leases end, processes hang and come back, the server forgets what runs: sums must be right all the same. */
describeRedis("on Redis, several processes", () => {
  const clock = { now: START };
  let server: RedisServer;
  let stores: readonly RedisStore[];
  let prefix: string;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function play(steps: readonly Step[]): Promise<void> {
    const user = await addUser(stores[0]!, 100n);
    const admitted: { readonly request: Admission; readonly owner: RedisStore }[] = [];
    for (const step of steps) {
      const store = stores[step.by]!;
      const target = "which" in step ? admitted[step.which]?.request : undefined;
      switch (step.do) {
        case "admit": {
          const request = admission(user.id, { stream: step.stream, hold: step.hold });
          const { ok } = await store.admit(request);
          if (ok) admitted.push({ request, owner: store });
          break;
        }
        case "settle":
          if (target) await store.settle(charged(target, step.charge));
          break;
        case "giveBack":
          if (target) await store.settle(givenBack(target));
          break;
        case "renew":
          await store.renew();
          break;
        case "lose":
          await server.client.del(...["q", "l", "s"].map((key) => `${prefix}${key}:{${user.id}}`));
          break;
        case "pass":
          clock.now += step.time;
          break;
      }
      await check(user.id);
    }
    // Everybody ends what it runs, in two tries; what nobody has any more ends with its lease.
    for (let turn = 0; turn < 2; turn++)
      for (const { request, owner } of admitted) await owner.settle(charged(request, 1n));
    clock.now += LEASE_MS;
    const last = admission(user.id);
    expect(await stores[0]!.admit(last)).toMatchObject({ ok: true });
    expect(await stores[0]!.running(user.id)).toEqual({ requests: 1, streams: 0, held: 0n });
    await stores[0]!.settle(givenBack(last));
    await check(user.id);
    expect(await stores[0]!.findUser(user.id)).toMatchObject({ held: 0n });
  }

  async function check(userId: string): Promise<void> {
    const entries = await stores[0]!.ledger(userId);
    expect(new Set(entries.map(({ id }) => id)).size, "once per id").toBe(entries.length);
    const charges = entries.reduce((sum, { charge }) => sum + charge, 0n);
    const { balance, granted } = (await stores[0]!.findUser(userId))!;
    expect(granted, "granted = balance + charges").toBe(balance + charges);
    const { day } = await stores[0]!.windows(userId, OPEN);
    expect(day.used).toBeGreaterThanOrEqual(0);
  }

  test(
    "random sequences leave no hold, no slot and no charge too many",
    async () => {
      prefix = `${unique("many")}:`;
      const open = (instance: string) => openAt(server.url, { prefix, instance, clock: () => clock.now });
      stores = await Promise.all(PROCESSES.map(open));
      const property = fc.asyncProperty(fc.array(STEP, { maxLength: 25, size: "max" }), play);
      await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
    },
    PATIENCE,
  );
});
