/** Builds the pages into dist/ui. With `--if-installed` a want of the build's packages is told, and is no failure. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const OUTPUT = fileURLToPath(new URL("../../dist/ui/", import.meta.url));
/** A smaller file fits into the first packets of an answer as it is. */
const MIN_COMPRESSED_BYTES = 1_000;

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
  for (const name of globSync("**/*.{css,html,js,svg}", { cwd: OUTPUT })) compress(OUTPUT + name);
  console.log(`the pages are built into dist/ui in ${Math.round(performance.now() - startedAt)} ms`);
}

/** Beside the file, as small as it gets: the gateway that serves it compresses nothing. */
function compress(path: string): void {
  const bytes = readFileSync(path);
  if (bytes.length < MIN_COMPRESSED_BYTES) return;
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
}
