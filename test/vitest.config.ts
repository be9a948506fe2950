import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Half of the suites wait for sockets and timers most of the time.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    dangerouslyIgnoreUnhandledErrors: false,
    // `skipIf(!shared)` style skips are failures in CI: see test/support/shared.ts.
    passWithNoTests: false,
  },
});
