/**
 * Many requests of one user at the same moment at several gateways: what is admitted is exactly what the limits allow.
 *
 * `node test/chaos/exactness.ts [--runs 20] [--instances 4] [--each 500]`; exit code 1 when anything is not exact.
 */
import { parseArgs } from "node:util";
import { LIMITS, runBursts } from "./burst.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    instances: { type: "string", default: "4" },
    each: { type: "string", default: "500" },
  },
});

console.log(
  `limits: ${LIMITS.minute} a minute, ${LIMITS.streams} streams; ${values.instances} processes x ${values.each}`,
);
await runBursts(Number(values.runs), { instances: Number(values.instances), each: Number(values.each) }, (burst) => {
  const { minutes, streams, mostStreams, ledger, answers, away, faults, seconds } = burst;
  const admitted = [...minutes.values()].map((minute) => minute.admitted).join(" + ");
  const counts = [...answers].map(([answer, count]) => `${count} ${answer}`).join(", ");
  console.log(
    `admitted ${admitted}, of them streams ${streams}, at most ${mostStreams} at a time, ledger ${ledger};`,
    `${counts}; sent again after a 503 ${away}; ${seconds.toFixed(1)} s${faults.map((fault) => `\n  ${fault}`).join("")}`,
  );
  if (faults.length > 0) process.exitCode = 1;
});
