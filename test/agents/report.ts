import { linesOf } from "../../bench/load/report.ts";
import type { Run } from "./run-errand.ts";

const HEAD = [
  "agent",
  "version",
  "endpoint",
  "upstream",
  "task",
  "requests",
  "tool calls",
  "tokens",
  "dropped",
  "result",
  "s",
];

/** One line for each run. Tokens are those charged, of prompts and answers. */
export function tableOf(runs: readonly Run[], faults: ReadonlyMap<Run, readonly string[]>): string {
  const lines = [HEAD, ...runs.map((run) => cellsOf(run, faults.get(run)?.length === 0))];
  return linesOf(lines);
}

function cellsOf({ cell, visits, ledger, exchanged, seconds }: Run, good: boolean): readonly string[] {
  const { agent, dialect, task } = cell;
  const prompt = ledger.reduce((sum, { usage }) => sum + usage.prompt, 0);
  const completion = ledger.reduce((sum, { usage }) => sum + usage.completion, 0);
  const calls = visits.filter(({ deed }) => deed && "call" in deed).length;
  const dropped = new Set(exchanged.flatMap((one) => one.dropped.map(general)));
  return [
    agent.name,
    agent.version,
    agent.endpoint,
    dialect,
    task,
    String(visits.length),
    String(calls),
    `${prompt}+${completion}`,
    [...dropped].join(" ") || "-",
    good ? "ok" : "FAILED",
    seconds.toFixed(1),
  ];
}

/** A pointer for all elements of a list. */
function general(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, "/*");
}

/** All that helps to see why: what went wrong, what was exchanged and what the agent printed. */
export function transcriptOf(run: Run, faults: readonly string[]): string {
  const { cell, ended, exchanged, visits, log } = run;
  return [
    `## ${nameOf(run)}`,
    ...faults.map((fault) => `- ${fault}`),
    ...exchanged.map(
      ({ method, path, status, dropped }) => `gateway: ${method} ${path} ${status} ${dropped.join(" ")}`,
    ),
    ...visits.map(
      ({ entry, deed, refusal }) =>
        `upstream: ${entry.path} ${entry.status} ${refusal ?? JSON.stringify(deed)} ${String(entry.claimed?.prompt)}+${String(entry.claimed?.completion)}`,
    ),
    ...log.map((line) => `log: ${line}`),
    `${cell.agent.bin} printed:`,
    ended.stdout.slice(-4000),
    ended.stderr.slice(-4000),
  ].join("\n");
}

export function nameOf({ cell: { agent, dialect, task } }: Run): string {
  return `${agent.name} over ${dialect}, ${task}`;
}
