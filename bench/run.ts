/**
 * What the parts on the request's path cost alone, in this process: `node bench/run.ts [--filter TEXT] [--json]`.
 * The cases are checked by test/bench/cases.test.ts; what the whole gateway costs is measured by bench/load/run.ts.
 */
import { parseArgs } from "node:util";
import { Bench } from "tinybench";
import { CASES } from "./cases.ts";

const { values } = parseArgs({
  options: { filter: { type: "string", default: "" }, json: { type: "boolean", default: false } },
});
const chosen = CASES.filter(({ name }) => name.includes(values.filter));
if (chosen.length === 0)
  throw new Error(`--filter ${values.filter} leaves none of: ${CASES.map(({ name }) => name).join(", ")}`);

interface Row {
  readonly name: string;
  readonly microseconds: number;
  readonly p99: number;
  readonly unit: string;
  readonly runs: number;
}

const rows: Row[] = [];
for (const { name, unit, units, prepare } of chosen) {
  const prepared = await prepare();
  // A case at a time: one that is prepared but not running must not hold timers or garbage during another.
  const bench = new Bench({ time: 1_000, warmupTime: 300, throws: true }).add(name, () => prepared.run());
  const [task] = await bench.run();
  await prepared.close();
  if (task?.result.state !== "completed") throw new Error(`${name}: ${task?.result.state}`);
  const { latency } = task.result;
  const each = (milliseconds: number) => (milliseconds * 1_000) / units;
  rows.push({ name, microseconds: each(latency.p50), p99: each(latency.p99), unit, runs: latency.samplesCount });
}

if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, rows })}\n`);
else {
  for (const { name, microseconds, p99, unit, runs } of rows) {
    const cells = [
      name.padEnd(40),
      microseconds.toFixed(2).padStart(10),
      `us/${unit}`.padEnd(12),
      `p99 ${p99.toFixed(2)}`.padEnd(16),
    ];
    process.stdout.write(`${cells.join(" ")} ${runs} runs\n`);
  }
}
