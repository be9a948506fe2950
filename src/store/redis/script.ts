import { readFileSync } from "node:fs";
import { hash } from "node:crypto";

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
