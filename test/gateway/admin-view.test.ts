import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { EventLoopMonitor } from "../../src/gateway/admin-view.ts";
import { poll } from "../e2e/support/child.ts";

test("an event loop that stood still is noticed as soon as it runs again, and forgiven in time", async () => {
  const loop = new EventLoopMonitor({ maxBlockMs: 1_000, recoveryMs: 300 });
  onTestFinished(() => loop.close());
  await sleep(100);
  expect(loop.blocked).toBe(false);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  await poll(() => loop.blocked);
  await poll(() => !loop.blocked);
});

test("one that stands still from its first moment on is noticed, too", async () => {
  const loop = new EventLoopMonitor({ maxBlockMs: 1_000, recoveryMs: 300 });
  onTestFinished(() => loop.close());
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  await poll(() => loop.blocked, 2_000);
  expect(loop.blocked).toBe(true);
  await poll(() => !loop.blocked);
});
