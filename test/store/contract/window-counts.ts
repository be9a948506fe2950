import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CountWindow, Store } from "../../../src/kit/index.ts";
import { HOUR, MINUTE, unique } from "../support.ts";
import { PATIENCE } from "../../properties/runs.ts";

const MAX_NAMES = 100_000;
const PER_CALL = 500;

const USES = fc.array(
  fc.record({
    name: fc.constantFrom("192.0.2.1", "2001:db8:0:1", "", "__proto__"),
    uses: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 6 },
);
const CALL = fc.record({ window: fc.nat(2), uses: USES });

/** Counts that processes share; `clock` is the store's own and only goes forward. */
export function windowCountsSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  const window = (more: Partial<CountWindow> = {}): CountWindow => ({
    name: unique("counts"),
    length: MINUTE,
    endsAt: clock.now - (clock.now % MINUTE) + MINUTE,
    ...more,
  });

  describe("counts of a window", () => {
    test("are those of everybody together, in the order that was asked for", async () => {
      const at = window();
      const add = (...uses: [string, number][]) =>
        store().addCounts(
          at,
          uses.map(([name, count]) => ({ name, uses: count })),
        );
      expect(await add()).toEqual([]);
      expect(await add(["a", 2], ["b", 1])).toEqual([2, 1]);
      expect(await add(["b", 3], ["a", 1], ["b", 1])).toEqual([4, 3, 5]);
      const many = await Promise.all(Array.from({ length: 100 }, async () => add(["c", 2])));
      expect(many.map(([count]) => count ?? 0).toSorted((one, other) => one - other)).toEqual(
        Array.from({ length: 100 }, (_, index) => 2 * index + 2),
      );
    });

    test("belong to names of any content, to the letter", async () => {
      const names = ["", "a", "A", " ", "{a}", "*", "a\u0000b", "a\r\nb", "ü", "u\u0308", "🔑", "__proto__"];
      const uses = names.map((name, index) => ({ name, uses: index + 1 }));
      const at = window();
      expect(await store().addCounts(at, uses)).toEqual(uses.map((use) => use.uses));
      expect(await store().addCounts(at, uses)).toEqual(uses.map((use) => 2 * use.uses));
    });

    test("are apart in another window: of another name, length or end", async () => {
      const at = window();
      const uses = [{ name: "a", uses: 1 }];
      const others = [at, { ...at, length: HOUR }, { ...at, endsAt: at.endsAt + MINUTE }, window()];
      for (const other of others) expect(await store().addCounts(other, uses)).toEqual([1]);
      expect(await store().addCounts(at, uses)).toEqual([2]);
    });

    test("are kept of 100,000 names: those go on, others are not counted", async () => {
      const at = window();
      for (let first = 0; first < MAX_NAMES; first += PER_CALL) {
        const uses = Array.from({ length: PER_CALL }, (_, index) => ({ name: `${first + index}`, uses: 1 }));
        await store().addCounts(at, uses);
      }
      const uses = ["one more", "0", "another"].map((name) => ({ name, uses: 2 }));
      expect(await store().addCounts(at, uses)).toEqual([null, 3, null]);
      expect(await store().addCounts({ ...at, endsAt: at.endsAt + MINUTE }, uses), "the next one").toEqual([2, 2, 2]);
    });

    test(
      "random calls do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(CALL, { maxLength: 20 }), async (calls) => {
          const windows = [0, 1, 2].map((turn) => window({ endsAt: clock.now + turn * MINUTE + 1 }));
          const model = new Map<string, number>();
          for (const call of calls) {
            const expected = call.uses.map(({ name, uses }) => {
              const place = `${call.window} ${name}`;
              model.set(place, (model.get(place) ?? 0) + uses);
              return model.get(place);
            });
            expect(await store().addCounts(windows[call.window]!, call.uses)).toEqual(expected);
          }
        });
        await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });
}
