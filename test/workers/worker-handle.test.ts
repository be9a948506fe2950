import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { WorkerHandle } from "../../src/workers/worker-handle.ts";
import { Workspace } from "../e2e/support/process.ts";

const PROGRAM = fileURLToPath(new URL("worker-handle-child.ts", import.meta.url));

test("whom a worker was being given when it died is told at once, every time", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const { code, stdout, stderr } = await workspace.spawn(process.execPath, [PROGRAM]).exited;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { answered, reset, waiting } = JSON.parse(stdout) as Record<"answered" | "reset" | "waiting", number>;
  expect(answered).toBeGreaterThan(0);
  expect(reset, "the worker had at least one on the way").toBeGreaterThan(0);
  expect(waiting).toBe(0);
});

/** Of a worker that hears what it is told, and says nothing. */
function silent({ connected = true } = {}) {
  const child = Object.assign(new EventEmitter(), { pid: 7, send: () => true });
  const worker = Object.assign(new EventEmitter(), { process: child, isConnected: () => connected, send: () => true });
  const handle = new WorkerHandle(
    worker as unknown as Worker,
    () => ({ type: "end" }) as never,
    () => false,
  );
  return { child, handle };
}

test("one that has ended is not waited for", async () => {
  const { child, handle } = silent({ connected: false });
  child.emit("exit", 1, null);
  await handle.exited;
  await expect(handle.ask("report", { timeoutMs: 60_000 })).rejects.toThrow("the worker ended");
});

test("of one that does not answer in time whoever asked is told that it may be done, and may ask again", async () => {
  await expect(silent().handle.ask("call", { timeoutMs: 1 })).rejects.toMatchObject({
    code: "OVERLOADED",
    message: "Worker 7 does not answer in time: look whether it was done",
  });
});
