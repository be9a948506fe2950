import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { call, chat } from "../simulator/support.ts";

const MAIN = new URL("../../src/cli/main.js", import.meta.url).pathname;

const running: ChildProcess[] = [];
afterEach(() => running.splice(0).forEach((child) => child.kill("SIGKILL")));

function sim(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, "sim", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  return { child, exit: once(child, "exit"), stdout: child.stdout, stderr: text(child.stderr) };
}

async function originOf({ stdout }: ReturnType<typeof sim>): Promise<string> {
  const [line] = (await once(stdout, "data")) as [Buffer];
  return line.toString().trim();
}

test.each(["SIGINT", "SIGTERM"] as const)("prints its origin, serves, and ends on %s", async (signal) => {
  const started = sim("--port", "0");
  const origin = await originOf(started);
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await call(`${origin}/v1/chat/completions`, { body: chat("hi") })).status).toBe(200);
  started.child.kill(signal);
  expect(await started.exit).toEqual([0, null]);
});

test("a busy port is exit code 3 with the address in the message", async () => {
  const first = sim();
  const { port } = new URL(await originOf(first));
  const second = sim("--port", port);
  expect(await second.exit).toEqual([3, null]);
  expect(await second.stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
});

test.each([
  ["--port", "x"],
  ["--port", "70000"],
  ["--prot", "1"],
])("%s %s is refused", async (...args) => {
  const started = sim(...args);
  expect(await started.exit).toEqual([2, null]);
  expect(await started.stderr).toMatch(/port/);
});
