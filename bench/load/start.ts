/** Row 12: how long a start takes until it serves, and a check of the shipped configuration. */
import { readFileSync } from "node:fs";
import type { Site } from "./bench.ts";
import { cpuTime } from "./cpu.ts";
import { type GatewaySite, MAIN, startGateway } from "./gateway.ts";
import { PROXY_CPU } from "./processes.ts";
import type { Comparison } from "./report.ts";
import type { RowOptions } from "./table.ts";

const SHIPPED_CONFIG = new URL("../../gateway.yaml", import.meta.url).pathname;
const MS_PER_TICK = 10;

interface Cost {
  /** Milliseconds. */
  readonly wall: number;
  readonly cpu: number;
}

export async function measureStart(
  site: Site,
  gateway: GatewaySite,
  { logLevel, sizes: { starts } }: RowOptions,
): Promise<readonly Comparison[]> {
  const node: Cost[] = [];
  const start: Cost[] = [];
  const check: Cost[] = [];
  for (let round = 0; round < starts; round++) {
    node.push(await costOfRun(site, ["--eval", "0"]));
    start.push(await costOfStart(site, gateway, logLevel));
    check.push(await costOfRun(site, [MAIN, "check", SHIPPED_CONFIG]));
  }
  const line = (what: string, of: keyof Cost, costs: readonly Cost[]): Comparison => ({
    row: 12,
    what,
    unit: of === "cpu" ? "ms CPU" : "ms",
    reference: { name: "node alone", values: node.map((cost) => cost[of]) },
    measured: { name: "gateway", values: costs.map((cost) => cost[of]) },
  });
  return [
    line("start until it serves", "wall", start),
    line("start until it serves", "cpu", start),
    line("check of the shipped file", "wall", check),
    line("check of the shipped file", "cpu", check),
  ];
}

async function costOfStart({ processes }: Site, gateway: GatewaySite, logLevel: string): Promise<Cost> {
  const begun = performance.now();
  const child = await startGateway(processes, gateway, logLevel);
  const cost = { wall: performance.now() - begun, cpu: cpuTime(child.pid ?? 0) / 1e6 };
  await processes.end(child);
  return cost;
}

async function costOfRun({ processes }: Site, args: readonly string[]): Promise<Cost> {
  const [begun, before] = [performance.now(), childrenCpu()];
  await processes.run(PROXY_CPU, args);
  return { wall: performance.now() - begun, cpu: childrenCpu() - before };
}

/** CPU milliseconds of all children that have ended. */
function childrenCpu(): number {
  // Behind the name, which may have blanks: from the third field on; cutime and cstime are the 16th and 17th.
  const fields = readFileSync("/proc/self/stat", "latin1")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}
