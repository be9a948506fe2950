/**
 * What the suites notice: small mistakes are put into the sources, one at a time, and the tests run.
 *
 * `npm run mutants -- [--seed N] [--count 200] [--in src/pipeline,src/store,src/dialects,src/upstream]`. Works on a copy
 * in the system's temporary folder. First the tests in the folder of the same name, then, for what they miss, every
 * test that imports the file and starts no process. The seed repeats the choice while the sources stay as they are.
 */
import { spawn } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Mutant, mutantsOf, pick } from "./mutants.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** A mutant that loops for ever is noticed too. */
const TIMEOUT_MS = 8 * 60_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    in: { type: "string", default: "src/pipeline,src/store,src/dialects,src/upstream" },
  },
});

const folder = mkdtempSync(join(tmpdir(), "mutants-"));
const copy = join(folder, "project");
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
];
for (const name of [...COPIED, "README.md"]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
const links = [join(copy, "node_modules"), join(folder, "shared")];
symlinkSync(join(ROOT, "node_modules"), links[0]!);
symlinkSync(join(ROOT, "../shared"), links[1]!);

const candidates = globSync(
  values.in.split(",").map((folder) => `${folder}/**/*.ts`),
  { cwd: ROOT },
)
  .sort()
  .flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), "utf8")));
const chosen = pick(candidates, Number(values.count), Number(values.seed));
const survivors: Mutant[] = [];
let near = 0;
try {
  for (const [index, mutant] of chosen.entries()) {
    const path = join(copy, mutant.file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, mutant.text);
    const isNear = !(await passes(["run", `test/${mutant.file.split("/")[1]}`]));
    const isCaught = isNear || !(await passes(["related", "--run", "--project", "pure", mutant.file]));
    writeFileSync(path, text);
    if (isNear) near += 1;
    if (!isCaught) survivors.push(mutant);
    console.log(`${index + 1}/${chosen.length} ${isCaught ? "caught" : "SURVIVED"} ${describe(mutant)}`);
  }
} finally {
  // What the links lead to is not ours to remove.
  for (const link of links) unlinkSync(link);
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  `${candidates.length} places; of ${chosen.length} mutants ${chosen.length - survivors.length} were caught, ${near} of them by the tests of their folder`,
);
for (const mutant of survivors) console.log(`survived: ${describe(mutant)}`);

function describe({ file, line, from, to }: Mutant): string {
  return `${file}:${line} ${JSON.stringify(from)} -> ${JSON.stringify(to)}`;
}

/** Whether the tests pass with the sources as they are in the copy. */
function passes([command, ...rest]: readonly [string, ...string[]]): Promise<boolean> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [vitest, command, "--config", "test/vitest.config.ts", "--bail", "1", "--reporter", "dot", ...rest];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: "ignore",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  child.on("exit", (code) => resolve(code === 0));
  return promise;
}
