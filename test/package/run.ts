import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The first versions of each line that package.json promises, and the one that the checkout brings. */
const NODES = ["22.20.0", "24.12.0", process.versions.node];

/** Packs the package, and installs and uses it on each Node; those that are not here come from npm. */
const { status } = spawnSync("npx", ["vitest", "run", "--config", "test/vitest.config.ts", "test/package"], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  stdio: "inherit",
  env: { ...process.env, PACKAGE_NODES: NODES.join(",") },
});
process.exitCode = status ?? 1;
