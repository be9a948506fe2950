import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * A folder of recordings beside the checkout, or null where there is none. Missing ones skip their suite with one loud
 * line; with `CI=true` that is a failure, because a suite that never runs proves nothing.
 */
export function sharedFixtures(folder: string): string | null {
  const path = fileURLToPath(new URL(`../../../shared/fixtures/${folder}`, import.meta.url));
  if (existsSync(path)) return path;
  if (process.env["CI"] === "true") throw new Error(`the recordings ${folder} are missing and CI=true`);
  console.warn(`SKIPPED: no recordings at ${folder}; place the shared fixtures beside the checkout to run them`);
  return null;
}
