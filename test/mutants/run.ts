/**
 * What the suites notice: small mistakes are put into the sources, one at a time, and the tests that run the place of
 * each are run, the shortest first.
 *
 * `npm run mutants -- [--seed N] [--count 200] [--in src/pipeline,src/store,src/dialects,src/upstream] [--at_once 2]`.
 * Works on copies in the system's temporary folder. Suites that start processes are left out, and of a place that
 * many tests run the longest. A mistake in a place that no test runs survives. The seed repeats the choice while the
 * sources stay as they are.
 */
import { spawn } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { functionsAround, type Mutant, mutantsOf, pick } from "./mutants.ts";
import type { Reach } from "./reach.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** Tests of one place: the shortest, until they take this long together. Some places are on the way of every request. */
const MAX_TESTS_MS = 120_000;
/** A mutant that loops for ever is noticed too; a busy machine is not one. */
const TIMEOUT_MS = 5 * MAX_TESTS_MS;
const COPIED = [
  "src",
  "plugins",
  "schemas",
  "test",
  "bench",
  "deploy",
  "package.json",
  "tsconfig.json",
  "gateway.yaml",
  "README.md",
];

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    in: { type: "string", default: "src/pipeline,src/store,src/dialects,src/upstream" },
    at_once: { type: "string", default: "2" },
  },
});

const folder = mkdtempSync(join(tmpdir(), "mutants-"));
const links: string[] = [];
try {
  await run();
} finally {
  // What the links lead to is not ours to remove.
  for (const link of links) unlinkSync(link);
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const copies = Array.from({ length: Number(values.at_once) }, (_, index) => copyProject(join(folder, String(index))));
  const reaches = await reachOfTests(copies[0]!);
  const candidates = globSync(
    values.in.split(",").map((part) => `${part}/**/*.ts`),
    { cwd: ROOT },
  )
    .sort()
    .flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), "utf8")));
  const chosen = pick(candidates, Number(values.count), Number(values.seed));
  const survivors: Mutant[] = [];
  const left = [...chosen];
  let done = 0;
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = left.shift(); mutant; mutant = left.shift()) {
        const began = performance.now();
        const tests = testsOf(mutant, reaches);
        const isCaught = tests.length > 0 && (await isNoticed(mutant, tests, copy));
        if (!isCaught) survivors.push(mutant);
        const seconds = ((performance.now() - began) / 1000).toFixed(0);
        done += 1;
        console.log(
          `${done}/${chosen.length} ${isCaught ? "caught" : "SURVIVED"} ${describe(mutant)} (${tests.length} files, ${seconds} s)`,
        );
      }
    }),
  );
  console.log(
    `${candidates.length} places; of ${chosen.length} mutants ${chosen.length - survivors.length} were caught`,
  );
  for (const mutant of survivors) console.log(`survived: ${describe(mutant)}`);
}

function copyProject(to: string): string {
  const copy = join(to, "project");
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  const made = [join(copy, "node_modules"), join(to, "shared")];
  symlinkSync(join(ROOT, "node_modules"), made[0]!);
  symlinkSync(join(ROOT, "../shared"), made[1]!);
  links.push(...made);
  return copy;
}

/** What each test file runs of the sources as they are; one that fails is left out. */
async function reachOfTests(copy: string): Promise<Reach[]> {
  const written = join(folder, "reach");
  mkdirSync(written);
  console.log("every test once, to see what it runs");
  const pass = await passes(copy, { MUTANTS_REACH: written }, 6 * TIMEOUT_MS);
  if (!pass) console.log("a test file that fails as it is is left out");
  return readdirSync(written).map((name) => JSON.parse(readFileSync(join(written, name), "utf8")) as Reach);
}

/** The tests that run the innermost named function around a place, the shortest first. */
function testsOf({ file, line }: Mutant, reaches: readonly Reach[]): string[] {
  const known = reaches.filter(({ functions }) => functions[file] !== undefined);
  const name = functionsAround(readFileSync(join(ROOT, file), "utf8"), line).find((one) =>
    known.some(({ functions }) => functions[file]!.includes(one)),
  );
  const found = name === undefined ? known : known.filter(({ functions }) => functions[file]!.includes(name));
  let left = MAX_TESTS_MS;
  return found
    .sort((one, other) => one.durationMs - other.durationMs)
    .filter(({ durationMs }) => (left -= durationMs) > 0)
    .map(({ test }) => test);
}

async function isNoticed(mutant: Mutant, tests: readonly string[], copy: string): Promise<boolean> {
  const path = join(copy, mutant.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, mutant.text);
  try {
    return !(await passes(copy, { MUTANTS_TESTS: tests.join(",") }, TIMEOUT_MS));
  } finally {
    writeFileSync(path, text);
  }
}

function describe({ file, line, from, to }: Mutant): string {
  return `${file}:${line} ${JSON.stringify(from)} -> ${JSON.stringify(to)}`;
}

/** Whether the tests pass with the sources as they are in the copy. */
function passes(copy: string, env: Readonly<Record<string, string>>, timeout: number): Promise<boolean> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", "test/mutants/vitest.config.ts", "--reporter", "dot"];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: { ...process.env, ...env },
    stdio: "ignore",
    timeout,
    killSignal: "SIGKILL",
  });
  child.on("exit", (code) => resolve(code === 0));
  return promise;
}
