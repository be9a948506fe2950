import { expect, test } from "vitest";
import { type Store, storeUnavailable } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { answers } from "../support/upstream.ts";

const away = () => Promise.reject(storeUnavailable(new Error("away")));

/** A store that admits nothing, and notes who asks for counters. */
async function withoutAdmission() {
  const asked = { windows: 0 };
  const bench = await Bench.create({
    override: (store: Store) => ({
      admit: away,
      windows(userId, limits) {
        asked.windows += 1;
        return store.windows(userId, limits);
      },
    }),
  });
  return { bench, asked };
}

test("an admission that the store does not answer is one wait: counters are not asked for", async () => {
  const { bench, asked } = await withoutAdmission();
  bench.upstream.play(answers());
  const client = await bench.serve();
  expect(client.refused).toMatchObject({ error: { code: "STORE_UNAVAILABLE" }, headers: {} });
  expect(asked.windows).toBe(0);
  expect(bench.upstream.sources).toHaveLength(0);
  await bench.audit();
});

test("any other refusal tells the counters", async () => {
  const asked: string[] = [];
  const bench = await Bench.create({
    credits: 0n,
    override: (store) => ({
      windows(userId, limits) {
        asked.push(userId);
        return store.windows(userId, limits);
      },
    }),
  });
  const client = await bench.serve();
  expect(client.refused?.error).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  expect(asked).toEqual(["ann"]);
  expect(Object.keys(client.refused?.headers ?? {})).toContain("X-RateLimit-Limit-Day");
  await bench.audit();
});
