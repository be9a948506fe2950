import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** A module that a declaration names: `from "…"`, `import("…")`, and a bare `import "…"`. */
const NAMED_MODULE = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;
const NODE_TYPES = '/// <reference types="node" />\n';

/**
 * Removes the declarations that nobody who imports an entry of the package can reach. Lets the entries load the types of
 * Node, which TypeScript 6 and later loads only where somebody asks for them.
 * @param entries their declarations, relative to the folder above `dist`
 * @param imports the declarations of `#` names, relative to `dist`
 * @throws Error: a declaration names a file that does not exist
 */
export function keepReachableDeclarations(
  dist: string,
  entries: readonly string[],
  imports: Readonly<Record<string, string>>,
): void {
  const kept = new Set(entries.map((entry) => join(dist, "..", entry)));
  for (const file of kept) {
    keepJsonAttribute(file);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(NAMED_MODULE)) {
      const target = Object.hasOwn(imports, name) ? join(dist, imports[name]) : declarationOf(file, name);
      if (target === null || (name.endsWith(".json") && existsSync(join(dirname(file), name)))) continue;
      if (!existsSync(target))
        throw new Error(`${relative(dist, file)} names ${name}, of which there is no declaration`);
      kept.add(target);
    }
  }
  for (const path of globSync("{src,plugins,schemas}/**/*.d.ts", { cwd: dist })) {
    if (!kept.has(join(dist, path))) rmSync(join(dist, path));
  }
  for (const entry of entries) {
    const file = join(dist, "..", entry);
    writeFileSync(file, NODE_TYPES + readFileSync(file, "utf8"));
  }
}

/** tsc leaves out the attribute without which it refuses the import of a JSON file. */
function keepJsonAttribute(file: string): void {
  const text = readFileSync(file, "utf8");
  const whole = text.replaceAll(/^(import .+ from ".+\.json");$/gm, '$1 with { type: "json" };');
  if (whole !== text) writeFileSync(file, whole);
}

/** The declaration of a module that is named by its path; null for a package. */
function declarationOf(file: string, name: string): string | null {
  if (!/^\.{1,2}\//.test(name)) return null;
  return join(dirname(file), dirname(name), `${basename(name).replace(/\.(?:ts|js)$/, "")}.d.ts`);
}
