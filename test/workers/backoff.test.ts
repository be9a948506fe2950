import { expect, test } from "vitest";
import { Backoff } from "../../src/workers/pool.ts";

test("a worker that served for a while is replaced at once; ones that die young wait, longer each time", () => {
  const backoff = new Backoff();
  expect(backoff.after(60_000)).toBe(0);
  expect([0, 0, 500, 0, 0, 0, 0, 0].map((lived) => backoff.after(lived))).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000,
  ]);
  expect(backoff.after(3_600_000)).toBe(0);
  expect(backoff.after(0), "and begins anew").toBe(100);
});
