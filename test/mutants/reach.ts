/**
 * Which functions of `src` each test file runs, and how long the file takes: written to `MUTANTS_REACH`, a file each.
 * A setup file of `vitest.config.ts` beside it.
 */
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { afterAll, expect, type RunnerTestSuite } from "vitest";

export interface Reach {
  readonly test: string;
  readonly durationMs: number;
  /** By source file: the names of functions and methods, `#` included. */
  readonly functions: Readonly<Record<string, readonly string[]>>;
}

const ROOT = new URL("../..", import.meta.url).pathname;

/** One for all files of a worker: what is counted anew after a pause misses functions that were compiled before it. */
const SESSION = Symbol.for("mutants.session");
const holder = globalThis as { [SESSION]?: Session };
const began = performance.now();
const session = (holder[SESSION] ??= await connected());
// What the file before has left behind runs for nobody.
await session.post("Profiler.takePreciseCoverage");

// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures to give
afterAll(async ({}, suite) => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const functions: Record<string, string[]> = {};
  for (const script of result) {
    const file = script.url.replace(/^file:\/\//, "");
    if (!file.startsWith(`${ROOT}src/`)) continue;
    const called = script.functions.filter(({ functionName, ranges }) => functionName !== "" && ranges[0]!.count > 0);
    (functions[file.slice(ROOT.length)] ??= []).push(...called.map(({ functionName }) => functionName));
  }
  if (fails(suite)) return;
  const test = expect.getState().testPath!.slice(ROOT.length);
  const reach: Reach = { test, durationMs: Math.round(performance.now() - began), functions };
  writeFileSync(join(process.env["MUTANTS_REACH"]!, `${test.replaceAll("/", "~")}.json`), JSON.stringify(reach));
});

async function connected(): Promise<Session> {
  const made = new Session();
  made.connect();
  await made.post("Profiler.enable");
  await made.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return made;
}

/** What a test says that fails as it is cannot be known. */
function fails(suite: RunnerTestSuite): boolean {
  return suite.tasks.some((task) => task.result?.state === "fail" || (task.type === "suite" && fails(task)));
}
