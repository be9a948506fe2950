import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newSpanId, newTraceId, timedUuid } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

/** More than Node draws random bytes for at once. */
const MANY = 3000;

test("a timed UUID is of version 7 and begins with its time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (at) => {
      const id = timedUuid(at);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(at);
    }),
    { numRuns: RUNS },
  );
});

test("no two ids are the same, and none shows what another is made of", () => {
  const ids = Array.from({ length: MANY }, () => [timedUuid(1).slice(19), newTraceId(), newSpanId()]).flat();
  expect(new Set(ids).size).toBe(3 * MANY);
  const halves = new Set(ids.flatMap((id) => (id.length === 32 ? [id.slice(0, 16), id.slice(16)] : [id])));
  expect(halves.size).toBe(4 * MANY);
});
