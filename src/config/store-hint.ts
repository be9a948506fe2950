import { readFile } from "node:fs/promises";
import { parseBounded } from "./bounded-yaml.ts";

const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;

/**
 * The `store.url` that a configuration file would name if it were good, or null: where to look for the last good
 * configuration when the file at hand is bad. Never used to open a store.
 */
export async function storeUrlHint(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  try {
    const document = parseBounded(await readFile(file, "utf8"), { strict: false, uniqueKeys: false });
    const url: unknown = document.getIn(["store", "url"]);
    if (typeof url !== "string") return null;
    return url.replace(REFERENCE, (_all, name: string, fallback = "") => env[name] ?? fallback);
  } catch {
    return null;
  }
}
