import { existsSync } from "node:fs";
import { ConfigurationError } from "../config/diagnostics.ts";
import { compileOffline } from "../gateway/compile.ts";
import { isLoaded, type Loaded } from "../gateway/configuration.ts";
import { logFiles } from "../offline/replay/log.ts";
import { replay, type ReplayReport } from "../offline/replay/replay.ts";
import { replayMarkdown, replayText } from "../offline/replay/report.ts";
import { load } from "./explain.ts";
import { EXIT, ExitError, note, type Threshold } from "./options.ts";
import { isRevision, openRevision } from "./revision.ts";

export interface ReplayOptions {
  readonly config?: string;
  readonly against?: string;
  readonly limits?: boolean;
  readonly since?: number;
  readonly until?: number;
  readonly tier?: string;
  readonly model?: string;
  readonly failOn: readonly Threshold[];
  readonly format: "text" | "json" | "markdown";
}

/** Says what a decision log would look like under another configuration. @throws ExitError */
export async function replayLog(named: readonly string[], options: ReplayOptions): Promise<void> {
  const { against, limits = false, since = null, until = null, tier = null, model = null, format, failOn } = options;
  for (const file of named) if (!existsSync(file)) throw new ExitError(EXIT.failed, `there is no ${file}`);
  const [configuration, old] = await Promise.all([load(options), against === undefined ? null : loadOld(against)]);
  const files = named.length > 0 ? named : await configuredLog(configuration);
  const report = await replay({ files, configuration, against: old, limits, since, until, tier, model });
  if (report.log.lines === 0 && report.log.bad > 0) {
    throw new ExitError(EXIT.failed, `no line can be used; the first: ${report.log.bad_lines[0]}`);
  }
  for (const line of report.log.bad_lines) process.stderr.write(`gateway: ${line}\n`);
  const rest = report.log.bad - report.log.bad_lines.length;
  if (rest > 0) process.stderr.write(`gateway: and ${rest} more lines that cannot be used\n`);
  process.stdout.write(WRITERS[format](report));
  const found = failOn.filter((threshold) => isBeyond(report, threshold)).map(({ text }) => text);
  if (found.length > 0) throw new ExitError(EXIT.findings, `beyond --fail-on ${found.join(", ")}`);
}

const WRITERS: Readonly<Record<ReplayOptions["format"], (report: ReplayReport) => string>> = {
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  text: replayText,
  markdown: replayMarkdown,
};

/** A file, or a file of a git revision. @throws ExitError, ConfigurationError */
async function loadOld(name: string): Promise<Loaded> {
  if (existsSync(name) || !isRevision(name)) return load({ config: name });
  // Its copies are there until the process ends: plugins may read them.
  const { file, access } = await openRevision(name);
  const result = await compileOffline({ file, env: process.env, access, setsUp: true, tell: note });
  if (isLoaded(result)) return result;
  throw new ConfigurationError(result.diagnostics);
}

/** @throws ExitError that says how to name a log. */
async function configuredLog({ snapshot }: Loaded): Promise<readonly string[]> {
  const files = await logFiles(snapshot);
  if (files === null)
    throw new ExitError(
      EXIT.usage,
      "name a decision log (gateway replay FILE…): the configuration has no telemetry.decision_log",
    );
  const written = files.filter((file) => existsSync(file));
  if (written.length === 0)
    throw new ExitError(
      EXIT.failed,
      `there is no ${files.at(-1)}, which telemetry.decision_log names: nothing is logged yet`,
    );
  return written;
}

/** Whether more differs than may. */
function isBeyond(
  { compared, changed, lost, cost, upstreams, models_gone: gone }: ReplayReport,
  by: Threshold,
): boolean {
  const among = { any: changed.requests, refusals: lost.requests, upstreams: sum(upstreams), models: sum(gone) };
  if (by.what === "cost") {
    const share = cost.percent === null ? Infinity : Math.abs(cost.percent);
    return share > by.most;
  }
  const requests = among[by.what];
  return by.isShare ? requests * 100 > by.most * compared : requests > by.most;
}

function sum(rows: readonly { readonly requests: number }[]): number {
  return rows.reduce((total, { requests }) => total + requests, 0);
}
