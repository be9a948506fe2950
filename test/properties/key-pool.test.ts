import assert from "node:assert/strict";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AttemptError, Secret } from "../../src/kit/index.ts";
import { KeyPool, type PooledKey, type RefusedKey } from "../../src/upstream/state/key-pool.ts";
import { KeyModel } from "./key-pool-model.ts";
import { PATIENCE, RUNS } from "./runs.ts";

const MODELS = ["large", "small", "third"] as const;

/** How one request with a key ends. */
const ENDING = fc.oneof(
  fc.constant("served" as const),
  fc.constant(new AttemptError("status", "upstream answered 503", { status: 503 })),
  fc
    .record({
      retryAfter: fc.option(fc.integer({ min: 50, max: 400_000 })),
      ofAccount: fc.nat(5).map((one) => one === 0),
    })
    .map((more) => new AttemptError("rate_limited", "limited", { status: 429, ...more })),
  fc
    .record({
      status: fc.constantFrom(401, 402, 403, 403, 403),
      retryAfter: fc.option(fc.constant(20_000), { freq: 9 }),
    })
    .map((more) => new AttemptError("credentials", "refused", more)),
  fc.constant(new AttemptError("credentials", "not sent")),
  fc.constant(new AttemptError("quota", "nothing left", { status: 429 })),
);

const REQUEST = fc.record({
  model: fc.constantFrom(...MODELS),
  user: fc.constantFrom("u1", "u2", "u3"),
  /** With each key in turn, the last one over and over. */
  endings: fc.array(ENDING, { minLength: 1, maxLength: 4 }),
  pass: fc.oneof(fc.nat(2_000), fc.nat(100_000), fc.constant(600_000)),
  /** An operator acts before it. */
  isCleared: fc.nat(30).map((one) => one === 0),
});

type Request = typeof REQUEST extends fc.Arbitrary<infer Value> ? Value : never;

/** One request: with the next key at once while the failure is the key's, as `Sending` does. */
function run(keys: KeyPool, models: ReadonlyMap<string, KeyModel>, request: Request, now: number): void {
  const { model, user, endings } = request;
  let tried: readonly PooledKey[] = [];
  let refused: readonly RefusedKey[] = [];
  for (let turn = 0; ; turn += 1) {
    const free = [...models].filter(([name, key]) => {
      return key.until(model) <= now && !tried.some(({ value }) => value === name);
    });
    let key: PooledKey | null;
    try {
      key = keys.pick(model, tried, now, 0);
    } catch (error) {
      assert.ok(error instanceof AttemptError);
      assert.deepEqual([error.failure, free, tried.length], ["resting", [], 0]);
      const soonest = Math.min(...[...models.values()].map((one) => one.until(model)));
      assert.equal(error.retryAfter, soonest - now);
      return;
    }
    if (key === null) return assert.deepEqual(free, []);
    const name = key.value;
    assert.ok(free.some(([one]) => one === name));
    const ending = endings[Math.min(turn, endings.length - 1)]!;
    if (ending === "served") {
      keys.served(key, model, refused, now);
      models.get(name)!.served(model, now);
      for (const { key: other, error } of refused) models.get(other.value)!.wasTheReason(model, error, now);
      return;
    }
    const { another, suspected } = keys.failed(key, model, ending, user, now);
    assert.equal(suspected, models.get(name)!.failed(model, ending, user, now, models.size === 1));
    if (suspected) refused = [...refused, { key, error: ending }];
    if (!another) return;
    tried = [...tried, key];
  }
}

test("keys rest for what they were refused for, whatever happens to them", { timeout: PATIENCE }, () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 4 }),
    fc.array(REQUEST, { maxLength: 25 }),
    (count, requests) => {
      const names = Array.from({ length: count }, (_, index) => `k${index}`);
      const models = new Map(names.map((name) => [name, new KeyModel()]));
      const keys = new KeyPool();
      keys.adopt(names.map((name) => new Secret(name)));
      let now = 1_000_000;
      for (const request of requests) {
        now += request.pass;
        if (request.isCleared) {
          keys.clear(now);
          for (const model of models.values()) model.clear();
          assert.deepEqual(keys.cooldowns(now), []);
        }
        run(keys, models, request, now);
        for (const model of MODELS) {
          const isResting = [...models.values()].every((one) => one.until(model) > now);
          assert.equal(keys.allResting(now, 0, model), isResting);
        }
        // What operators see is what holds.
        for (const [position, name] of names.entries()) {
          for (const model of MODELS) {
            const own = keys.cooldowns(now).filter((one) => one.key === position + 1 && (one.model ?? model) === model);
            const until = Math.max(-Infinity, ...own.map((one) => one.until));
            const expected = models.get(name)!.until(model);
            assert.equal(until, expected > now ? expected : -Infinity);
          }
        }
      }
    },
  );
  expect(fc.assert(property, { numRuns: RUNS })).toBeUndefined();
});
