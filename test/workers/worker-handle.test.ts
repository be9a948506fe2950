import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
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
