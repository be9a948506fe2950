import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface Script {
  readonly name: string;
  readonly lua: string;
  /** The name under which a server knows it once it has run. */
  readonly sha1: string;
}

/**
 * Reads `scripts/<name>.lua`. Parts, files of the same folder, are put between its first line, which names the flags,
 * and the rest.
 */
export function loadScript(name: string, ...parts: readonly string[]): Script {
  const [flags, ...body] = read(name).split("\n");
  const lua = [flags, ...parts.map(read), ...body].join("\n");
  return { name, lua, sha1: hash("sha1", lua) };
}

function read(name: string): string {
  return readFileSync(new URL(`scripts/${name}.lua`, import.meta.url), "utf8");
}

/** Calls that one method has under way at once: less than what the connection lets wait, so that requests have room. */
const BATCH_SIZE = 200;

/** Works on all items, some at a time; the results are in their order. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += BATCH_SIZE) {
    results.push(...(await Promise.all(items.slice(at, at + BATCH_SIZE).map(work))));
  }
  return results;
}
