import { describe, expect, it } from "vitest";
import { AttemptError, Secret } from "../../../src/kit/index.ts";
import { KeyPool, type PooledKey } from "../../../src/upstream/state/key-pool.ts";

const secrets = (...values: readonly string[]): readonly Secret[] => values.map((value) => new Secret(value));
const refused = (status = 401, retryAfter: number | null = null): AttemptError =>
  new AttemptError("credentials", "refused", { status, retryAfter, reason: "invalid_api_key" });
const drained = new AttemptError("quota", "nothing left", { status: 429, reason: "insufficient_quota" });
const limited = (retryAfter: number | null, ofAccount = false): AttemptError =>
  new AttemptError("rate_limited", "limited", { status: 429, retryAfter, ofAccount });

function pool(...values: readonly string[]): KeyPool {
  const keys = new KeyPool();
  keys.adopt(secrets(...values));
  return keys;
}

/** The scopes that rest. */
function resting(keys: KeyPool, now: number): readonly string[] {
  return keys.cooldowns(now).map(({ scope, key, model, until }) => `${scope} ${key} ${model ?? "all"} ${until}`);
}

/** As a request that has met them, in turn. */
function meet(
  keys: KeyPool,
  key: PooledKey,
  what: readonly (readonly [model: string, error: AttemptError, user: string])[],
) {
  return what.map(([model, error, user]) => keys.failed(key, model, error, user, 0).suspected);
}

describe("a rate limit", () => {
  it("rests the key for the model alone, for a second when the upstream names no time", () => {
    const keys = pool("a", "b");
    const a = keys.pick("large", [], 0, 0)!;
    keys.failed(a, "large", limited(null), "u1", 0);
    expect(resting(keys, 0)).toEqual(["key_model 1 large 1000"]);
    expect([keys.pick("large", [], 0, 0), keys.pick("small", [], 0, 0)].map((key) => key?.value)).toEqual(["b", "a"]);
    expect([keys.allResting(0, 0, "large"), keys.allResting(0, 0)]).toEqual([false, false]);
  });

  it("is kept for 300 s at most, and one that ends earlier does not shorten it", () => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    meet(keys, a, [
      ["large", limited(86_400_000), "u1"],
      ["large", limited(50), "u1"],
    ]);
    expect(resting(keys, 0)).toEqual(["key_model 1 large 300000"]);
    expect(keys.allResting(0, 0, "large")).toBe(true);
    expect(() => keys.pick("large", [], 1, 0)).toThrow(
      expect.objectContaining({ failure: "resting", retryAfter: 299_999 }),
    );
    expect(keys.pick("large", [], 1, 300_000)).toBe(a);
  });

  it("rests the whole key when it is the account's", () => {
    const keys = pool("a");
    meet(keys, keys.pick("large", [], 0, 0)!, [["large", limited(5_000, true), "u1"]]);
    expect(resting(keys, 0)).toEqual(["key 1 all 5000"]);
    expect(() => keys.pick("small", [], 0, 0)).toThrow("every key of the upstream rests");
  });

  it("rests the whole key when a second model meets one while the first still rests", () => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    keys.failed(a, "large", limited(30_000), "u1", 0);
    keys.failed(a, "small", limited(5_000), "u1", 30_000);
    expect(resting(keys, 30_000)).toEqual(["key_model 1 small 35000"]);
    keys.failed(a, "large", limited(20_000), "u1", 34_000);
    expect(resting(keys, 34_000)).toEqual(["key 1 all 54000", "key_model 1 large 54000", "key_model 1 small 35000"]);
    expect(() => keys.pick("other", [], 34_000, 0)).toThrow("every key of the upstream rests");
  });
});

