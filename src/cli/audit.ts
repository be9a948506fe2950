import type { AuditVerdict } from "../kit/index.ts";
import { loadForAccounts } from "../gateway/configuration.ts";
import { askStore } from "./existing-store.ts";
import { configFile, EXIT, ExitError } from "./options.ts";

export interface VerifyOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** A digest that is to be in the chain. */
  readonly contains?: string;
}

/** Checks the chain of the audit log. @throws ExitError that names the first bad entry. */
export async function verifyAudit({ config, json, contains }: VerifyOptions): Promise<void> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { loaded } = await loadForAccounts({ file: configFile(config), env: process.env, log });
  const verdict = await askStore(loaded.snapshot, async (store) => store.verifyAudit(contains?.toLowerCase()));
  if (json) process.stdout.write(`${JSON.stringify(shown(verdict))}\n`);
  const problem = problemOf(verdict, contains);
  if (problem !== null) throw new ExitError(EXIT.findings, problem);
  if (!json) process.stdout.write(`${textOf(verdict)}\n`);
}

function problemOf({ bad, found }: AuditVerdict, contains = ""): string | null {
  if (bad !== null) {
    if (bad.id === null) return `the audit log is not whole: ${bad.why}`;
    const when = bad.at === null ? "" : ` of ${timeOf(bad.at)}`;
    const what = bad.action === null ? "" : ` (${bad.action})`;
    return `the audit log is not whole at entry ${bad.id}${what}${when}: ${bad.why}`;
  }
  return found === false ? `the audit log has no entry with the digest ${contains}, nor had one removed last` : null;
}

function textOf({ entries, begun, unchained, erased, head }: AuditVerdict): string {
  const lines = [
    `The audit log is whole: ${entries} entries.`,
    ...(begun > 0 ? [`${begun} changes are under way, or their process ended: not checked.`] : []),
    ...(unchained > 0 ? [`${unchained} entries of a former version have no digest: not checked.`] : []),
    ...(erased > 0 ? [`${erased} entries have had their personal data removed.`] : []),
    ...(head === null ? [] : [`Newest digest: ${head}`]),
  ];
  return lines.join("\n");
}

function shown({ bad, ...verdict }: AuditVerdict): object {
  const at = bad === null || bad.at === null ? null : timeOf(bad.at);
  return { ok: bad === null && verdict.found !== false, ...verdict, bad: bad && { ...bad, at } };
}

/** Anything may stand there in an entry that was changed. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "an unknown time" : time.toISOString();
}
