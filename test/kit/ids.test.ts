import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newSpanId, newTraceId, Uuids } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

/** More than Node draws random bytes for at once. */
const MANY = 3000;
/** Values of a digit: of any, of a dash and of the version, of the variant. */
const VALUES: Readonly<Record<string, number>> = { "0": 16, "-": 1, "1": 1, "2": 4 };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([47])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a timed UUID is of version 7 and begins with its time", () => {
  const ids = new Uuids();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (at) => {
      const id = ids.timed(at);
      expect(UUID.exec(id)?.[1]).toBe("7");
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(at);
    }),
    { numRuns: RUNS },
  );
});

test("a random UUID is of version 4, and each of its other digits takes every value", () => {
  const ids = new Uuids();
  const seen = Array.from({ length: 36 }, () => new Set<string>());
  for (let count = 0; count < MANY; count += 1) {
    const id = ids.random();
    expect(UUID.exec(id)?.[1]).toBe("4");
    for (const [place, digit] of id.split("").entries()) seen[place]!.add(digit);
  }
  const sizes = seen.map(({ size }) => size);
  expect(sizes).toEqual("00000000-0000-1000-2000-000000000000".split("").map((kind) => VALUES[kind]));
});

test("no two ids are the same, and none shows what another is made of", () => {
  const uuids = new Uuids();
  const ids = Array.from({ length: MANY }, () => [
    uuids.timed(1).slice(19),
    uuids.random().slice(19),
    newTraceId(),
    newSpanId(),
  ]).flat();
  expect(new Set(ids).size).toBe(4 * MANY);
  const halves = new Set(ids.flatMap((id) => (id.length === 32 ? [id.slice(0, 16), id.slice(16)] : [id])));
  expect(halves.size).toBe(5 * MANY);
});
