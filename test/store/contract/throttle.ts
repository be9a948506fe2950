import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { Counter, Store } from "../../../src/kit/index.ts";
import { DAY, HOUR, MINUTE, unique } from "../support.ts";
import { PATIENCE } from "../../properties/runs.ts";

/** Whatever a client may have put into a name. */
const STRANGE = [
  "",
  "a",
  "A",
  "a ",
  "{a}",
  "*",
  "a\u0000b",
  "a\r\nb",
  "ü",
  "u\u0308",
  "🔑",
  "x".repeat(10_000),
  "__proto__",
];

type Command =
  | { readonly do: "throttle"; readonly counters: readonly Counter[]; readonly window: number }
  | { readonly do: "pass"; readonly time: number };

const COUNTER = fc.record({ name: fc.constantFrom(...STRANGE), limit: fc.integer({ min: 0, max: 4 }) });
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("throttle" as const),
      counters: fc.uniqueArray(COUNTER, { selector: ({ name }) => name, maxLength: 3 }),
      window: fc.constantFrom(1_000, MINUTE, HOUR),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(1, 999, 1_000, MINUTE, HOUR - 1) }),
  },
);

/** Counts by name and window; a window that has passed is another key. */
class Model {
  readonly #counts = new Map<string, number>();

  throttle(counters: readonly Counter[], window: number, now: number): number | null {
    const place = ({ name }: Counter) => JSON.stringify([name, window, Math.floor(now / window)]);
    const used = (counter: Counter) => this.#counts.get(place(counter)) ?? 0;
    if (counters.some((counter) => used(counter) >= counter.limit)) return window - (now % window);
    for (const counter of counters) this.#counts.set(place(counter), used(counter) + 1);
    return null;
  }
}

const name = () => unique("counter");

/** Goes to the first millisecond of a minute, an hour and a day that nothing was counted in. */
function freshDay(clock: { now: number }): void {
  clock.now += DAY - (clock.now % DAY);
}

async function play(store: Store, clock: { now: number }, commands: readonly Command[]): Promise<void> {
  freshDay(clock);
  const model = new Model();
  for (const command of commands) {
    if (command.do === "pass") {
      clock.now += command.time;
      continue;
    }
    const { counters, window } = command;
    const expected = model.throttle(counters, window, clock.now);
    expect(await store.throttle(counters, window)).toBe(expected);
  }
}

/** Counters by name in fixed windows; `clock` is the store's own and only goes forward. */
export function throttleSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  describe("throttle", () => {
    beforeEach(() => freshDay(clock));

    test("nothing to count has room, a limit of 0 never", async () => {
      expect(await store().throttle([], MINUTE)).toBeNull();
      expect(await store().throttle([{ name: name(), limit: 0 }], MINUTE)).toBe(MINUTE);
    });

    test("a name that is given twice is one counter and counts once", async () => {
      const twice = Array.from({ length: 2 }, () => ({ name: "twice", limit: 2 }));
      expect(await store().throttle(twice, MINUTE)).toBeNull();
      expect(await store().throttle(twice, MINUTE)).toBeNull();
      expect(await store().throttle(twice, MINUTE)).toBe(MINUTE);
    });

    test("200 at once on a limit of 20: exactly 20, and what they share is not counted for the rest", async () => {
      const [few, many] = [
        { name: name(), limit: 20 },
        { name: name(), limit: 50 },
      ];
      const all = await Promise.all(Array.from({ length: 200 }, async () => store().throttle([few, many], HOUR)));
      expect(all.filter((wait) => wait === null)).toHaveLength(20);
      const rest = await Promise.all(Array.from({ length: 200 }, async () => store().throttle([many], HOUR)));
      expect(rest.filter((wait) => wait === null)).toHaveLength(30);
    });

    test(
      "random sequences do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(COMMAND, { maxLength: 40, size: "max" }), (commands) =>
          play(store(), clock, commands),
        );
        await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });
}
