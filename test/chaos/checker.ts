import { checkAccess } from "./checks/access.ts";
import { checkCharges } from "./checks/charges.ts";
import { checkLeaks } from "./checks/leaks.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkLogs } from "./checks/logs.ts";
import { checkService } from "./checks/service.ts";
import { checkMoney, type Sums } from "./checks/money.ts";
import type { Evidence } from "./evidence.ts";
import { type Finding, Findings } from "./findings.ts";
import { join } from "./joined.ts";

export interface Verdict {
  readonly violations: readonly Finding[];
  /** What differs as the table of outcomes allows: by its row, how often. */
  readonly allowances: ReadonlyMap<string, number>;
  readonly sums: Sums;
}

/** Joins what clients, upstream, ledgers and logs say of a run, and holds it against the invariants. */
export function check(evidence: Evidence): Verdict {
  const findings = new Findings();
  const joined = join(evidence);
  const sums = checkMoney(evidence, joined, findings);
  checkCharges(evidence, joined, findings);
  checkLeaks(evidence, findings);
  checkLimits(evidence, joined, findings);
  checkLogs(evidence, joined, findings);
  checkAccess(evidence, joined, findings);
  checkService(evidence, joined, findings);
  return { violations: findings.violations, allowances: findings.allowances, sums };
}
