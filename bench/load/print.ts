import { availableParallelism, cpus } from "node:os";
import type { BenchOptions } from "./options.ts";
import { PINNED } from "./processes.ts";
import type { Measurement } from "./proxies.ts";
import { linesOf, tableOf } from "./report.ts";
import type { Table } from "./table.ts";

/** A proxy that is not busy is not what limits a closed loop. */
const SATURATED_SHARE = 0.9;

/** Prints the figures on stdout, as tables or as JSON; what disturbs them on stderr. Wrong answers make the exit code 1. */
export function printTable(
  { lines, measurements }: Table,
  { rounds, seconds, logLevel }: Omit<BenchOptions, "json">,
  json: boolean,
): void {
  const machine = { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model ?? "", pinned: PINNED };
  const about = { ...machine, rounds, seconds, logLevel };
  const bad = measurements.reduce((sum, { result }) => sum + result.bad, 0);
  if (json) process.stdout.write(`${JSON.stringify({ ...about, lines, measurements, bad })}\n`);
  else {
    const { node, cores, cpu } = machine;
    const head = `Node ${node}, ${cores} cores (${cpu}), rounds of ${seconds} s: ${rounds}, --log-level ${logLevel}`;
    process.stdout.write(`${[head, tableOf(lines), loadsTable(measurements)].filter(Boolean).join("\n\n")}\n`);
  }
  if (!PINNED) process.stderr.write("not pinned: no taskset, or one CPU; the figures include each other's work\n");
  if (lines.some(({ absent }) => absent?.startsWith("failed"))) process.exitCode = 1;
  if (bad === 0) return;
  const sample = measurements.find(({ result }) => result.bad > 0);
  process.stderr.write(`${bad} wrong answers, such as ${sample?.target}: ${sample?.result.sample}\n`);
  process.exitCode = 1;
}

/** Every load on every target, so that it shows what limited a figure. */
function loadsTable(measurements: readonly Measurement[]): string {
  if (measurements.length === 0) return "";
  const cells = measurements.map(({ target, load, result }) => [
    load,
    target,
    (result.count / result.seconds).toFixed(0),
    `${(result.busy * 100).toFixed(0)} %`,
    result.cpu.toFixed(1),
    result.delay === null ? "" : `${result.delay.p50.toFixed(1)} / ${result.delay.p99.toFixed(1)}`,
    (result.residentBytes / 2 ** 20).toFixed(0),
    remarkOf({ target, load, result }),
  ]);
  const head = ["load", "on", "a second", "CPU", "us CPU each", "ms p50 / p99", "MiB", ""];
  return linesOf([head, ...cells.toSorted((a, b) => (a[0]! < b[0]! ? -1 : Number(a[0]! > b[0]!)))]);
}

function remarkOf({ target, load, result }: Measurement): string {
  if (target === "upstream") return "the load's own ceiling";
  const isClosedLoop = load === "2 KB" || load === "200 KB";
  return isClosedLoop && result.busy < SATURATED_SHARE ? "limited by the load, or by others on this machine" : "";
}
