import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundlePackages } from "./bundle.ts";
import { keepReachableDeclarations } from "./declarations.ts";

/**
 * Builds what the published package holds: the JavaScript and declarations that tsc makes of the sources, the files that
 * the sources read at run time, and the pages. `npm pack` and `npm publish` call it. It writes to dist/ of the checkout,
 * or of the folder that is its argument.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(resolve(process.argv[2] ?? ROOT), "dist");

/** Files that the sources read beside themselves. */
const ASSETS = ["src/**/*.{lua,json}", "schemas/**/*.json", "schemas/*.gen.{js,d.ts}"];
const PAGES_SOURCES = ["src/ui/**"];
/** For editors alone: the package has them where the modeline of gateway.yaml looks. */
const EDITOR_SCHEMAS = ["schemas/gateway.schema.json", "schemas/config-test.schema.json"];

for (const folder of ["src", "plugins", "schemas"]) rmSync(join(DIST, folder), { recursive: true, force: true });
run(binary("typescript", "tsc"), ["-p", join(ROOT, "deploy/package"), "--outDir", DIST]);
for (const path of globSync(ASSETS, { cwd: ROOT, exclude: [...PAGES_SOURCES, ...EDITOR_SCHEMAS] })) copy(path);
writeCommand();
await bundlePackages(ROOT, DIST);
const { name, version, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};
// The sources name `#kit` and others; Node and editors look them up in the nearest package.json.
const imports = {
  "#kit": entry("src/kit/index"),
  "#schema": entry("schemas/types.gen"),
  "#bundled/*": "./bundled/*.js",
};
writeFileSync(join(DIST, "package.json"), `${JSON.stringify({ name, version, type: "module", imports }, null, 2)}\n`);
const entries = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [target.types]));
keepReachableDeclarations(DIST, entries, { "#kit": imports["#kit"].types, "#schema": imports["#schema"].types });
run(process.execPath, [join(ROOT, "src/ui/build.ts"), "--out", join(DIST, "ui")]);

function entry(path: string): { readonly types: string; readonly default: string } {
  return { types: `./${path}.d.ts`, default: `./${path}.js` };
}

function copy(path: string): void {
  const to = join(DIST, path);
  mkdirSync(dirname(to), { recursive: true });
  // Generated modules are JavaScript that names TypeScript files.
  if (path.endsWith(".gen.js")) writeFileSync(to, compiledNames(readFileSync(join(ROOT, path), "utf8")));
  else copyFileSync(join(ROOT, path), to);
}

function compiledNames(text: string): string {
  return text.replaceAll(/(from "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"');
}

/** The command's second file is JavaScript already; it names one TypeScript file. The first, main.js, ships as it is. */
function writeCommand(): void {
  const text = readFileSync(join(ROOT, "src/cli/start.js"), "utf8");
  writeFileSync(join(DIST, "src/cli/start.js"), text.replaceAll(/(import\("\.\/[^"]+)\.ts"/g, '$1.js"'));
}

function binary(name: string, bin: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { bin: bins } = JSON.parse(readFileSync(manifest, "utf8")) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  return join(dirname(manifest), bins[bin]);
}

function run(file: string, args: readonly string[]): void {
  const isNative = file === process.execPath;
  const { status } = spawnSync(process.execPath, isNative ? args : [file, ...args], { stdio: "inherit", cwd: ROOT });
  if (status !== 0) process.exit(status ?? 1);
}
