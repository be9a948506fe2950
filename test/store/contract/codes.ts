import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewCode, Store } from "../../../src/kit/index.ts";
import { MINUTE, digest, unique } from "../support.ts";
import { PATIENCE } from "../../properties/runs.ts";

const CODES = ["123456", "654321", "000000"].map(digest);

type Command =
  | {
      readonly do: "put";
      readonly who: number;
      readonly client: string;
      readonly code: number;
      readonly ttl: number;
      readonly tries: number;
      readonly others: number;
    }
  | {
      readonly do: "take";
      readonly who: number;
      readonly client: string;
      readonly code: number;
      readonly shout: boolean;
    }
  | { readonly do: "pass"; readonly time: number };

const WHO = fc.nat(1);
const CLIENT = fc.constantFrom("192.0.2.1", "2001:db8:0:1", "");
const CODE = fc.nat(CODES.length - 1);
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      who: WHO,
      client: CLIENT,
      code: CODE,
      ttl: fc.constantFrom(1, 1_000, MINUTE),
      tries: fc.integer({ min: 1, max: 4 }),
      others: fc.nat(4),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      who: WHO,
      client: CLIENT,
      code: CODE,
      shout: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(1, 999, 1_000, MINUTE) }),
  },
);

const address = () => `${unique("code")}@example.com`;

/** Sign-in codes; `clock` is the store's own and only goes forward. */
export function codeSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  const put = async (email: string, more: Partial<NewCode> = {}) =>
    store().putCode({
      email,
      client: "own",
      digest: CODES[0]!,
      expiresAt: clock.now + 10 * MINUTE,
      tries: 5,
      triesOfOthers: 5,
      ...more,
    });
  const take = async (email: string, code = 0, client = "own") => store().takeCode(email, client, [CODES[code]!]);

  describe("codes", () => {
    test("are good by any of the digests, and a miss by all of them is one try", async () => {
      const email = address();
      await put(email, { tries: 2 });
      expect(await store().takeCode(email, "own", [CODES[1]!, CODES[2]!])).toBe(false);
      expect(await store().takeCode(email, "own", [CODES[1]!, CODES[0]!])).toBe(true);
      await put(email);
      expect(await store().takeCode(email, "own", [])).toBe(false);
    });

    test("belong to an address, whatever its case", async () => {
      const [email, other] = [address(), address()];
      await put(email.toUpperCase());
      expect(await take(other)).toBe(false);
      // The Kelvin sign is a K to some, and another letter in an address.
      await put(`k${email}`);
      expect(await take(`\u212a${email}`)).toBe(false);
      expect(await take(`K${email}`)).toBe(true);
      expect(await take(email)).toBe(true);
      expect(await take("")).toBe(false);
    });

    test("belong to addresses of any content", async () => {
      const odd = ["", " ", "{a}", "*", "a\r\nb", "ü", "u\u0308", "🔑", "x".repeat(10_000)];
      for (const [index, part] of odd.entries()) await put(`odd ${part}`, { digest: digest(`odd ${index}`) });
      const takes = odd.map(async (part, index) => store().takeCode(`ODD ${part}`, "own", [digest(`odd ${index}`)]));
      expect(await Promise.all(takes)).toEqual(odd.map(() => true));
    });

    test("clients are told apart to the letter, whatever their names", async () => {
      const email = address();
      const clients = ["a", "A", "", " ", "ü", "u\u0308", "2001:db8:0:1", "x".repeat(1_000)];
      for (const [index, client] of clients.entries())
        await put(email, { client, digest: digest(`${index}`), triesOfOthers: 0 });
      for (const [index, client] of clients.entries())
        expect([client, await store().takeCode(email, client, [digest(`${index}`)])]).toEqual([client, true]);
    });

    test("a digest of another length is a wrong one", async () => {
      const email = address();
      await put(email, { tries: 4 });
      for (const wrong of [new Uint8Array(0), CODES[0]!.subarray(0, 31), new Uint8Array(33)]) {
        expect(await store().takeCode(email, "own", [wrong])).toBe(false);
      }
      expect(await take(email)).toBe(true);
    });

    test("100 takes of the right code at once: one is good", async () => {
      const email = address();
      await put(email);
      const all = await Promise.all(Array.from({ length: 100 }, async () => take(email)));
      expect(all.filter(Boolean)).toHaveLength(1);
    });

    test("guesses at once have no more tries than one after the other", async () => {
      const email = address();
      await put(email, { tries: 5 });
      const guesses = Array.from({ length: 100 }, (_, index) => digest(index === 50 ? "123456" : `guess ${index}`));
      const all = await Promise.all(guesses.map(async (guess) => store().takeCode(email, "own", [guess])));
      expect(all).not.toContain(true);
    });

    test(
      "random sequences do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(COMMAND, { maxLength: 40, size: "max" }), async (commands) => {
          const addresses = [address(), address()];
          interface Kept {
            readonly code: number;
            readonly expiresAt: number;
            readonly client: string;
            tries: number;
            others: number;
          }
          const model = addresses.map(() => new Map<string, Kept>());
          for (const command of commands) {
            if (command.do === "pass") {
              clock.now += command.time;
              continue;
            }
            const { who, client, code } = command;
            const email = addresses[who]!;
            if (command.do === "put") {
              const expiresAt = clock.now + command.ttl;
              const { tries, others } = command;
              model[who]!.set(client, { code, expiresAt, client, tries, others });
              await put(email, { client, digest: CODES[code]!, expiresAt, tries, triesOfOthers: others });
              continue;
            }
            const tried = [...model[who]!.values()].filter(
              (kept) => kept.expiresAt > clock.now && kept.tries > 0 && (kept.client === client || kept.others > 0),
            );
            const good = tried.filter((kept) => kept.code === code);
            for (const kept of good) model[who]!.delete(kept.client);
            for (const kept of good.length > 0 ? [] : tried) {
              kept.tries -= 1;
              if (kept.client !== client) kept.others -= 1;
            }
            const shown = command.shout ? email.toUpperCase() : email;
            expect(await take(shown, code, client)).toBe(good.length > 0);
          }
        });
        await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });
}
