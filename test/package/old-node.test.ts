import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { ROOT } from "../e2e/support/process.ts";
import { MANIFEST } from "./support/installed.ts";

const MAIN = join(ROOT, "src/cli/main.js");
const run = promisify(execFile);

interface Failure {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command's first file in a Node that says it has another version. */
async function startOn(version: string, args: readonly string[]): Promise<Failure> {
  const preload = `
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    Object.defineProperty(process, "version", { value: "v${version}" });`;
  const imported = `data:text/javascript,${encodeURIComponent(preload)}`;
  return run(process.execPath, ["--import", imported, MAIN, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Failure) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  );
}

describe("a Node that is too old", () => {
  test.each(["18.20.8", "20.19.5", "22.19.0", "23.11.0", "24.11.1", "25.2.0"])(
    "%s is refused in one line",
    async (version) => {
      expect(await startOn(version, ["--version"])).toEqual({
        code: 3,
        stdout: "",
        stderr: `gateway: needs Node.js 22.20, 24.12 or 26 and later of these lines; this is v${version}\n`,
      });
    },
  );

  test("is refused by every command, before anything else of it is read", async () => {
    const commands = [
      [],
      ["--help"],
      ["no-such-command"],
      ...createProgram().commands.map((command) => [command.name()]),
    ];
    expect(commands.length).toBeGreaterThan(15);
    const failures = await Promise.all(commands.map((args) => startOn("20.11.0", args)));
    for (const [at, { code, stdout, stderr }] of failures.entries()) {
      expect([commands[at], code, stdout, stderr.split("\n").length]).toEqual([commands[at], 3, "", 2]);
    }
  });
});

test.each(["22.20.0", "22.99.0", "24.12.0", "26.0.0", "28.1.0"])("Node %s is taken", async (version) => {
  expect(await startOn(version, ["--version"])).toEqual({ code: 0, stdout: `${MANIFEST.version}\n`, stderr: "" });
});

test("package.json promises the versions that the command takes", () => {
  expect(MANIFEST.engines.node).toBe("^22.20.0 || ^24.12.0 || >=26.0.0");
});
