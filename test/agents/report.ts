import { linesOf } from "../../bench/load/report.ts";
import { errorLines } from "./error-lines.ts";
import type { Run } from "./run-errand.ts";
import { type Cell, slugOf } from "./stage.ts";

const HEAD = [
  "agent",
  "upstream",
  "situation",
  "",
  "exit",
  "word",
  "calls",
  "answer s",
  "run s",
  "error lines",
  "dropped",
  "",
];

/** One run through the gateway and, where there is one, the same at the provider itself. */
export interface Pair {
  readonly gateway: Run;
  readonly direct: Run | null;
  readonly faults: readonly string[];
}

/** Two lines for each pair, the gateway's first. */
export function tableOf(pairs: readonly Pair[]): string {
  const lines = pairs.flatMap(({ gateway, direct, faults }) => [
    cellsOf(gateway, faults.length === 0 ? "ok" : "FAILED"),
    ...(direct === null ? [] : [cellsOf(direct, "")]),
  ]);
  return linesOf([HEAD, ...lines]);
}

function cellsOf(run: Run, verdict: string): readonly string[] {
  const { cell, visits, exchanged, ended, errand } = run;
  const { agent, dialect, situation, through } = cell;
  const dropped = new Set(exchanged.flatMap((one) => one.dropped.map(general)));
  return [
    through === "direct" ? "" : `${agent.name} ${agent.version}`,
    through === "direct" ? "" : dialect,
    through === "direct" ? "" : situation.name,
    through,
    String(ended.late ? "late" : (ended.code ?? ended.signal)),
    ended.stdout.includes(errand.word) ? "yes" : "no",
    String(visits.length),
    secondsToAnswer(run)?.toFixed(2) ?? "-",
    run.seconds.toFixed(1),
    String(errorLines(ended, situation.name).length),
    [...dropped].join(" ") || "-",
    verdict,
  ];
}

/** From an agent's first request of any kind to the end of its first good answer; null without one. */
function secondsToAnswer({ exchanged, cell: { agent } }: Run): number | null {
  const asked = exchanged[0]?.asked;
  const answered = exchanged.find(
    (one) => one.path === agent.endpoint && one.status === 200 && one.answered !== null,
  )?.answered;
  return asked === undefined || answered === undefined || answered === null ? null : (answered - asked) / 1000;
}

/** A pointer for all elements of a list. */
function general(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, "/*");
}

/** All that helps to see why: what went wrong, what was exchanged and what the agent printed. */
export function transcriptOf(run: Run, faults: readonly string[]): string {
  const { cell, ended, exchanged, visits, books } = run;
  return [
    `## ${nameOf(cell)}`,
    ...faults.map((fault) => `- ${fault}`),
    ...exchanged.map(
      ({ method, path, status, dropped, error }) =>
        `asked: ${method} ${path} ${status} ${dropped.join(" ")} ${error.slice(0, 500)}`,
    ),
    ...visits.map(
      ({ entry, deed, refusal, faulted }) =>
        `upstream: ${entry.path} ${entry.status}${faulted ? " (situation)" : ""} ${refusal ?? JSON.stringify(deed)} ${String(entry.claimed?.prompt)}+${String(entry.claimed?.completion)}`,
    ),
    ...(books?.log ?? []).map((line) => `log: ${line}`),
    ...errorLines(ended, cell.situation.name).map((line) => `error line: ${line}`),
    `${cell.agent.bin} printed:`,
    ended.stdout.slice(-4000),
    ended.stderr.slice(-4000),
  ].join("\n");
}

export function nameOf(cell: Cell): string {
  return slugOf(cell);
}
