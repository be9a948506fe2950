/** Builds the pages into dist/ui. With `--if-installed` a want of the build's packages is told, and is no failure. */
const vite = await import("vite").catch((error: unknown) => {
  const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (missing && process.argv.includes("--if-installed")) return null;
  throw error;
});

if (vite === null) {
  console.log("the pages are not built: vite is not installed; `npm ci` without --omit=dev builds them");
} else {
  const startedAt = performance.now();
  await vite.build({ configFile: new URL("vite.config.ts", import.meta.url).pathname });
  console.log(`the pages are built into dist/ui in ${Math.round(performance.now() - startedAt)} ms`);
}
