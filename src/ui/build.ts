import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Builds the pages into dist/ui. With `--if-installed` a want of the build's packages is told, and is no failure. */
// Else a test's or a developer's own would make a build for development, with the paths of this folder in it.
process.env["NODE_ENV"] = "production";
const vite = await import("vite").catch((error: unknown) => {
  const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (missing && process.argv.includes("--if-installed")) return null;
  throw error;
});

if (vite === null) {
  console.log("the pages are not built: vite is not installed; `npm ci` without --omit=dev builds them");
} else {
  const startedAt = performance.now();
  await vite.build({ configFile: fileURLToPath(new URL("vite.config.ts", import.meta.url)) });
  compress();
  console.log(`the pages are built into dist/ui in ${Math.round(performance.now() - startedAt)} ms`);
}

/** Beside each file: the gateway sends them as they are, and compresses nothing itself. */
function compress(): void {
  const folder = fileURLToPath(new URL("../../dist/ui/", import.meta.url));
  for (const name of globSync("**/*.{html,js,css,svg}", { cwd: folder })) {
    const text = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
  }
}
