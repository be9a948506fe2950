import { startSimulator } from "../../src/simulator/server.ts";

/** A process of its own: what it keeps of requests, and how long it makes answers up, are not the gateway's. Ends with its parent. */
const { origin } = await startSimulator();
process.on("disconnect", () => process.exit(0));
process.send!(origin);
