import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { COMMON, PROCESS_SUITES } from "../vitest.config.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** The files to run, in this order. */
const TESTS = process.env["MUTANTS_TESTS"]?.split(",");

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((one, other) => place(one) - place(other)));
  }
}

function place({ moduleId }: TestSpecification): number {
  return TESTS?.indexOf(moduleId.slice(ROOT.length)) ?? 0;
}

/** The suites that start no process, in one worker; with `MUTANTS_REACH`, what each of them runs is written there. */
export default defineConfig({
  test: {
    ...COMMON,
    root: ROOT,
    maxWorkers: 1,
    isolate: false,
    bail: TESTS ? 1 : 0,
    include: TESTS ?? ["test/**/*.test.ts"],
    exclude: PROCESS_SUITES,
    setupFiles: [
      COMMON.setupFiles,
      ...(process.env["MUTANTS_REACH"] ? [new URL("reach.ts", import.meta.url).pathname] : []),
    ],
    sequence: { sequencer: InOrder },
  },
});
