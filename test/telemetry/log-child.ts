import { createLog } from "../../src/telemetry/log.ts";

/** Writes so many lines of a kilobyte, and exits with code 7 while they wait. */
const log = createLog({ level: "info", pretty: false });
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[3])));
for (let line = 0; line < Number(process.argv[2]); line += 1) log.info({ text: "x".repeat(1_000) }, "a line");
process.exit(7);
