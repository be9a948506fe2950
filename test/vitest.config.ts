import { defineConfig } from "vitest/config";

const inFolders = (...folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);
/** Suites that start processes, and look at those. */
const CHILD_SUITES = inFolders("agents", "browser", "chaos", "cli", "deploy", "e2e/process", "fuzz", "package");
/** Suites that look at what their own process has: memory, handles, signals, work. */
const OWN_PROCESS_SUITES = inFolders("bench", "counted", "gateway", "limits", "workers");
export const PROCESS_SUITES = [...CHILD_SUITES, ...OWN_PROCESS_SUITES];

export const COMMON = {
  pool: "forks",
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Commands print for a terminal unless a test says otherwise.
  env: { GITHUB_ACTIONS: "" },
  setupFiles: new URL("support/seed.ts", import.meta.url).pathname,
  // A worker runs many files: what one of them replaces must not reach the next.
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
} as const;

/** Tests that import the package by its name get the sources, not what was built of them. */
export const SOURCES = { ssr: { resolve: { conditions: ["route-gateway-source", "node", "development"] } } };

export default defineConfig({
  ...SOURCES,
  test: {
    root: new URL("..", import.meta.url).pathname,
    // Of two cores a fifth is idle with three: suites wait for sockets, timers and processes.
    maxWorkers: 4,
    dangerouslyIgnoreUnhandledErrors: false,
    // Skips for want of `../shared` are failures in CI: see test/support/shared.ts.
    passWithNoTests: false,
    projects: [
      {
        ...SOURCES,
        test: {
          ...COMMON,
          name: "pure",
          include: ["test/**/*.test.ts"],
          exclude: PROCESS_SUITES,
          // Modules are loaded once a worker instead of once a file: the sources keep no state in modules.
          isolate: false,
        },
      },
      { ...SOURCES, test: { ...COMMON, name: "children", include: CHILD_SUITES, isolate: false } },
      { ...SOURCES, test: { ...COMMON, name: "process", include: OWN_PROCESS_SUITES } },
    ],
  },
});