describe("a key without quota", () => {
  it("rests for all models: 60 s, doubled with each refusal up to 10 min, until it serves", () => {
    const keys = pool("a", "b");
    let now = 0;
    const rests: number[] = [];
    const a = keys.pick("m", [], now, 0)!;
    for (let round = 0; round < 6; round += 1) {
      keys.failed(a, "m", drained, "u1", now);
      rests.push(a.whole.until - now);
      now = a.whole.until;
    }
    expect(rests).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
    keys.served(a, "m", [], now);
    keys.failed(a, "m", drained, "u1", now);
    expect(resting(keys, now)).toEqual([`key 1 all ${now + 60_000}`]);
  });

  it("rests for as long as the provider says", () => {
    const keys = pool("a");
    const told = new AttemptError("quota", "nothing left", { status: 429, retryAfter: 7_000 });
    meet(keys, keys.pick("m", [], 0, 0)!, [["m", told, "u1"]]);
    expect(resting(keys, 0)).toEqual(["key 1 all 7000"]);
  });
});

describe("a refused key", () => {
  it.each([401, 402, 400])("rests for all models once a second user has met the same %i, at any model", (status) => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    const met = meet(keys, a, [
      ["large", refused(status), "u1"],
      ["large", refused(status), "u1"],
      ["small", refused(403), "u2"],
      ["small", refused(status), "u2"],
    ]);
    expect(met).toEqual([true, true, true, false]);
    expect(resting(keys, 0)).toEqual(["key 1 all 60000"]);
  });

  it("rests for the model alone when it is a 403", () => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    const met = meet(keys, a, [
      ["large", refused(403), "u1"],
      ["large", refused(403), "u1"],
      ["large", refused(403), "u2"],
    ]);
    expect(met).toEqual([true, true, false]);
    expect(resting(keys, 0)).toEqual(["key_model 1 large 60000"]);
  });

  it("rests for all models when another user meets the same 403 at another model", () => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    const met = meet(keys, a, [
      ["large", refused(403), "u1"],
      ["small", refused(403), "u1"],
      ["small", refused(403), "u2"],
    ]);
    expect(met).toEqual([true, true, false]);
    expect(resting(keys, 0)).toEqual(["key 1 all 60000"]);
  });

  it("rests for two models alone when it has served a third after such a rest", () => {
    const keys = pool("a");
    const a = keys.pick("large", [], 0, 0)!;
    meet(keys, a, [
      ["large", refused(403), "u1"],
      ["small", refused(403), "u2"],
    ]);
    expect(resting(keys, 0)).toEqual(["key 1 all 60000"]);
    keys.served(a, "third", [], 61_000);
    keys.failed(a, "large", refused(403), "u2", 62_000);
    keys.failed(a, "small", refused(403), "u1", 62_000);
    expect(keys.cooldowns(62_000).map(({ scope, model }) => [scope, model])).toEqual([
      ["key_model", "large"],
      ["key_model", "small"],
    ]);
    expect(keys.pick("third", [], 62_000, 0)).toBe(a);
  });

  it("is believed again when it serves, or when nobody has met a refusal for ten minutes", () => {
    const keys = pool("a");
    const a = keys.pick("m", [], 0, 0)!;
    keys.failed(a, "m", refused(), "u1", 0);
    keys.served(a, "other", [], 1);
    expect(keys.failed(a, "m", refused(), "u2", 2)).toMatchObject({ suspected: true });
    expect(keys.failed(a, "m", refused(), "u1", 600_002)).toMatchObject({ suspected: true });
    expect(resting(keys, 600_003)).toEqual([]);
    keys.failed(a, "m", refused(403), "u1", 600_004);
    keys.served(a, "m", [], 600_005);
    expect(keys.failed(a, "m", refused(403), "u2", 600_006)).toMatchObject({ suspected: true });
  });

  it("rests when another key serves the same request, with the scope of what it met", () => {
    const keys = pool("a", "b", "c");
    const [a, b, c] = [keys.pick("m", [], 0, 0)!, keys.pick("m", [], 0, 0)!, keys.pick("m", [], 0, 0)!];
    keys.failed(a, "m", refused(401), "u1", 0);
    keys.failed(b, "m", refused(403), "u1", 0);
    const all = [
      { key: a, error: refused(401) },
      { key: b, error: refused(403) },
    ];
    keys.served(c, "m", all, 0);
    expect(resting(keys, 0)).toEqual(["key 1 all 60000", "key_model 2 m 60000"]);
  });

  it("that can sign nothing rests for all models, unless it is the only one", () => {
    const unsigned = new AttemptError("credentials", "no header value");
    const [several, one] = [pool("a", "b"), pool("a")];
    for (const keys of [several, one]) meet(keys, keys.pick("m", [], 0, 0)!, [["m", unsigned, "u1"]]);
    expect(resting(several, 0)).toEqual(["key 1 all 60000"]);
    expect(resting(one, 0)).toEqual([]);
  });
});

