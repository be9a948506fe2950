/**
 * Many requests through several gateways on one Redis while everything goes wrong, and then the books.
 *
 * `npm run chaos -- [--seed N] [--requests 50000] [--instances 3] [--rate 200] [--together 300] [--fsync everysec]
 * [--bury] [--workers N] [--on-failure open] [--slow-store 300]`; exit code 1 on any violation. The seed repeats the
 * plan: users, requests, faults, disturbances and their order; what overlaps with what is up to the machine.
 *
 * The last three go together as you like. `--workers` makes each instance a supervisor of so many processes, of which
 * single ones, all at once and the supervisor are killed, too. With `--on-failure open` limits may be exceeded while the
 * store is away, by what each process counts for itself, and nothing else may differ: money least of all. `--slow-store`
 * makes every answer of the store late by so many milliseconds, which must refuse nobody and exceed nothing.
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
    workers: { type: "string", default: "0" },
    "on-failure": { type: "string", default: "closed" },
    "slow-store": { type: "string", default: "0" },
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
const onFailure = values["on-failure"];
const setup = { workers: Number(values.workers), slowStore: Number(values["slow-store"]) };
for (const [name, value] of Object.entries({ ...options, ...setup }))
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is a whole number`);
if (values.fsync !== "always" && values.fsync !== "everysec") throw new Error("--fsync is always or everysec");

if (onFailure !== "closed" && onFailure !== "open") throw new Error("--on-failure is open or closed");

console.log(`seed ${seed}`);
const startedAt = performance.now();
const say = (text: string) => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s: ${text}`);
const outcome = await runChaos({
  ...options,
  fsync: values.fsync,
  bury: values.bury,
  setup: { ...setup, onFailure },
  say,
});
console.log(report(outcome));
if (outcome.verdict.violations.length > 0) {
  const how = `--workers ${setup.workers} --on-failure ${onFailure} --slow-store ${setup.slowStore}`;
  appendFileSync(FAILED, `--seed ${seed} --requests ${options.requests} --instances ${options.instances} ${how}\n`);
  process.exitCode = 1;
}
