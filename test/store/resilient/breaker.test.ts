import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { storeUnavailable } from "../../../src/kit/index.ts";
import { StoreBreaker } from "../../../src/store/resilient/breaker.ts";
import { START } from "../support.ts";

const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };

const away = () => {
  throw storeUnavailable(new Error("away"));
};

function build() {
  const clock = { now: START };
  const changes: boolean[] = [];
  const circuit = new StoreBreaker({ now: () => clock.now, onChange: (away) => changes.push(away) });
  let asked = 0;
  const ask = async (answer: () => unknown) =>
    circuit.ask(async () => {
      asked++;
      return answer();
    });
  const fail = async (times: number) => {
    for (let turn = 0; turn < times; turn++) await expect(ask(away)).rejects.toMatchObject(UNAVAILABLE);
  };
  return { clock, changes, circuit, ask, fail, asked: () => asked };
}

test("answers pass, at once when they come at once", () => {
  const { circuit } = build();
  expect(circuit.ask(() => 7)).toBe(7);
  expect(circuit.away).toBe(false);
});

test("after three failures in a row one question in 100 ms is asked, until one is answered", async () => {
  const { clock, changes, circuit, ask, fail, asked } = build();
  await fail(2);
  await ask(() => 1);
  await fail(2);
  expect([circuit.away, changes]).toEqual([false, []]);
  await fail(1);
  expect([circuit.away, changes]).toEqual([true, [true]]);
  const before = asked();
  await fail(50);
  expect(asked() - before, "the first probe").toBe(1);
  clock.now += 99;
  await fail(50);
  expect(asked() - before).toBe(1);
  clock.now += 1;
  await fail(50);
  expect(asked() - before).toBe(2);
  clock.now += 100;
  expect(await ask(() => "back")).toBe("back");
  expect([circuit.away, changes]).toEqual([false, [true, false]]);
  expect(await ask(() => "again")).toBe("again");
});

test("a store that throws at once fails like one that rejects", () => {
  const { circuit } = build();
  for (let turn = 0; turn < 3; turn++) expect(() => circuit.ask(away)).toThrow("Store unavailable");
  expect(circuit.away).toBe(true);
});

test("an error that is none of absence is an answer", async () => {
  const { circuit, ask, fail } = build();
  await fail(2);
  const fault = new Error("fault");
  await expect(
    ask(() => {
      throw fault;
    }),
  ).rejects.toBe(fault);
  await fail(2);
  expect(circuit.away).toBe(false);
});

test("failures of questions that were asked before the last answer do not count", async () => {
  const { circuit, ask, fail } = build();
  const late = Promise.withResolvers<void>();
  const questions = Array.from({ length: 5 }, () => ask(() => late.promise.then(away)));
  await ask(() => 1);
  late.resolve();
  for (const question of questions) await expect(question).rejects.toMatchObject(UNAVAILABLE);
  expect(circuit.away).toBe(false);
  await fail(3);
  expect(circuit.away).toBe(true);
});

test.each([-3_600_000, 86_400_000])("a clock that jumps by %i ms does not stop the probes", async (jump) => {
  const { clock, ask, fail } = build();
  await fail(4);
  clock.now += jump;
  expect(await ask(() => "asked")).toBe("asked");
});

test("no more than 10,000 wait: the next one fails at once", async () => {
  const { circuit, ask } = build();
  const answer = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 10_000 }, () => ask(() => answer.promise));
  await expect(ask(() => 1)).rejects.toMatchObject(UNAVAILABLE);
  expect(circuit.away, "which says nothing of the store").toBe(false);
  answer.resolve();
  await Promise.all(waiting);
  expect(await ask(() => 1)).toBe(1);
});

test("who asks seldom of itself is let through, and ends the absence", async () => {
  const { circuit, ask, fail } = build();
  await fail(4);
  expect(await circuit.observe(async () => "seen")).toBe("seen");
  expect(await ask(() => 1)).toBe(1);
});

const never = (): Promise<never> => new Promise(() => {});

describe("in a hurry", () => {
  test("who waits for a store that answers nothing is told that it is away, and one failure is enough", async () => {
    const { circuit, ask } = build();
    onTestFinished(() => circuit.close());
    const before = ask(never);
    circuit.leave();
    circuit.hurry();
    const after = circuit.observe(never);
    await expect(before).rejects.toMatchObject(UNAVAILABLE);
    await expect(after).rejects.toMatchObject(UNAVAILABLE);
    expect(circuit.left).toBe(true);
    await expect(circuit.observe(never), "also who asks later").rejects.toMatchObject(UNAVAILABLE);
  });

  test("a store that answers others is not given up", async () => {
    const { circuit, ask } = build();
    onTestFinished(() => circuit.close());
    const slow = Promise.withResolvers<string>();
    const answer = ask(() => slow.promise);
    circuit.hurry();
    for (let turn = 0; turn < 100; turn++) await ask(() => sleep(10));
    slow.resolve("late");
    expect(await answer).toBe("late");
  });

  test("neither is one that nobody has asked", async () => {
    const { circuit, ask } = build();
    onTestFinished(() => circuit.close());
    circuit.leave();
    circuit.hurry();
    await sleep(1_000);
    expect(circuit.left).toBe(false);
    expect(await ask(() => 1)).toBe(1);
  });
});