describe("KeyPool", () => {
  it("keeps a key's rests when the keys change, and forgets the keys that are gone", () => {
    const keys = pool("a", "b");
    const a = keys.pick("m", [], 0, 0)!;
    keys.failed(a, "m", limited(60_000), "u1", 0);
    keys.adopt(secrets("c", "a"));
    expect(keys.pick("m", [], 0, 0)?.value).toBe("c");
    expect(keys.pick("m", [], 0, 0)?.value).toBe("c");
    expect(resting(keys, 0)).toEqual(["key_model 2 m 60000"]);
    keys.adopt(secrets("b"));
    keys.adopt(secrets("a"));
    expect(keys.pick("m", [], 0, 0)?.value).toBe("a");
  });

  it("uses a key written twice once", () => {
    const keys = pool("a", "a");
    const a = keys.pick("m", [], 0, 0);
    expect(a && keys.pick("m", [a], 0, 0)).toBe(null);
  });

  it("tells what rests, why and until when, by its place and never by its value", () => {
    const keys = pool("sk-first", "sk-second");
    const first = keys.pick("m", [], 0, 0)!;
    keys.failed(first, "m", drained, "u1", 0);
    keys.failed(first, "m", drained, "u1", 0);
    keys.failed(first, "m", limited(9_000), "u1", 0);
    const second = { position: 2, refusals: 0, restsUntil: null };
    expect(keys.states(1)).toEqual([{ position: 1, refusals: 2, restsUntil: 120_000 }, second]);
    expect(keys.states(120_000)).toEqual([{ position: 1, refusals: 2, restsUntil: null }, second]);
    expect(keys.cooldowns(1)).toEqual([
      {
        scope: "key",
        key: 1,
        model: null,
        reason: "the account has nothing left (429 insufficient_quota)",
        until: 120_000,
      },
      { scope: "key_model", key: 1, model: "m", reason: "rate limit (429)", until: 9_000 },
    ]);
    expect(JSON.stringify([keys.states(1), keys.cooldowns(1)])).not.toContain("sk-");
  });

  it("forgets all rests, and what would lead to the next, when an operator acts", () => {
    const keys = pool("a", "b");
    const a = keys.pick("m", [], 0, 0)!;
    keys.failed(a, "m", drained, "u1", 0);
    keys.failed(a, "other", limited(60_000), "u1", 0);
    keys.failed(a, "m", refused(), "u1", 0);
    expect([keys.clear(1), keys.clear(1)]).toEqual([2, 0]);
    expect(keys.states(1)).toMatchObject([{ refusals: 0, restsUntil: null }, {}]);
    expect(keys.failed(a, "m", refused(), "u2", 2)).toMatchObject({ suspected: true });
  });

  it("remembers no more of a key than its bounds, however many models there are", () => {
    const keys = pool("a");
    const a = keys.pick("m", [], 0, 0)!;
    for (let index = 0; index < 5_000; index += 1) {
      keys.failed(a, `model-${index}`, limited(1 + index), `user-${index}`, index);
      keys.failed(a, `model-${index}`, refused(403), `user-${index}`, index);
      keys.served(a, `model-${index}`, [], 1_000_000 * index);
    }
    expect(a.models.size).toBeLessThanOrEqual(256);
    expect(a.refusals.length).toBeLessThanOrEqual(256);
    expect(a.apart.size).toBeLessThanOrEqual(258);
  });
});
