import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/**
 * Builds what the published package holds into dist/: the JavaScript and declarations that tsc makes of the sources, the
 * files that the sources read at run time, and the pages. `npm pack` and `npm publish` call it.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(ROOT, "dist");

/**
 * Packages of which the gateway needs a small part: 30 MB of a tokenizer's other encodings, 10 MB of clients for AWS. That
 * part is bundled; their licences lie beside it.
 */
const BUNDLED = {
  tokenizer: "gpt-tokenizer/encoding/o200k_base",
  "aws-signature": "@smithy/signature-v4",
  sha256: "@aws-crypto/sha256-js",
} as const;

/** Files that the sources read beside themselves. */
const ASSETS = ["src/**/*.{lua,json}", "schemas/**/*.json", "schemas/*.gen.{js,d.ts}"];
const PAGES_SOURCES = ["src/ui/**"];
/** For editors alone: the package has them where the modeline of gateway.yaml looks. */
const EDITOR_SCHEMAS = ["schemas/gateway.schema.json", "schemas/config-test.schema.json"];

for (const folder of ["src", "plugins", "schemas"]) rmSync(join(DIST, folder), { recursive: true, force: true });
run(binary("typescript", "tsc"), ["-p", join(ROOT, "deploy/package")]);
for (const path of globSync(ASSETS, { cwd: ROOT, exclude: [...PAGES_SOURCES, ...EDITOR_SCHEMAS] })) copy(path);
writeCommand();
await bundlePackages();
// The sources name `#kit` and others; Node and editors look them up in the nearest package.json.
const imports = {
  "#kit": entry("src/kit/index"),
  "#schema": entry("schemas/types.gen"),
  "#bundled/*": "./bundled/*.js",
};
const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, string>;
writeFileSync(join(DIST, "package.json"), `${JSON.stringify({ name, version, type: "module", imports }, null, 2)}\n`);
run(process.execPath, [join(ROOT, "src/ui/build.ts")]);

function entry(path: string): Readonly<Record<string, string>> {
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

async function bundlePackages(): Promise<void> {
  const outDir = join(DIST, "bundled");
  const entries = Object.entries(BUNDLED).map(([name, from]) => [name, createRequire(import.meta.url).resolve(from)]);
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      target: "node22",
      rolldownOptions: { input: Object.fromEntries(entries), output: { format: "es", entryFileNames: "[name].js" } },
    },
  });
  const licences = Object.values(BUNDLED).map((from) => `${from}\n\n${licenceOf(from)}`);
  writeFileSync(join(outDir, "LICENSES.txt"), licences.join("\n\n"));
  for (const path of globSync("src/**/*.js", { cwd: DIST })) nameBundled(join(DIST, path));
}

/** Lets a compiled file import the bundled part in place of the package. */
function nameBundled(file: string): void {
  const text = readFileSync(file, "utf8");
  const named = Object.entries(BUNDLED).reduce(
    (changed, [name, from]) => changed.replaceAll(`"${from}"`, `"#bundled/${name}"`),
    text,
  );
  if (named !== text) writeFileSync(file, named);
}

function licenceOf(from: string): string {
  const name = from.split("/", from.startsWith("@") ? 2 : 1).join("/");
  return readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8");
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
