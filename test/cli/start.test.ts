import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const MAIN = new URL("../../src/cli/main.js", import.meta.url).pathname;
const FOLDER = `route-gateway-${process.getuid!()}`;

let temporary: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "gateway-start-"));
  onTestFinished(() => rm(temporary, { recursive: true, force: true }));
});

async function help(env: NodeJS.ProcessEnv = {}): Promise<void> {
  const { stdout } = await run(process.execPath, [MAIN, "--help"], { env: { TMPDIR: temporary, ...env } });
  expect(stdout).toContain("Usage: gateway");
}

test("what a start has compiled is kept in a folder of the user's own", async () => {
  await help();
  expect(await readdir(join(temporary, FOLDER))).toHaveLength(1);
});

test("a folder that others may write to is left alone: what lies in it would be run", async () => {
  await mkdir(join(temporary, FOLDER));
  await chmod(join(temporary, FOLDER), 0o777);
  await help();
  expect(await readdir(join(temporary, FOLDER))).toEqual([]);
});

test("the folder that NODE_COMPILE_CACHE names is used in its place", async () => {
  const named = join(temporary, "named");
  await help({ NODE_COMPILE_CACHE: named });
  expect(await readdir(named)).toHaveLength(1);
  expect(await readdir(temporary)).toEqual(["named"]);
});
