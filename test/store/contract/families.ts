import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewFamily, Store } from "../../../src/kit/index.ts";
import { HOUR, MINUTE, addUser, digest, unique } from "../support.ts";
import { PATIENCE } from "../../properties/runs.ts";

const GRACE = 10_000;

type Command =
  | { readonly do: "rotate"; readonly family: number; readonly age: number; readonly grace: number }
  | { readonly do: "end"; readonly family: number; readonly age: number }
  | { readonly do: "pass"; readonly time: number };

const FAMILIES = 2;
/** `age` 0 is the live token, 1 the one before it; beyond the first: no token at all. */
const TOKEN = { family: fc.nat(FAMILIES - 1), age: fc.oneof(fc.constant(0), fc.nat(4)) };
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("rotate" as const), grace: fc.constantFrom(0, GRACE), ...TOKEN }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("end" as const), ...TOKEN }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(1, GRACE, MINUTE) }) },
);

/** The n-th token of a family, by name. */
const token = (id: string, number: number) => digest(`${id} ${number}`);

/** One family as one would explain it. */
interface Model {
  readonly id: string;
  readonly expiresAt: number;
  /** When each used token was followed by the next. */
  readonly used: number[];
  dead: boolean;
}

function rotated(model: Model, number: number, grace: number, now: number): boolean {
  const live = model.used.length;
  if (model.dead || model.expiresAt <= now || number < 0) return false;
  if (number === live) return model.used.push(now) > 0;
  if (number === live - 1 && now - model.used[number]! <= grace) return true;
  model.dead = true;
  return false;
}

/** Families of refresh tokens; `clock` is the store's own and only goes forward. */
export function familySuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  async function begin(more: Partial<NewFamily> = {}): Promise<NewFamily> {
    const { id: userId } = await addUser(store());
    const id = unique("family");
    const family = { id, userId, digest: token(id, 0), expiresAt: clock.now + HOUR, ...more };
    await store().addFamily(family);
    return family;
  }
  const rotate = async (id: string, number: number, grace = GRACE) =>
    store().rotate({ digest: token(id, number), successor: token(id, number + 1), grace });

  describe("families", () => {
    test("an unknown token is nothing to rotate or to end", async () => {
      const { id } = await begin();
      for (const unknown of [digest("nothing"), new Uint8Array(0), token(id, 1)]) {
        expect(await store().rotate({ digest: unknown, successor: digest("next"), grace: GRACE })).toBeNull();
        await store().endFamily(unknown);
      }
      expect(await rotate(id, 0)).not.toBeNull();
    });

    test("the same token with another successor is a reuse, and that successor nothing", async () => {
      const { id } = await begin();
      await rotate(id, 0);
      const other = { digest: token(id, 0), successor: digest("another"), grace: GRACE };
      expect(await store().rotate(other)).toBeNull();
      expect(await rotate(id, 1)).toBeNull();
      expect(await store().rotate({ ...other, digest: digest("another") })).toBeNull();
    });

    test("one user may have many, and ending one leaves the others", async () => {
      const a = await begin();
      const b = await begin({ userId: a.userId });
      await store().endFamily(a.digest);
      expect(await rotate(a.id, 0)).toBeNull();
      expect(await rotate(b.id, 0)).toEqual({ userId: a.userId, expiresAt: b.expiresAt });
    });

    test("of an unknown user are not made", async () => {
      await expect(begin({ userId: "user_nobody" })).rejects.toThrow("user_nobody");
    });

    test("100 parallel refreshes all get the one successor", async () => {
      const { id, userId, expiresAt } = await begin();
      for (let number = 0; number < 3; number++) {
        const all = await Promise.all(Array.from({ length: 100 }, () => rotate(id, number)));
        expect(new Set(all.map((answer) => JSON.stringify(answer)))).toEqual(
          new Set([JSON.stringify({ userId, expiresAt })]),
        );
      }
      clock.now += GRACE + 1;
      expect(await rotate(id, 3), "the live one is the last").not.toBeNull();
      const replayed = await Promise.all(Array.from({ length: 100 }, () => rotate(id, 2)));
      expect(replayed).toEqual(Array.from({ length: 100 }, () => null));
      expect(await rotate(id, 4)).toBeNull();
    });

    test("without a grace one of 100 parallel refreshes wins, and the rest kill the family", async () => {
      const { id } = await begin();
      await rotate(id, 0);
      clock.now += 1;
      const all = await Promise.all(Array.from({ length: 100 }, () => rotate(id, 0, 0)));
      expect(all).toEqual(Array.from({ length: 100 }, () => null));
      expect(await rotate(id, 1)).toBeNull();
    });

    test(
      "random sequences do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(COMMAND, { maxLength: 40, size: "max" }), async (commands) => {
          const begun = [await begin(), await begin({ expiresAt: clock.now + 3 * MINUTE })];
          const models: Model[] = begun.map(({ id, expiresAt }) => ({ id, expiresAt, used: [], dead: false }));
          for (const command of commands) {
            if (command.do === "pass") {
              clock.now += command.time;
              continue;
            }
            const model = models[command.family]!;
            const { userId } = begun[command.family]!;
            const number = model.used.length - command.age;
            if (command.do === "end") {
              if (number >= 0) model.dead = true;
              await store().endFamily(token(model.id, number));
              continue;
            }
            const expected = rotated(model, number, command.grace, clock.now);
            const answer = await rotate(model.id, number, command.grace);
            expect(answer).toEqual(expected ? { userId, expiresAt: model.expiresAt } : null);
          }
        });
        await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });
}
