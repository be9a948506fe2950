import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("log-child.ts", import.meta.url));

/** The exit code of a process whose standard error is a pipe to `reader`; a shell makes it, for Node's are sockets. */
async function exitCode(lines: number, delayMs: number, reader: string): Promise<number> {
  const script = `{ "$0" "$1" ${lines} ${delayMs} 2>&1 >/dev/null; echo "code $?" >&2; } | ${reader}`;
  const shell = spawn("/bin/sh", ["-c", script, process.execPath, PROGRAM], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  // The reader too.
  onTestFinished(() => void process.kill(-shell.pid!, "SIGKILL"));
  let text = "";
  for await (const chunk of shell.stderr) {
    text += String(chunk);
    const code = /^code (\d+)$/m.exec(text);
    if (code !== null) return Number(code[1]);
  }
  await once(shell, "exit");
  throw new Error(text);
}

test.each([
  ["has gone", 1, "exec sleep 0.1"],
  ["stands still", 500, "exec sleep 60"],
  ["reads", 500, "cat >/dev/null"],
])("a process whose reader of standard error %s exits, with its own code", async (_reader, lines, reader) => {
  expect(await exitCode(lines, 600, reader)).toBe(7);
});
