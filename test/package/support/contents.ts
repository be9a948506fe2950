import { existsSync, globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { MANIFEST } from "./installed.ts";

/** What a program that was bundled imports and the gateway never reaches. */
const UNREACHED = new Set([
  "jiti",
  "@parcel/watcher",
  "@parcel/watcher-wasm",
  "bufferutil",
  "utf-8-validate",
  "@opentelemetry/api",
]);

/** `from "…"`, `import "…"`, `import("…")`, at a place where code stands. */
const IMPORTED = /(?:^|[;}\s])(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"\n]+)"|\bimport\("([^"\n]+)"\)/gm;
const BESIDE = /new URL\(\s*"(\.{1,2}\/[^"$]+)",\s*import\.meta\.url/g;

/** What is wrong with the files of the package, in words. */
export function faultsOf(folder: string): readonly string[] {
  const files = globSync("**/*", { cwd: folder, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [],
  );
  const needless = files.filter((path) => /\.test\.|\.map$|(?<!\.d)\.tsx?$|^test\//.test(path));
  const targets = [
    ...Object.values(MANIFEST.bin),
    ...Object.values(MANIFEST.exports).flatMap((target) =>
      typeof target === "string" ? [target] : [target["types"]!, target["default"]!],
    ),
  ];
  return [
    ...needless.map((path) => `${path} does not belong in the package`),
    ...targets.filter((path) => !existsSync(join(folder, path))).map((path) => `${path} is named and missing`),
    ...files
      .filter((path) => /^dist\/(?!ui\/).*\.(?:js|d\.ts)$/.test(path))
      .flatMap((path) => faultsOfCode(folder, path)),
  ];
}

function faultsOfCode(folder: string, path: string): readonly string[] {
  const text = readFileSync(join(folder, path), "utf8");
  const at = (name: string): string => join(folder, dirname(path), name);
  const known = { ...MANIFEST.dependencies, ...MANIFEST.peerDependencies };
  const names = [...text.matchAll(IMPORTED)].map(([, stated, called]) => stated ?? called!);
  const isThere = (name: string): boolean => {
    if (name.startsWith(".")) {
      const file = path.endsWith(".d.ts") ? at(name).replace(/(?:\.[jt]s)?$/, ".d.ts") : at(name);
      return existsSync(file) || existsSync(at(name));
    }
    if (name.startsWith("#") || isBuiltin(name)) return true;
    const owner = name.split("/", name.startsWith("@") ? 2 : 1).join("/");
    return Object.hasOwn(known, owner) || (path.startsWith("dist/bundled/") && UNREACHED.has(owner));
  };
  const isOwnCode = path.endsWith(".js") && !path.startsWith("dist/bundled/");
  const files = !isOwnCode ? [] : [...text.matchAll(BESIDE)].map(([, name]) => name!);
  return [
    ...names
      .filter((name) => !isThere(name))
      .map((name) => `${path} imports ${name}, which an installation does not have`),
    ...files.filter((name) => !existsSync(at(name))).map((name) => `${path} reads ${name}, which is not packed`),
    ...(/^\/\/# sourceMappingURL=(?!data:)/m.test(text) ? [`${path} names a source map that is not packed`] : []),
  ];
}
