import type { Evidence } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { type Joined, mayBeAway } from "../joined.ts";

const KEY = /rk_[0-9a-f]{64}/;

/** Milliseconds in which every instance knows of a revocation, and those that a request takes to arrive. */
const REVOKED = 1_000;
const ARRIVAL = 250;

/** I8: secrets, and who is let in: a store that is away is no reason to call a good key bad. */
export function checkAccess(evidence: Evidence, joined: readonly Joined[], findings: Findings): void {
  const { lives, secrets, shown, setup } = evidence;
  for (const [index, { log }] of lives.entries()) {
    for (const [name, secret] of secrets)
      if (log.includes(secret)) findings.violation("I8", `process ${index} has logged the ${name}`);
    if (KEY.test(log)) findings.violation("I8", `process ${index} has logged a user's key`);
  }
  for (const what of shown) findings.violation("I8", `shown to a client: ${what}`);
  for (const { seen, user } of joined) {
    const revoked = user.revoked[seen.key] ?? null;
    const bad = (what: string) => findings.violation("I8", `${seen.id} (${user.kind}): ${what}`);
    switch (seen.status) {
      case 401:
        if (revoked === null || seen.endedAt < revoked.from) bad("a good key was refused");
        break;
      case 402:
        if (user.kind !== "poor") bad("refused for credits that there are");
        break;
      case 0:
      case 400:
      case 429:
      case 502:
      case 503:
      case 504:
        break;
      case 200:
        if (revoked === null || seen.sentAt <= revoked.until + REVOKED + ARRIVAL) break;
        if (setup.onFailure === "open" && mayBeAway(evidence, { from: seen.sentAt, until: seen.endedAt }))
          findings.allow("open: a revoked key, of which its process had not heard while the store was away");
        else bad("a revoked key was served");
        break;
      default:
        findings.violation("I7", `${seen.id}: status ${seen.status} ${seen.fault}`);
    }
  }
}
