import { expect, test } from "vitest";
import { Closing } from "../src/closing.ts";
import { Deadline } from "../src/deadline.ts";
import { storeUnavailable } from "../src/kit/index.ts";
import { collectingLog } from "./store/resilient/flaky.ts";

const never = (): Promise<never> => new Promise(() => {});

test("what is closed is closed in reverse, whatever throws or does not end", async () => {
  const { log, lines } = collectingLog();
  const closing = new Closing(log);
  const closed: string[] = [];
  const note = (name: string) => async () => void closed.push(name);
  closing.add(note("first"));
  closing.add(never);
  closing.add(async () => {
    throw new Error("broken");
  });
  closing.add(note("second"));
  closing.add(async () => {
    throw storeUnavailable(new Error("away"));
  });
  closing.add(never);
  closing.add(note("last"));
  await closing.all(new Deadline(0));
  expect(closed).toEqual(["last", "second", "first"]);
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "warn the store is away: it is not told of this end",
    "error close failed",
    "warn not everything was closed in time: passed over",
  ]);
  expect(lines.at(-1)).toMatchObject({ fields: { late: 2 } });
});

test("without a deadline each takes what it needs", async () => {
  const { log, lines } = collectingLog();
  const closing = new Closing(log);
  let ended = false;
  closing.add(async (deadline) => {
    expect(deadline).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 200));
    ended = true;
  });
  await closing.all(null);
  expect({ ended, lines }).toEqual({ ended: true, lines: [] });
});

test("what one step takes the next ones do not have", async () => {
  const deadline = new Deadline(10_000);
  const before = deadline.left;
  expect(await deadline.bounds(new Promise((resolve) => setTimeout(resolve, 100)))).toBe(true);
  expect(deadline.left).toBeLessThanOrEqual(before - 90);
  expect(await new Deadline(-1).bounds(never())).toBe(false);
  await expect(deadline.bounds(Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});
