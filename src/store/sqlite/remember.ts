import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const NAME = /^[a-z][a-z0-9-]*$/;

/**
 * The value kept in `<file>.<name>`, readable by its owner alone; without one, `value` is written. The caller holds the
 * database's write lock, so that of two processes the first decides.
 */
export function rememberInFile(file: string, name: string, value: string): string {
  if (!NAME.test(name) || name === "lock") throw new RangeError(`not a name for a remembered value: ${name}`);
  const path = `${file}.${name}`;
  const kept = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (kept) return kept;
  // Written aside and renamed: a process killed in between leaves no half of a secret behind.
  writeFileSync(`${path}.new`, value, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
  return value;
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
