import { nanoToString, type OutcomeKind } from "../../../src/kit/index.ts";
import type { Evidence, Life } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { type Joined, killedSoon } from "../joined.ts";

/** Milliseconds for which the last lines of a process wait to be written, on a machine that is busy. */
const UNWRITTEN = 3_000;

/** What a configuration that cannot be used makes a gateway say. */
const EXPECTED = /^configuration rejected/;
/** What a supervisor says of a worker that was killed; counted. */
const REPLACED = /^worker exited: signal SIGKILL; replacing it/;
/** Milliseconds after which a worker is replaced, and after which nothing is left of a gateway that was told to end. */
const REPLACEMENT = 20_000;
const OUTLIVED = 20_000;

/**
 * On a machine that is busy another process may hold the shared journal for longer than a settlement waits for it. It waits in
 * memory then; I2 tells if it were lost.
 */
function waitsForJournal({ msg, err }: Line): boolean {
  return msg.startsWith("the journal cannot be used, settlements wait in memory") && /locked/.test(err?.message ?? "");
}

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
export function checkLogs({ lives, setup }: Evidence, joined: readonly Joined[], findings: Findings): void {
  const requests = new Map<string, Line[]>();
  for (const [index, life] of lives.entries()) {
    checkExit(life, index, findings);
    checkWorkers(life, index, setup.workers, findings);
    let torn = 0;
    for (const text of life.log.split("\n")) {
      if (text === "") continue;
      const line = parse(text);
      if (line === null) {
        // The last line of a process that was killed may be half of one.
        const last = life.end === "killed" && life.log.endsWith(text);
        if (!last && !(text.startsWith("{") && ++torn <= life.killings.length))
          findings.violation("I7", `process ${index} wrote: ${text.slice(0, 300)}`);
      } else if (line.msg === "request" && line.request_id !== undefined) {
        requests.set(line.request_id, [...(requests.get(line.request_id) ?? []), line]);
      } else if (waitsForJournal(line)) {
        findings.allow("the shared journal was held for longer than a settlement waits: it waited in memory");
      } else if (line.level >= 50 && !EXPECTED.test(line.msg) && !REPLACED.test(line.msg)) {
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

/** Whoever is killed is replaced, nobody else ends, and nobody outlives the whole. */
function checkWorkers(life: Life, index: number, workers: number, findings: Findings): void {
  const bad = (what: string) => findings.violation("I7", `process ${index}: ${what}`);
  const { log, killings, end, signalledAt, outlived } = life;
  if (outlived > OUTLIVED) bad(`something of it ran on for ${outlived} ms`);
  if (workers === 0) return;
  const told = log.split("\n").filter((text) => REPLACED.test(parse(text)?.msg ?? "")).length;
  if (told > killings.length) bad(`${told} workers were killed, ${killings.length} of them by us`);
  const due = killings.filter((at) => signalledAt !== null && at < signalledAt - REPLACEMENT).length;
  const served = log.split('"msg":"worker listening"').length - 1;
  if (end !== null && served < workers + due) bad(`${served} workers served, not ${workers} and ${due} more`);
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
    if (killedSoon(life, seen, UNWRITTEN))
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
