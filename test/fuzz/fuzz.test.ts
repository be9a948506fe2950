import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";
import { inputOf, saying } from "./inputs.ts";
import { MAGIC } from "./protocol.ts";

const SEED = 20_260_122;
const CALLER = { key: "key", token: "token" };

test("the same seed and number make the same bytes, other numbers make others", () => {
  const inputs = Array.from({ length: 200 }, (_, index) => inputOf(SEED, index, CALLER));
  expect(inputs).toEqual(inputs.map((_, index) => inputOf(SEED, index, CALLER)));
  expect(new Set(inputs.map(({ bytes }) => bytes.toString("latin1"))).size).toBeGreaterThan(150);
  expect(new Set(inputs.map(({ name }) => name)).size).toBeGreaterThanOrEqual(6);
});

test("whatever comes: documented answers, nobody else waits, nothing is left", async () => {
  const { failures, statuses, bystander } = await fuzz({ seed: SEED, inputs: 500, minutes: 0.4 });
  expect(failures.join("\n")).toBe("");
  expect(statuses[200], "some of it is served").toBeGreaterThan(10);
  expect(bystander.requests).toBeGreaterThan(10);
});

test("a request that holds the event loop is noticed", async () => {
  const { failures, bystander } = await fuzz({
    seed: SEED,
    inputs: 60,
    minutes: 0.4,
    blocking: true,
    make: (seed, index, caller) => (index === 30 ? saying(MAGIC, caller) : inputOf(seed, index, caller)),
  });
  expect(failures.join("\n")).toMatch(
    /^the bystander waited \d+ ms: a turn of the event loop took \d+ ms, near input \d+$/,
  );
  expect(bystander.held).toBeGreaterThan(1_000);
});
