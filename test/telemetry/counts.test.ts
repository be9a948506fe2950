import { Counter, Histogram, Registry } from "@prometheus-io/client";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Counts, Distributions } from "../../src/telemetry/counts.ts";
import { PATIENCE, RUNS } from "../properties/runs.ts";

/** What the library says of the same counts is what ours must say, to the order of the lines. */
function twoRegistries() {
  const [ours, librarys] = [new Registry(), new Registry()];
  const count = { name: "c_total", help: "Counts.", labelNames: ["model", "status"] } as const;
  const time = { name: "t_seconds", help: "Times.", labelNames: ["model", "endpoint"] } as const;
  const bounds = [0.005, 0.1, 1, 2.5];
  const own = { counts: new Counts(ours, count), times: new Distributions(ours, { ...time, bounds }) };
  const registers = [librarys];
  const expected = {
    counts: new Counter({ ...count, registers }),
    times: new Histogram({ ...time, buckets: bounds, registers }),
  };
  return { ours, librarys, own, expected };
}

/** As it comes from another process. */
async function sent(registry: Registry): Promise<unknown> {
  const text = JSON.stringify(await registry.getMetricsAsJSON());
  return JSON.parse(text, (name, value: unknown) => (name === "exemplar" ? undefined : value));
}

/** As a supervisor tells it of two processes. */
async function together(registry: Registry): Promise<string> {
  const one = await registry.getMetricsAsJSON();
  return Registry.aggregate([one, one]).metrics();
}

const NAME = fc.oneof(fc.constantFrom("a", "b", 'route/"x\\y\nz', "", "__proto__"), fc.string());
const STATUS = fc.constantFrom(200, 502);
const AMOUNT = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true }));
const SECONDS = fc.oneof(
  fc.constantFrom(0, 0.005, 0.1, 1, 2.5, 2.500_001),
  fc.double({ min: 0, max: 10, noNaN: true }),
);
const WORK = fc.array(
  fc.oneof(
    fc.record({ name: NAME, status: STATUS, amount: AMOUNT }),
    fc.record({ name: NAME, endpoint: NAME, seconds: SECONDS }),
  ),
  { maxLength: 30 },
);

test(
  "a scrape says what the library would have counted, as text and as it is sent to a supervisor",
  async () => {
    await fc.assert(
      fc.asyncProperty(WORK, async (work) => {
        const { ours, librarys, own, expected } = twoRegistries();
        for (const step of work) {
          // The library joins labels with it: different ones would be one.
          const name = step.name.replaceAll("|", "-");
          if ("status" in step) {
            own.counts.add(step.amount, name, step.status);
            expected.counts.inc({ model: name, status: step.status }, step.amount);
          } else {
            const endpoint = step.endpoint.replaceAll("|", "-");
            own.times.observe(step.seconds, name, endpoint);
            expected.times.observe({ model: name, endpoint }, step.seconds);
          }
        }
        expect(await ours.metrics()).toBe(await librarys.metrics());
        expect(await sent(ours)).toEqual(await sent(librarys));
        expect(await together(ours)).toBe(await together(librarys));
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);
