import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Heap } from "../../../src/offline/replay/heap.ts";
import { RUNS } from "../../properties/runs.ts";

test("gives the least first, equals in the order in which they were added, whenever it is asked", () => {
  const action = fc.oneof({ weight: 2, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.constant("take" as const) });
  const property = fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
    const heap = new Heap<{ value: number; number: number }>((a, b) => a.value - b.value);
    const model: { value: number; number: number }[] = [];
    const given: unknown[] = [];
    const expected: unknown[] = [];
    for (const [number, one] of [...actions, ...actions.map(() => "take" as const)].entries()) {
      if (one === "take") {
        given.push(heap.least, heap.take());
        expected.push(model[0] ?? null, model.shift() ?? null);
      } else {
        heap.add({ value: one, number });
        model.push({ value: one, number });
        model.sort((a, b) => a.value - b.value || a.number - b.number);
      }
      given.push(heap.size);
      expected.push(model.length);
    }
    expect(given).toEqual(expected);
  });
  fc.assert(property, { numRuns: RUNS });
});
