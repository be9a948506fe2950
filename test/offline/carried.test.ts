import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits, Store } from "../../src/kit/index.ts";
import { CarriedCounters } from "../../src/offline/carried.ts";
import { openStore } from "../../src/store/open.ts";
import { admission, addUser, START } from "../store/support.ts";

const limit = fc.option(fc.nat({ max: 6 }), { nil: null });
const step = fc.record({
  wait: fc.constantFrom(0, 0, 20_000, 60_000),
  units: fc.nat({ max: 3 }),
  stream: fc.boolean(),
});

test("a store whose users bring their counters decides as the one that has counted all of it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ day: limit, hour: limit, minute: limit, streams: limit }),
      fc.array(step, { maxLength: 6 }),
      fc.array(step, { minLength: 1, maxLength: 6 }),
      async (limits: Limits, before, after) => {
        let now = START;
        const whole = await openStore("memory:", { serving: true, now: () => now });
        const fresh = await openStore("memory:", { serving: true, now: () => now });
        try {
          const user = await addUser(whole);
          await fresh.addUser({ id: user.id, email: user.email, tier: user.tier, credits: 0n });
          const ask = async (store: Store, { units, stream }: (typeof before)[number]) => {
            const { stopToken: _token, ...rest } = {
              stopToken: 0,
              ...(await store.admit(admission(user.id, { limits, units, stream, hold: 0n }))),
            };
            return rest;
          };
          for (const one of before) {
            now += one.wait;
            await ask(whole, one);
          }
          const carried = new CarriedCounters(() => now);
          const { streams } = await whole.running(user.id);
          carried.add(user.id, { windows: await whole.windows(user.id, limits), streams });
          const other = carried.in(fresh);
          for (const one of after) {
            now += one.wait;
            expect(await ask(other, one)).toEqual(await ask(whole, one));
            expect(await other.windows(user.id, limits)).toEqual(await whole.windows(user.id, limits));
          }
        } finally {
          await whole.close();
          await fresh.close();
        }
      },
    ),
    { numRuns: Number(process.env["NUM_RUNS"] ?? 100) },
  );
});
