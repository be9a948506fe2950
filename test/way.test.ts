import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { expect, test } from "vitest";

const SOURCES = new URL("../src/", import.meta.url).pathname;
const TEXT = readFileSync(join(SOURCES, "README.md"), "utf8");

test("every file on the way of a request is where src/README.md says, and is loaded by a start of the gateway", () => {
  const section = TEXT.slice(TEXT.indexOf("## One request"));
  const named = [...section.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => normalize(join(SOURCES, link!)));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
  const loaded = importedBy(join(SOURCES, "gateway/start.ts"));
  expect(named.filter((path) => !loaded.has(path))).toEqual([]);
});

test("every folder has its line there", () => {
  const folders = readdirSync(SOURCES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const named = [...TEXT.matchAll(/^\| `([\w-]+)\/` /gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(folders.map(({ name }) => name)));
});

/** Everything that a file imports, however far away. */
function importedBy(path: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(path)) return known;
  known.add(path);
  const text = readFileSync(path, "utf8");
  // What only some gateways need, such as the store on Redis, is loaded by a call.
  for (const [, specifier] of text.matchAll(/(?:^(?:import|export)[^"]*? from |\bimport\()"(\.[^"]+\.ts)"/gm)) {
    importedBy(normalize(join(path, "..", specifier!)), known);
  }
  return known;
}
