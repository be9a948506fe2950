import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

/**
 * A folder of recordings beside the checkout, or null where there is none. Without any recordings the suite is skipped
 * with one loud line; with `CI=true` a single missing folder is a failure, because a suite that never runs proves nothing.
 */
export function sharedFixtures(folder: string): string | null {
  const path = `${ROOT}/${folder}`;
  if (existsSync(path)) return path;
  if (process.env["CI"] === "true" && existsSync(ROOT))
    throw new Error(`the recordings ${folder} are missing and CI=true`);
  console.warn(`SKIPPED: no recordings at ${folder}; place the shared fixtures beside the checkout to run them`);
  return null;
}
