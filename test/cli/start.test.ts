import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const MAIN = new URL("../../src/cli/main.js", import.meta.url).pathname;
const ROOT = new URL("../..", import.meta.url).pathname;
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

/** Serves the shipped configuration until it listens, and ends. @returns what `preload` said on stderr at the exit. */
async function serve(preload: string): Promise<readonly string[]> {
  const config = join(temporary, "gateway.yaml");
  const shipped = await readFile(join(ROOT, "gateway.yaml"), "utf8");
  await writeFile(config, shipped.replaceAll(/port: \d+/g, "port: 0"));
  const imported = `data:text/javascript,${encodeURIComponent(preload)}`;
  const child = spawn(process.execPath, ["--import", imported, MAIN, "--config", config, "serve"], {
    env: { TMPDIR: temporary },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stderr.on("data", (lines: Buffer) => {
    if (lines.includes('"listening"')) child.kill("SIGTERM");
  });
  const [told, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([code, told]).toEqual([0, expect.any(String)]);
  return JSON.parse(told.trim().split("\n").at(-1)!) as readonly string[];
}

const TELL_LOADED = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  process.on("exit", () => process.stderr.write(JSON.stringify(loaded) + "\\n"));`;

const TELL_BUILT_IN = `process.on("exit", () => process.stderr.write(JSON.stringify(process.moduleLoadList) + "\\n"));`;

/** Each takes a third of a millisecond and 30 KB. */
const MAX_MODULES_COUNT = 680;

test("a start loads so many modules, and none that few gateways need", async () => {
  const loaded = await serve(TELL_LOADED);
  const files = loaded.filter((url) => url.startsWith("file:"));
  expect(files.length).toBeGreaterThan(200);
  expect(files.length).toBeLessThan(MAX_MODULES_COUNT);
  const needless =
    /node_modules\/(?:ajv\/dist\/compile|jose|yaml|ioredis|nodemailer|openid-client|@smithy|@aws-crypto|@opentelemetry)\/|(?:undici|@prometheus-io\/client)\/index\.js$/;
  expect(files.filter((url) => needless.test(url))).toEqual([]);
});

const compilers = (names: readonly string[]) => names.filter((name) => name.includes("amaro"));

test("a second start strips no types", async () => {
  expect(compilers(await serve(TELL_BUILT_IN))).not.toEqual([]);
  expect(compilers(await serve(TELL_BUILT_IN))).toEqual([]);
});
