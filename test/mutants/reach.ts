/**
 * Which functions of `src` each test file runs, and how long the file takes: written to `MUTANTS_REACH`, a file each.
 * A setup file of `vitest.config.ts` beside it.
 */
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { afterAll, expect, type RunnerTestSuite } from "vitest";

/** Lines of a file, from 1. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Reach {
  readonly test: string;
  readonly durationMs: number;
  readonly spans: Readonly<Record<string, readonly Span[]>>;
}

const ROOT = new URL("../..", import.meta.url).pathname;
const SOURCE_MAP = /\/\/# sourceMappingURL=data:application\/json[^,]*,([\w+/=]+)/g;

const began = performance.now();
const session = new Session();
session.connect();
await session.post("Debugger.enable");
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures to give
afterAll(async ({}, suite) => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const spans: Record<string, Span[]> = {};
  for (const { scriptId, url, functions } of result) {
    const file = url.replace(/^file:\/\//, "");
    if (!file.startsWith(`${ROOT}src/`)) continue;
    const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
    const encoded = [...scriptSource.matchAll(SOURCE_MAP)].at(-1)?.[1];
    const map = encoded && new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString()));
    const lineOf = lines(scriptSource, map || undefined);
    const called = functions.filter(({ ranges }) => ranges[0]!.count > 0).map(({ ranges }) => ranges[0]!);
    const found = called.map(({ startOffset, endOffset }) => ({
      from: lineOf(startOffset),
      to: lineOf(endOffset - 1),
    }));
    (spans[file.slice(ROOT.length)] ??= []).push(...found);
  }
  session.disconnect();
  if (fails(suite)) return;
  const test = expect.getState().testPath!.slice(ROOT.length);
  const reach: Reach = { test, durationMs: Math.round(performance.now() - began), spans };
  writeFileSync(join(process.env["MUTANTS_REACH"]!, `${test.replaceAll("/", "~")}.json`), JSON.stringify(reach));
});

/** What a test says that fails as it is cannot be known. */
function fails(suite: RunnerTestSuite): boolean {
  return suite.tasks.some((task) => task.result?.state === "fail" || (task.type === "suite" && fails(task)));
}

/** From an offset in what runs to a line of what was written. */
function lines(source: string, map: SourceMap | undefined): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    const entry = map?.findEntry(low, offset - starts[low]!);
    return (entry && "originalLine" in entry ? entry.originalLine : low) + 1;
  };
}
