import type { Evidence } from "../evidence.ts";
import type { Findings } from "../findings.ts";

/** I4: at the end nothing is running, held or waiting. */
export function checkLeaks({ users, journal }: Evidence, findings: Findings): void {
  for (const { id, held, running } of users) {
    const { requests, streams } = running;
    if (requests > 0 || streams > 0)
      findings.violation("I4", `${id}: ${requests} reservations are left, ${streams} of them streams`);
    if (held !== 0n || running.held !== 0n) findings.violation("I4", `${id}: ${held} nano-units are still held`);
  }
  if (journal.pending > 0) findings.violation("I4", `${journal.pending} settlements wait in the journal`);
  if (journal.rejected > 0) findings.violation("I4", `the store would not take ${journal.rejected} settlements`);
}
