import { defineConfig } from "vitest/config";

/** Suites that start processes, or that look at what their own process has: memory, handles, signals. */
export const PROCESS_SUITES = [
  "agents",
  "bench",
  "chaos",
  "cli",
  "deploy",
  "e2e/process",
  "fuzz",
  "gateway",
  "limits",
  "workers",
].map((folder) => `test/${folder}/**/*.test.ts`);

export const COMMON = {
  pool: "forks",
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // A worker runs many files: what one of them replaces must not reach the next.
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
} as const;

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    // Half of the suites wait for sockets and timers most of the time.
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
    // Skips for want of `../shared` are failures in CI: see test/support/shared.ts.
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...COMMON,
          name: "pure",
          include: ["test/**/*.test.ts"],
          exclude: PROCESS_SUITES,
          // Modules are loaded once a worker instead of once a file: the sources keep no state in modules.
          isolate: false,
        },
      },
      { test: { ...COMMON, name: "process", include: PROCESS_SUITES } },
    ],
  },
});
