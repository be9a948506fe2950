import { expect, test } from "vitest";
import { drain } from "../src/drain.ts";
import type { Listening } from "../src/server/listen.ts";
import type { PublicServer } from "../src/server/public.ts";
import { collectingLog } from "./store/resilient/flaky.ts";

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
    close: () => closed.promise,
    closeAll() {
      done.push("cut");
      closed.resolve();
    },
  };
  const drained = drain({
    server,
    listening,
    delay: 0,
    timeout,
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
