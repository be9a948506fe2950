import type { LedgerEntry, Usage } from "../../../src/kit/index.ts";
import { promptOf } from "../client.ts";
import type { Evidence, Pricing } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { isOrphan, type Joined, killedSoon, mayBeAway } from "../joined.ts";
import type { ModelName, RequestPlan } from "../plan.ts";
import { PRICES } from "../site.ts";

/** Milliseconds that a settlement may come later than its client saw the end. */
const LATE = 15_000;

/** Sums over all users, in nano-units. */
export interface Sums {
  readonly charged: bigint;
  /** Charged less what the recorded usage costs. */
  readonly difference: bigint;
}

/** I1 and I3: every charge anew from the recorded usage, and every account. */
export function checkMoney(evidence: Evidence, joined: readonly Joined[], findings: Findings): Sums {
  const plans = new Map(evidence.plan.map((one) => [one.id, one]));
  const byId = new Map(joined.map((one) => [one.seen.id, one]));
  let [charged, difference] = [0n, 0n];
  for (const user of evidence.users) {
    let [sum, owed] = [0n, 0n];
    for (const entry of user.ledger) {
      sum += entry.charge;
      const plan = plans.get(entry.requestId);
      if (isOrphan(entry) || !plan) continue;
      const { cost, hold } = costOf(entry, plan, evidence.pricings);
      difference += entry.charge - cost;
      if (entry.charge !== cost)
        findings.violation("I1", `${entry.requestId}: charged ${entry.charge}, its usage costs ${cost}`);
      checkEstimate(entry, plan, evidence, findings);
      // What was given up with its process, and charged by the journal all the same, is held by nothing.
      const unheld = isUnheld(byId.get(entry.requestId), evidence);
      if (unheld || entry.charge > hold) owed += unheld ? entry.charge : entry.charge - hold;
    }
    charged += sum;
    const { granted, balance, gifts, id } = user;
    if (granted !== balance + sum)
      findings.violation("I3", `${id}: granted ${granted}, but balance ${balance} + charges ${sum}`);
    if (granted < gifts.least || granted > gifts.most)
      findings.violation("I3", `${id}: granted ${granted}, not from ${gifts.least} to ${gifts.most}`);
    if (balance < -owed) findings.violation("I3", `${id}: balance ${balance}, holds were exceeded by ${owed}`);
  }
  return { charged, difference };
}

function isUnheld(one: Joined | undefined, evidence: Evidence): boolean {
  if (one === undefined) return false;
  const { seen, life } = one;
  if (life?.end === "killed" || killedSoon(life, seen, LATE)) return true;
  // Credits are not asked for while a process goes by its own view.
  return evidence.setup.onFailure === "open" && mayBeAway(evidence, { from: seen.sentAt, until: seen.endedAt });
}

/** The price in force is that of the moment at which the request came: near a reload it may be either. */
function costOf({ usage, charge, outcome, receivedAt }: LedgerEntry, plan: RequestPlan, pricings: readonly Pricing[]) {
  const inForce = pricings.filter(({ from, until }) => receivedAt >= from && receivedAt <= until);
  const costs = inForce.map(({ multiplier }) => ({
    cost: outcome === "client_fault" ? 0n : priceOf(usage, plan.model, multiplier),
    hold: priceOf(holdOf(plan), plan.model, multiplier),
  }));
  return costs.find(({ cost }) => cost === charge) ?? costs.at(-1) ?? { cost: 0n, hold: 0n };
}

/** Nano-units, rounded half up once. Prices are tenths of them, the multiplier is hundredths. */
export function priceOf({ prompt, cached, completion }: Usage, model: ModelName, multiplier: number): bigint {
  const price = PRICES[model];
  const sum = BigInt(prompt - cached) * price.input + BigInt(cached) * price.cached + BigInt(completion) * price.output;
  return (2n * sum * BigInt(multiplier) + 1_000n) / 2_000n;
}

function holdOf(plan: RequestPlan): Usage {
  const prompt = Math.ceil(Buffer.byteLength(promptOf(plan)) / 4);
  return { prompt, completion: plan.maxTokens, cached: 0, reasoning: 0 };
}

/** A token is at least a character. */
function checkEstimate(entry: LedgerEntry, plan: RequestPlan, { served }: Evidence, findings: Findings): void {
  if (!entry.estimated) return;
  const most = Math.max(0, ...(served.get(plan.id) ?? []).map(({ characters }) => characters));
  const { prompt, completion } = entry.usage;
  if (completion > most || prompt > promptOf(plan).length)
    findings.violation("I1", `${plan.id}: estimated ${prompt} + ${completion} tokens, more than there was`);
}
