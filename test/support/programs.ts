import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first of these programs that is on the PATH, or null. */
export function programOf(...names: readonly string[]): string | null {
  for (const name of names) {
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}

/**
 * Whether one of these programs is here. Without it a suite is skipped with one loud line; with `CI=true` that is a
 * failure, because a suite that never runs proves nothing.
 */
export function required(...names: readonly string[]): boolean {
  if (programOf(...names) !== null) return true;
  const missing = `no ${names.join(" or ")} on the PATH`;
  if (process.env["CI"] === "true") throw new Error(`${missing} and CI=true; npm run setup installs it`);
  console.warn(`SKIPPED: ${missing}; npm run setup installs it`);
  return false;
}
