import type { Differences } from "./comparison.ts";
import type { PlanDemand } from "./demand.ts";
import type { ReplayReport } from "./replay.ts";

/** Rows of one table; the rest is in JSON. */
const MAX_ROWS_COUNT = 30;

interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The same for people, and for a pull request. */
export interface Written {
  readonly summary: readonly string[];
  readonly tables: readonly Table[];
}

/** For a terminal. */
export function replayText(report: ReplayReport): string {
  const { summary, tables } = written(report);
  const lines = [...summary, ...tables.flatMap(textTable)];
  // Names of models are what clients sent.
  return `${lines.map((line) => line.replaceAll(/\p{C}/gu, "\uFFFD").trimEnd()).join("\n")}\n`;
}

/** For a pull request. */
export function replayMarkdown(report: ReplayReport): string {
  const { summary, tables } = written(report);
  const [first = "", ...rest] = summary;
  const title = report.same ? "### Replay: nothing differs" : "### Replay: what would differ";
  const lines = [title, "", first, "", ...rest.map((line) => `- ${escaped(line)}`), ...tables.flatMap(markdownTable)];
  return `${lines.join("\n").trimEnd()}\n`;
}

function written(report: ReplayReport): Written {
  return { summary: summaryOf(report), tables: [...tablesOf(report), ...limitTables(report.limits ?? [])] };
}

function summaryOf({ log, compared, changed, lost, won, cost, currency, same, against, models_gone }: ReplayReport) {
  const passedOver = Object.values(log.passed_over).reduce((sum, count) => sum + count, 0);
  const what = against === null ? "the log" : `a replay of ${against.slice(0, 12)}`;
  const span = log.from === null ? "" : `, ${log.from} to ${log.to}`;
  return [
    `${counted(compared, "request")} of ${counted(log.users, "user")} replayed against ${what}${span}`,
    ...(log.bad > 0 ? [`${counted(log.bad, "line")} of the log cannot be used, the first: ${log.bad_lines[0]}`] : []),
    ...(log.late > 0 ? [`${counted(log.late, "line")} stood too late in the log, and came too late here`] : []),
    ...(passedOver > 0 ? [`not replayed, because no pipeline saw them: ${listOf(log.passed_over)}`] : []),
    ...(same ? ["nothing differs"] : [`different: ${touched(changed)}`]),
    ...(lost.requests > 0 ? [`refused or failed now, and not then: ${touched(lost)}`] : []),
    ...(won.requests > 0 ? [`refused or failed then, and not now: ${touched(won)}`] : []),
    ...models_gone.map((gone) => `the model ${gone.model} is gone: ${touched(gone)}`),
    `charged: ${cost.before} ${currency} then, ${cost.now} now (${percent(cost.percent)})`,
    ...(cost.assumed > 0
      ? [`of ${counted(cost.assumed, "request")} that nobody served then the tokens are assumed`]
      : []),
  ];
}

function tablesOf({ results, cost, upstreams }: Differences): Table[] {
  const tables: Table[] = [
    {
      title: "Ends otherwise",
      head: ["then", "now", "plan", "requests", "users"],
      rows: results.map(({ before, now, plan, requests, users }) => [before, now, plan, `${requests}`, `${users}`]),
    },
    {
      title: "Charged otherwise",
      head: ["plan", "model", "then", "now", "", "requests"],
      rows: cost.changed.map((row) => [
        row.plan,
        row.model,
        row.before,
        row.now,
        percent(row.percent),
        String(row.requests),
      ]),
    },
    {
      title: "Served by another upstream",
      head: ["model", "then", "now", "requests", "users"],
      rows: upstreams.map(({ model, before, now, requests, users }) => [
        model,
        before ?? "nobody",
        now ?? "nobody",
        `${requests}`,
        `${users}`,
      ]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

function limitTables(plans: readonly PlanDemand[]): Table[] {
  return plans.map(({ plan, users, requests, refused, limits }) => ({
    title: `Limits of ${plan}: ${counted(requests, "request")} of ${counted(users, "user")}, refused ${touched(refused)}`,
    head: ["window", "limit", "refused", "users", "p50", "p90", "p95", "p99", "max"],
    rows: Object.entries(limits).map(([name, { limit, refused: by, peak, max }]) => [
      name,
      limit === null ? "none" : String(limit),
      String(by.requests),
      String(by.users),
      ...[peak.p50, peak.p90, peak.p95, peak.p99, max].map(String),
    ]),
  }));
}

function textTable({ title, head, rows }: Table): string[] {
  const some = [head, ...rows.slice(0, MAX_ROWS_COUNT)];
  const widths = head.map((_, column) => Math.max(...some.map((row) => row[column]!.length)));
  const lines = some.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`);
  return ["", title, ...lines, ...more(rows).map((line) => `  ${line}`)];
}

function markdownTable({ title, head, rows }: Table): string[] {
  const line = (row: readonly string[]): string => `| ${row.map(escaped).join(" | ")} |`;
  const some = rows.slice(0, MAX_ROWS_COUNT).map(line);
  const dashes = `|${head.map(() => " --- |").join("")}`;
  const rest = more(rows);
  return ["", `**${escaped(title)}**`, "", line(head), dashes, ...some, ...(rest.length > 0 ? ["", ...rest] : [])];
}

function more({ length }: readonly unknown[]): string[] {
  return length > MAX_ROWS_COUNT ? [`and ${length - MAX_ROWS_COUNT} more: --format json`] : [];
}

/** Names come from configurations and clients: none ends its cell, or is markup. */
function escaped(text: string): string {
  return text.replaceAll(/\p{C}/gu, "\uFFFD").replaceAll(/[\\`*_{}[\]<>#|~!]/g, "\\$&");
}

function touched({ requests, users }: { readonly requests: number; readonly users: number }): string {
  return `${counted(requests, "request")} of ${counted(users, "user")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function percent(value: number | null): string {
  if (value === null) return "new";
  return `${value > 0 ? "+" : ""}${Number(value.toFixed(2))} %`;
}

function listOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
