import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/**
 * Builds the pages into dist/ui, or into the folder that `--out` names. With `--if-installed`, packages of the build that
 * are missing are no failure.
 */
const { values } = parseArgs({ options: { "if-installed": { type: "boolean" }, out: { type: "string" } } });
const FOLDER = resolve(values.out ?? fileURLToPath(new URL("../../dist/ui", import.meta.url)));
// Else a test's or a developer's own would make a build for development, with the paths of this folder in it.
process.env["NODE_ENV"] = "production";
const vite = await import("vite").catch((error: unknown) => {
  const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (missing && values["if-installed"] === true) return null;
  throw error;
});

if (vite === null) {
  console.log("the pages are not built: vite is not installed; `npm ci` without --omit=dev builds them");
} else {
  const startedAt = performance.now();
  const configFile = fileURLToPath(new URL("vite.config.ts", import.meta.url));
  await vite.build({ configFile, build: { outDir: FOLDER } });
  compress();
  console.log(
    `the pages are built into ${relative(process.cwd(), FOLDER)} in ${Math.round(performance.now() - startedAt)} ms`,
  );
}

/** Beside each file: the gateway sends them as they are, and compresses nothing itself. */
function compress(): void {
  for (const name of globSync("**/*.{html,js,css,svg}", { cwd: FOLDER })) {
    const text = readFileSync(join(FOLDER, name));
    writeFileSync(join(FOLDER, `${name}.gz`), gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(join(FOLDER, `${name}.br`), brotliCompressSync(text));
  }
}
