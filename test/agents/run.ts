/**
 * Coding agents as clients. Each agent, as npm ships it, runs two errands without anybody at the keyboard: it answers a
 * prompt, and it reads a file with a tool of its own. It does so through a gateway process on loopback, as a user of its
 * own, over upstreams of several dialects, which read requests as strictly as the simulator does and know what to call. The
 * word that is looked for in the end is made from the file's content by the upstream alone: it proves the whole way there
 * and back. Then the traffic on both sides of the gateway is compared with its books.
 *
 * Agents have an empty home, dummy keys and a proxy that leads nowhere. What they leave running is found by a mark in its
 * environment, which takes Linux, and ended.
 *
 * `node test/agents/run.ts [--agent NAME]… [--dialect NAME]… [--task plain|tool] [--limit 120] [--jobs 2] [--keep DIR]`
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { agentsNamed } from "./agents/index.ts";
import { faultsOf } from "./faults.ts";
import { install } from "./install.ts";
import { nameOf, tableOf, transcriptOf } from "./report.ts";
import { type Cell, type Run, runErrand, type Terms } from "./run-errand.ts";
import { DIALECTS, Stage } from "./stage.ts";

const { values } = parseArgs({
  options: {
    agent: { type: "string", multiple: true, default: [] },
    dialect: { type: "string", multiple: true, default: [] },
    task: { type: "string" },
    /** Seconds for each call of an agent. */
    limit: { type: "string", default: "120" },
    /** Agents at a time. */
    jobs: { type: "string", default: "2" },
    /** Where agents are fetched to, or were by an earlier run; transcripts of all runs are written there too. */
    keep: { type: "string" },
  },
});

if (!existsSync("/proc/self/environ")) throw new Error("Without /proc what agents leave running cannot be found.");
const cells = matrix();
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
const folder = values.keep === undefined ? mkdtempSync(join(tmpdir(), "gateway-agents-")) : resolve(values.keep);
const stage = new Stage();
const runs = new Map<Cell, Run>();
let clean = false;
try {
  const programs = await install(folder, [...new Set(cells.map(({ agent }) => agent))]);
  await stage.start();
  await runAll({ programs, limit: Number(values.limit) * 1000, stop: stop.signal });
} finally {
  clean = await stage.close();
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}
summarize(cells.flatMap((cell) => runs.get(cell) ?? []));

async function runAll(terms: Terms): Promise<void> {
  const rest = cells.values();
  const work = async (): Promise<void> => {
    for (const cell of rest) {
      if (stop.signal.aborted) return;
      const run = await runErrand(stage, cell, terms);
      runs.set(cell, run);
      const faults = faultsOf(run);
      console.error(`${faults.length === 0 ? "ok" : "FAILED"} ${nameOf(run)} (${run.seconds.toFixed(1)} s)`);
      if (values.keep !== undefined) keep(run, faults);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

function summarize(all: readonly Run[]): void {
  const faults = new Map(all.map((run) => [run, faultsOf(run)]));
  const failed = all.filter((run) => faults.get(run)?.length !== 0);
  for (const run of failed) console.error(`\n${transcriptOf(run, faults.get(run) ?? [])}`);
  console.log(tableOf(all, faults));
  const good = all.length - failed.length;
  console.log(`${good} of ${cells.length} good${clean ? "" : "; the gateway did not end properly"}`);
  if (good < cells.length || !clean) process.exitCode = 1;
}

function keep(run: Run, faults: readonly string[]): void {
  const transcripts = join(folder, "transcripts");
  mkdirSync(transcripts, { recursive: true });
  const bodies = run.visits.map(({ body }) => body).join("\n");
  const name = nameOf(run).replaceAll(/\W+/g, "-");
  writeFileSync(join(transcripts, `${name}.txt`), `${transcriptOf(run, faults)}\n\nSent to the upstream:\n${bodies}\n`);
}

/** @throws Error naming the option that is wrong. */
function matrix(): readonly Cell[] {
  const { task, dialect: named } = values;
  for (const name of ["limit", "jobs"] as const) {
    if (!/^[1-9]\d*$/.test(values[name])) throw new Error(`--${name} ${values[name]}: must be a whole number from 1`);
  }
  const stranger = named.find((name) => !DIALECTS.some((dialect) => dialect === name));
  if (stranger !== undefined) throw new Error(`--dialect ${stranger}: there are ${DIALECTS.join(", ")}`);
  const tasks = (["plain", "tool"] as const).filter((one) => task === undefined || task === one);
  if (tasks.length === 0) throw new Error(`--task ${task}: there are plain and tool`);
  const dialects = DIALECTS.filter((dialect) => named.length === 0 || named.includes(dialect));
  return agentsNamed(values.agent).flatMap((agent) =>
    dialects.flatMap((dialect) => tasks.map((task) => ({ agent, dialect, task }))),
  );
}
