import { nanoToString, type OutcomeKind } from "../../../src/kit/index.ts";
import type { Evidence, Life } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import type { Joined } from "../joined.ts";

/** Milliseconds for which the last lines of a process wait to be written, on a machine that is busy. */
const UNWRITTEN = 3_000;

/** What a configuration that cannot be used makes a gateway say. */
const EXPECTED = /^configuration rejected/;

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly request_id?: string;
  readonly outcome?: OutcomeKind;
  readonly status?: number;
  readonly cost?: string;
  readonly err?: { readonly message?: string };
}

/** I6 and I7: what the processes wrote, and how they ended. */
export function checkLogs({ lives }: Evidence, joined: readonly Joined[], findings: Findings): void {
  const requests = new Map<string, Line[]>();
  for (const [index, life] of lives.entries()) {
    checkExit(life, index, findings);
    for (const text of life.log.split("\n")) {
      if (text === "") continue;
      const line = parse(text);
      if (line === null) {
        // The last line of a process that was killed may be half of one.
        if (!(life.end === "killed" && life.log.endsWith(text)))
          findings.violation("I7", `process ${index} wrote: ${text.slice(0, 300)}`);
      } else if (line.msg === "request" && line.request_id !== undefined) {
        requests.set(line.request_id, [...(requests.get(line.request_id) ?? []), line]);
      } else if (line.level >= 50 && !EXPECTED.test(line.msg)) {
        const what = `${line.msg}: ${line.err?.message ?? text.slice(0, 300)}`;
        findings.violation("I7", `process ${index}: ${what}`);
      }
    }
  }
  for (const one of joined) checkLines(one, requests.get(one.seen.id) ?? [], findings);
}

function checkExit({ end, exit }: Life, index: number, findings: Findings): void {
  const { code, signal } = exit;
  const asTold = end === "killed" ? signal === "SIGKILL" : end === "stopped" && code === 0;
  if (!asTold)
    findings.violation("I7", `process ${index} (${end ?? "never told to end"}): code ${code}, signal ${signal}`);
}

function checkLines({ seen, life, entries }: Joined, lines: readonly Line[], findings: Findings): void {
  const bad = (what: string) => findings.violation("I6", `${seen.id} (${seen.ending} ${seen.status}): ${what}`);
  if (seen.ending === "unreached") {
    if (lines.length > 0) bad("in the log, though nobody took the connection");
    return;
  }
  const [line] = lines;
  if (lines.length > 1) bad(`${lines.length} lines`);
  if (!line) {
    if (life?.end === "killed" && seen.endedAt >= life.signalledAt! - UNWRITTEN)
      return findings.allow("I: the line was not written when the process was killed -9");
    if (seen.ending === "left" && entries.length === 0)
      return findings.allow("F: left before the gateway had the request");
    if (seen.ending === "broken")
      return findings.allow("sent to a process that was ending, which never read it: not charged");
    return bad("no line");
  }
  if (seen.ending === "whole" && line.status !== 200) bad(`logged as ${line.status}`);
  if (seen.ending === "refused" && line.status !== seen.status) bad(`logged as ${line.status}`);
  const [entry] = entries;
  const cost = entry ? nanoToString(entry.charge) : "0";
  if ((line.cost ?? "0") !== cost) bad(`logged at ${line.cost}, charged ${cost}`);
  if (entry && line.outcome !== entry.outcome) bad(`logged as ${line.outcome}, recorded as ${entry.outcome}`);
}

function parse(text: string): Line | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
