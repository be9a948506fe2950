#!/usr/bin/env node
import fs from "node:fs";
// JavaScript that any Node since 12 can read: on one that is too old, a line in place of a stack.
const [major, minor] = process.versions.node.split(".").map(Number);
// As `engines` in package.json.
const fits = major >= 26 || (major === 24 && minor >= 12) || (major === 22 && minor >= 20);
if (fits) {
  // A checkout runs its sources. The package holds this file and what it was compiled to.
  const isCheckout = fs.existsSync(new URL("start.js", import.meta.url));
  import(isCheckout ? "./start.js" : "../../dist/src/cli/start.js").catch((error) => {
    console.error(error);
    process.exitCode = 3;
  });
} else {
  process.stderr.write(
    `gateway: needs Node.js 22.20, 24.12 or 26 and later of these lines; this is ${process.version}\n`,
  );
  process.exitCode = 3;
}
