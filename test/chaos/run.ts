/**
 * Many requests through several gateways on one Redis while everything goes wrong, and then the books.
 *
 * `npm run chaos -- [--seed N] [--requests 50000] [--instances 3] [--rate 200] [--together 300] [--fsync everysec]
 * [--bury]`; exit code 1 on any violation. The seed repeats the plan: users, requests, faults, disturbances and their
 * order; what overlaps with what is up to the machine.
 */
import { randomInt } from "node:crypto";
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runChaos } from "./chaos.ts";
import { report } from "./report.ts";

const FAILED = new URL("failed-seeds.log", import.meta.url);

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    requests: { type: "string", default: "50000" },
    instances: { type: "string", default: "3" },
    rate: { type: "string", default: "200" },
    together: { type: "string", default: "300" },
    fsync: { type: "string", default: "always" },
    bury: { type: "boolean", default: false },
  },
});

const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const options = {
  seed,
  requests: Number(values.requests),
  instances: Number(values.instances),
  rate: Number(values.rate),
  together: Number(values.together),
};
for (const [name, value] of Object.entries(options))
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is a whole number`);
if (values.fsync !== "always" && values.fsync !== "everysec") throw new Error("--fsync is always or everysec");

console.log(`seed ${seed}`);
const startedAt = performance.now();
const say = (text: string) => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s: ${text}`);
const outcome = await runChaos({ ...options, fsync: values.fsync, bury: values.bury, say });
console.log(report(outcome));
if (outcome.verdict.violations.length > 0) {
  appendFileSync(FAILED, `--seed ${seed} --requests ${options.requests} --instances ${options.instances}\n`);
  process.exitCode = 1;
}
