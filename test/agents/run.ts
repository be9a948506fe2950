/**
 * Coding agents as clients. Each agent, as npm ships it and in its default mode, runs errands without anybody at the
 * keyboard: it answers a prompt, or reads two files with a tool of its own, one after the other. Meanwhile it meets what
 * providers do: overload in the middle of a tool loop, a 429, a refused parameter, a stream that breaks off, a prompt that
 * is too long. It does so through a gateway process on loopback, as a user of its own, over upstreams of several dialects
 * that read requests as strictly as the simulator does. Where the upstream speaks the agent's own format, the same run is
 * made at the upstream itself, and the two are compared: exit code, calls of the provider, lines of errors, time.
 * The word that is looked for in the end is made from the files' content by the upstream alone: it proves the whole way
 * there and back. Then the traffic on both sides of the gateway is compared with its books.
 *
 * Agents have an empty home, dummy keys and a proxy that leads nowhere. What they leave running is found by a mark in its
 * environment, which takes Linux, and ended.
 *
 * `node test/agents/run.ts [--agent NAME]… [--dialect NAME]… [--situation NAME]… [--limit 120] [--jobs 2] [--keep DIR]`
 * Without `--dialect` each agent meets every situation over the upstream of its own format, and the first two over all.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Agent, agentsNamed } from "./agents/index.ts";
import { faultsOf } from "./faults.ts";
import { install } from "./install.ts";
import { nameOf, type Pair, tableOf, transcriptOf } from "./report.ts";
import { type Run, runErrand, type Terms } from "./run-errand.ts";
import { type Cell, DIALECTS, NATIVE, type RouteName, slugOf, Stage } from "./stage.ts";
import { type Situation, SITUATIONS } from "./upstream/situations.ts";

const { values } = parseArgs({
  options: {
    agent: { type: "string", multiple: true, default: [] },
    dialect: { type: "string", multiple: true, default: [] },
    situation: { type: "string", multiple: true, default: [] },
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
const pairs: Pair[] = [];
let clean = false;
try {
  const programs = await install(folder, [...new Set(cells.map(({ agent }) => agent))]);
  await stage.start(cells);
  await runAll({ programs, limit: Number(values.limit) * 1000, stop: stop.signal });
} finally {
  clean = await stage.close();
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}
summarize(pairs.toSorted((a, b) => cells.indexOf(a.gateway.cell) - cells.indexOf(b.gateway.cell)));

async function runAll(terms: Terms): Promise<void> {
  const rest = cells.values();
  const work = async (): Promise<void> => {
    for (const cell of rest) {
      if (stop.signal.aborted) return;
      const isNative = NATIVE[cell.agent.endpoint] === cell.dialect;
      const direct = isNative ? await runErrand(stage, { ...cell, through: "direct" }, terms) : null;
      const gateway = await runErrand(stage, cell, terms);
      const faults = faultsOf(gateway, direct);
      pairs.push({ gateway, direct, faults });
      console.error(`${faults.length === 0 ? "ok" : "FAILED"} ${nameOf(cell)} (${gateway.seconds.toFixed(1)} s)`);
      if (values.keep === undefined) continue;
      keep(gateway, faults);
      if (direct !== null) keep(direct, []);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

function summarize(all: readonly Pair[]): void {
  const failed = all.filter(({ faults }) => faults.length > 0);
  for (const { gateway, direct, faults } of failed) {
    console.error(`\n${transcriptOf(gateway, faults)}`);
    if (direct !== null) console.error(`\n${transcriptOf(direct, [])}`);
  }
  console.log(tableOf(all));
  const good = all.length - failed.length;
  console.log(`${good} of ${cells.length} good${clean ? "" : "; the gateway did not end properly"}`);
  if (good < cells.length || !clean) process.exitCode = 1;
}

function keep(run: Run, faults: readonly string[]): void {
  const transcripts = join(folder, "transcripts");
  mkdirSync(transcripts, { recursive: true });
  const bodies = run.visits.map(({ body }) => body).join("\n");
  const text = `${transcriptOf(run, faults)}\n\nSent to the upstream:\n${bodies}\n`;
  writeFileSync(join(transcripts, `${slugOf(run.cell)}.txt`), text);
}

/** @throws Error naming the option that is wrong. */
function matrix(): readonly Cell[] {
  for (const name of ["limit", "jobs"] as const) {
    if (!/^[1-9]\d*$/.test(values[name])) throw new Error(`--${name} ${values[name]}: must be a whole number from 1`);
  }
  const dialects = named("dialect", DIALECTS);
  const names = named(
    "situation",
    SITUATIONS.map(({ name }) => name),
  );
  return agentsNamed(values.agent).flatMap((agent) =>
    dialects.flatMap((dialect) =>
      SITUATIONS.filter((situation) => names.includes(situation.name) && isMet(agent, dialect, situation)).map(
        (situation): Cell => ({ agent, dialect, situation, through: "gateway" }),
      ),
    ),
  );
}

function isMet(agent: Agent, dialect: RouteName, { name }: Situation): boolean {
  return values.dialect.length > 0 || dialect === NATIVE[agent.endpoint] || name === "plain" || name === "tool";
}

/** The names that an option gives, or all of them. */
function named<Name extends string>(option: "dialect" | "situation", all: readonly Name[]): readonly Name[] {
  const given = values[option];
  const stranger = given.find((name) => !all.some((one) => one === name));
  if (stranger !== undefined) throw new Error(`--${option} ${stranger}: there are ${all.join(", ")}`);
  return all.filter((name) => given.length === 0 || given.includes(name));
}
