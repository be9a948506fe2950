import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SHARED = fileURLToPath(new URL("../../../shared", import.meta.url));

/**
 * A folder of recordings beside the checkout, or null where there is none: the suite is skipped then, with one loud line.
 * With `CI=true` that holds only for a checkout with nothing beside it: a folder missing from what is there is a failure,
 * because a suite that never runs proves nothing.
 */
export function sharedFixtures(folder: string): string | null {
  const path = `${SHARED}/fixtures/${folder}`;
  if (existsSync(path)) return path;
  if (process.env["CI"] === "true" && existsSync(SHARED)) {
    throw new Error(`the recordings ${folder} are missing and CI=true`);
  }
  console.warn(`SKIPPED: no recordings at ${folder}; place the shared fixtures beside the checkout to run them`);
  return null;
}
