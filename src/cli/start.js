// JavaScript as main.js is: Node strips the types of what it loads before there is a cache by its own compiler,
// which takes 60 ms and 20 MB for as long as the process runs.
import { lstatSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

// V8 would place what is made for every request among the long-lived once it has seen a burst of connections survive;
// there, the dead keep the young alive and each collection copies them: measured, 10 ms instead of 0.6 ms, and by
// chance from start to start. Before anything else runs, or the decision may have been made.
setFlagsFromString("--no-allocation-site-pretenuring");
hideKnownWarnings();
// Before anything else is loaded: a start takes about half as long when stripping and compiling are remembered.
if (process.env.NODE_COMPILE_CACHE !== undefined) enableCompileCache();
else useOwnCache();
const { runProgram } = await import("./program.ts");
await runProgram();

/** What lies there is run: it must be nobody else's, in a folder where anybody may make one of this name first. */
function useOwnCache() {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `route-gateway-${user}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (found.isDirectory() && found.uid === user && (found.mode & 0o022) === 0) enableCompileCache(folder);
  } catch {
    // Without one, a start takes longer.
  }
}

/** Node 22 and 24 warn at each start of what they call experimental and this project's tests hold stable. */
function hideKnownWarnings() {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const text = typeof warning === "string" ? warning : warning.message;
    if (!/^(?:SQLite|Type Stripping) is an experimental feature/.test(text)) emit(warning, ...rest);
  };
}
