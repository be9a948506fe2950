import assert from "node:assert/strict";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AttemptError, Secret } from "../../../src/kit/index.ts";
import { KeyPool } from "../../../src/upstream/state/key-pool.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const secrets = (...values: readonly string[]): readonly Secret[] => values.map((value) => new Secret(value));
const refused = new AttemptError("credentials", "refused", { status: 401 });
const drained = new AttemptError("quota", "nothing left", { status: 429 });
const limited = (retryAfter: number | null): AttemptError =>
  new AttemptError("rate_limited", "limited", { status: 429, retryAfter });

function pool(...values: readonly string[]): KeyPool {
  const keys = new KeyPool();
  keys.adopt(secrets(...values));
  return keys;
}

describe("KeyPool", () => {
  it("rests a key without quota for 60 s, doubled with each refusal up to 10 min, until it serves", () => {
    const keys = pool("a", "b");
    let now = 0;
    const rests: number[] = [];
    const [a] = [keys.pick([], now, 0)];
    if (!a) throw new Error("no key");
    for (let round = 0; round < 6; round += 1) {
      keys.failed(a, drained, "u1", now);
      rests.push(a.parkedUntil - now);
      now = a.parkedUntil;
    }
    expect(rests).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
    keys.served(a, [], now);
    keys.failed(a, drained, "u1", now);
    expect(a.parkedUntil - now).toBe(60_000);
  });

  it("rests a limited key for a second when the upstream names no time", () => {
    const keys = pool("a", "b");
    const a = keys.pick([], 0, 0);
    if (a) keys.failed(a, limited(null), "u1", 0);
    expect(a?.parkedUntil).toBe(1_000);
  });

  it("keeps a key's rest when the keys change, and forgets the keys that are gone", () => {
    const keys = pool("a", "b");
    const a = keys.pick([], 0, 0);
    if (a) keys.failed(a, drained, "u1", 0);
    keys.adopt(secrets("c", "a"));
    expect(keys.pick([], 0, 0)?.value).toBe("c");
    expect(keys.pick([], 0, 0)?.value).toBe("c");
    expect(a?.position).toBe(2);
    keys.adopt(secrets("b"));
    keys.adopt(secrets("a"));
    expect(keys.pick([], 0, 0)?.value).toBe("a");
  });

  it("uses a key written twice once", () => {
    const keys = pool("a", "a");
    const a = keys.pick([], 0, 0);
    expect(a && keys.pick([a], 0, 0)).toBe(null);
  });

  it("tells which keys rest and until when, by their place and never by their value", () => {
    const keys = pool("sk-first", "sk-second");
    const first = keys.pick([], 0, 0)!;
    keys.failed(first, drained, "u1", 0);
    keys.failed(first, drained, "u1", 0);
    const second = { position: 2, refusals: 0, restsUntil: null };
    expect(keys.states(1)).toEqual([{ position: 1, refusals: 2, restsUntil: 120_000 }, second]);
    expect(keys.states(120_000)).toEqual([{ position: 1, refusals: 2, restsUntil: null }, second]);
    expect(JSON.stringify(keys.states(1))).not.toContain("sk-");
  });

  describe("a refused key", () => {
    const other = new AttemptError("credentials", "refused", { status: 403 });

    it("rests once a second user has met the same", () => {
      const keys = pool("a");
      const [a] = [keys.pick([], 0, 0)!];
      expect(keys.failed(a, refused, "u1", 0)).toEqual({ another: true, suspected: true });
      expect(keys.failed(a, refused, "u1", 1)).toEqual({ another: true, suspected: true });
      expect(keys.allResting(1, 0)).toBe(false);
      expect(keys.failed(a, other, "u2", 2)).toEqual({ another: true, suspected: true });
      expect(keys.failed(a, refused, "u1", 3)).toEqual({ another: true, suspected: true });
      expect(keys.failed(a, refused, "u2", 4)).toEqual({ another: true, suspected: false });
      expect([keys.allResting(5, 0), keys.allResting(5, 60_000)]).toEqual([true, false]);
      expect(() => keys.pick([], 5, 0)).toThrow(expect.objectContaining({ failure: "resting", retryAfter: 59_999 }));
      expect(keys.allResting(60_004, 0)).toBe(false);
    });

    it("is believed again when it serves, or when nobody has met a refusal for ten minutes", () => {
      const keys = pool("a");
      const [a] = [keys.pick([], 0, 0)!];
      keys.failed(a, refused, "u1", 0);
      keys.served(a, [], 1);
      expect(keys.failed(a, refused, "u2", 2)).toMatchObject({ suspected: true });
      expect(keys.failed(a, refused, "u1", 600_002)).toMatchObject({ suspected: true });
      expect(keys.allResting(600_003, 0)).toBe(false);
    });

    it("rests when another key serves the same request", () => {
      const keys = pool("a", "b");
      const a = keys.pick([], 0, 0)!;
      keys.failed(a, refused, "u1", 0);
      const b = keys.pick([a], 0, 0)!;
      keys.served(b, [a], 0);
      expect([a.parkedUntil, b.parkedUntil > 0]).toEqual([60_000, false]);
    });
  });

  it(
    "never gives a key twice in an attempt, nor one that rests while another does not",
    () => {
      const act = fc.record({
        kind: fc.constantFrom("refused", "drained", "limited", "other", "served"),
        user: fc.constantFrom("u1", "u2"),
        wait: fc.integer({ min: 50, max: 300_000 }),
        pass: fc.integer({ min: 0, max: 100_000 }),
      });
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 5 }),
          fc.array(fc.array(act, { maxLength: 7 }), { maxLength: 12 }),
          (count, attempts) => {
            const names = Array.from({ length: count }, (_, index) => `k${index}`);
            const keys = pool(...names);
            let now = 0;
            const resting = new Map<string, number>();
            for (const acts of attempts) {
              const tried: NonNullable<ReturnType<KeyPool["pick"]>>[] = [];
              for (const { kind, user, wait, pass } of acts) {
                now += pass;
                const free = names.filter(
                  (name) => (resting.get(name) ?? 0) <= now && !tried.some(({ value }) => value === name),
                );
                let key: ReturnType<KeyPool["pick"]>;
                try {
                  key = keys.pick(tried, now, 0);
                } catch (error) {
                  assert.ok(error instanceof AttemptError);
                  assert.deepEqual(free, []);
                  break;
                }
                if (key === null) {
                  assert.deepEqual(free, []);
                  break;
                }
                expect(free).toContain(key.value);
                tried.push(key);
                if (kind === "served") keys.served(key, [], now);
                else {
                  const error = { refused, drained, limited: limited(wait), other: new AttemptError("status", "503") }[
                    kind
                  ];
                  keys.failed(key, error, user, now);
                }
                resting.set(key.value, key.parkedUntil);
                if (kind === "other" || kind === "served") break;
              }
            }
          },
        ),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );
});
