import { describe, expect, test } from "vitest";
import { createKey, listKeys } from "../../src/accounts/api-keys.ts";
import { parseKeyLimits } from "../../src/accounts/key-limits.ts";
import { START, storeWithUser } from "./support.ts";

describe("limits of a key", () => {
  test.each([
    [{}, undefined],
    [{ expires_in: null, models: null, budget: null, tags: null }, undefined],
    [{ expires_in: 3_600 }, { expiresAt: START + 3_600_000 }],
    [{ expires_in: "90s" }, { expiresAt: START + 90_000 }],
    [{ expires_in: "5m" }, { expiresAt: START + 300_000 }],
    [{ expires_in: "12h" }, { expiresAt: START + 43_200_000 }],
    [{ expires_in: "30d" }, { expiresAt: START + 2_592_000_000 }],
    [{ models: ["route/*"] }, { models: ["route/*"] }],
    [{ budget: { amount: 5, per: "month" } }, { budget: { amount: 5_000_000_000n, per: "month" } }],
    [{ budget: { amount: 1e-9, per: "day" } }, { budget: { amount: 1n, per: "day" } }],
    [
      { budget: { amount: "123456789.123456789", per: "total" } },
      { budget: { amount: 123_456_789_123_456_789n, per: "total" } },
    ],
    [{ tags: { team: "a b" } }, { tags: { team: "a b" } }],
  ])("%j are read", (fields, expected) => {
    expect(parseKeyLimits(fields, START)).toEqual(expected);
  });

  test.each<[Record<string, unknown>, string]>([
    ...[0, -1, 1.5, "0s", "5", "5w", "1e3s", "30 d", "4000d", Infinity, true, {}, [5], "9".repeat(99)].map(
      (expires_in): [Record<string, unknown>, string] => [{ expires_in }, "/expires_in must be whole seconds"],
    ),
    ...["route/*", {}, [], Array.from({ length: 51 }, () => "a")].map((models): [Record<string, unknown>, string] => [
      { models },
      "/models must be a list of 1 to 50 models",
    ]),
    [{ models: ["a", ""] }, "/models/1 must be a string of 1 to 200 characters"],
    [{ models: ["x".repeat(201)] }, "/models/0 must be"],
    [{ models: [7] }, "/models/0 must be"],
    [{ models: ["\ud800"] }, "/models/0 must be"],
    [{ budget: 5 }, "/budget must be an object"],
    [{ budget: { amount: 5 } }, "/budget/per must be one of day, month, total"],
    [{ budget: { amount: 5, per: "year" } }, "/budget/per"],
    ...[0, -1, 1e9, 1e-10, "", "0", "-1", "1e5", "0.0000000001", "1000000000", NaN, null, [1], "x"].map(
      (amount): [Record<string, unknown>, string] => [{ budget: { amount, per: "day" } }, "/budget/amount must be"],
    ),
    [{ tags: [] }, "/tags must be an object"],
    [{ tags: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, "x"])) }, "/tags must have at most 8"],
    [{ tags: { Team: "x" } }, "/tags must have names"],
    [{ tags: JSON.parse('{"__proto__":"x"}') as unknown }, "/tags must have names"],
    ...["", "x".repeat(129), "a\nb", "\ud800", 7, null].map((team): [Record<string, unknown>, string] => [
      { tags: { team } },
      "/tags/team must be a string",
    ]),
  ])("%j are refused: %s", (fields, message) => {
    expect(() => parseKeyLimits(fields, START)).toThrow(
      expect.objectContaining({
        code: "INVALID_REQUEST",
        message: expect.stringContaining(`Invalid request: ${message}`),
      }),
    );
  });

  test("are shown with the key", async () => {
    const { store, user } = await storeWithUser();
    const limits = parseKeyLimits({ expires_in: "1h", models: ["route/a"], tags: { team: "x" } }, START);
    const { body } = await createKey(store, { userId: user.id, name: "n", limits });
    const shown = { expires_at: "2027-01-15T09:00:00.000Z", models: ["route/a"], tags: { team: "x" } };
    expect(body).toMatchObject(shown);
    expect(await listKeys(store, { userId: user.id, tier: "Free" })).toMatchObject([shown]);
  });
});
