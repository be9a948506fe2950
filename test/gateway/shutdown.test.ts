import { expect, test } from "vitest";
import { Closing, Deadline, drain } from "../../src/gateway/shutdown.ts";
import { storeUnavailable } from "../../src/kit/index.ts";
import type { Listening } from "../../src/server/listen.ts";
import type { PublicServer } from "../../src/server/public.ts";
import { collectingLog } from "../store/resilient/flaky.ts";

/** A server with so many requests in flight, of which an abort ends all; what is done to it, in order. */
function serverWith(inFlight: number, timeout: number) {
  const done: string[] = [];
  const state = { inFlight };
  const server = {
    setDraining: () => done.push("draining"),
    inFlight: () => state.inFlight,
    abortAll() {
      done.push(`abort ${state.inFlight}`);
      state.inFlight = 0;
    },
  } as unknown as PublicServer;
  const closed = Promise.withResolvers<void>();
  const listening: Listening = {
    addresses: [],
    renew() {},
    close: () => closed.promise,
    closeAll() {
      done.push("cut");
      closed.resolve();
    },
  };
  const drained = drain({
    server,
    listening,
    delayMs: 0,
    timeoutMs: timeout,
    onLate: () => done.push("late"),
    onTimeout: () => done.push("timeout"),
    log: collectingLog().log,
  });
  return { state, done, drained };
}

test("with nothing in flight nobody is told to hurry", async () => {
  const { done, drained } = serverWith(0, 60_000);
  await drained;
  expect(done).toEqual(["draining", "cut"]);
});

test("what finishes in time is waited for", async () => {
  const { state, done, drained } = serverWith(2, 60_000);
  setTimeout(() => (state.inFlight = 0), 100);
  await drained;
  expect(done).toEqual(["draining", "cut"]);
});

test("what outlasts the timeout is ended, after what its end needs has been told to get ready", async () => {
  const { done, drained } = serverWith(2, 100);
  await drained;
  expect(done).toEqual(["draining", "late", "abort 2", "timeout", "cut"]);
});

test("so is what was read only while the last answers were written", async () => {
  const { state, done, drained } = serverWith(1, 0);
  const arrival = setInterval(() => {
    if (state.inFlight > 0) return;
    clearInterval(arrival);
    state.inFlight = 1;
  }, 1);
  await drained;
  expect(done).toEqual(["draining", "late", "abort 1", "timeout", "abort 1", "timeout", "cut"]);
});

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
    "warn store is down; shutdown not recorded there",
    "error close failed",
    "warn close timed out",
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
  const before = deadline.leftMs;
  expect(await deadline.bounds(new Promise((resolve) => setTimeout(resolve, 100)))).toBe(true);
  expect(deadline.leftMs).toBeLessThanOrEqual(before - 90);
  expect(await new Deadline(-1).bounds(never())).toBe(false);
  await expect(deadline.bounds(Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});
