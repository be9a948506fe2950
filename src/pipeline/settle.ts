import type { Bill, Ending, Exchange, Host, Observer, Outcome, OutcomeKind, Settle } from "../kit/index.ts";
import type { Plan } from "./build.ts";
import { checkedBill } from "./returned.ts";

const NOTHING: Bill = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };

/** Whether counters, slot and hold go back as if the request had never been (decisions 4.1, 4.4). */
function givesBack(kind: OutcomeKind, begun: boolean): boolean {
  switch (kind) {
    case "refused":
    case "failed":
      return true;
    case "client_gone":
    case "killed":
    case "shutdown":
      return !begun;
    case "served":
    case "client_fault":
    case "upstream_cut":
      return false;
  }
}

/** Prices the ending and tells every settler once, in reverse order. Never rejects: one failing settler must not starve the next. */
export async function settleAll(
  ending: Ending,
  exchange: Exchange,
  plan: Plan,
  settlers: readonly Settle<Outcome>[],
  { host, observer }: { readonly host: Host; readonly observer: Observer },
): Promise<Bill> {
  let bill = NOTHING;
  for (const hook of plan.settle) {
    try {
      bill = checkedBill(await hook.call(ending, exchange));
    } catch (error) {
      observer.pluginFailed(hook.plugin, error);
    }
  }
  const outcome: Outcome = { ...ending, bill, giveBack: givesBack(ending.kind, ending.begun) };
  await tellAll(settlers, outcome, exchange, host);
  observer.finished(exchange, outcome);
  return bill;
}

/** Gives back what was reserved for a request that begins afresh: no price, no log line, no metric. Never rejects. */
export async function undo(
  settlers: readonly Settle<Outcome>[],
  ending: Ending,
  exchange: Exchange,
  host: Host,
): Promise<void> {
  await tellAll(settlers, { ...ending, bill: NOTHING, giveBack: true }, exchange, host);
}

async function tellAll(
  settlers: readonly Settle<Outcome>[],
  outcome: Outcome,
  exchange: Exchange,
  host: Host,
): Promise<void> {
  for (const settle of settlers.toReversed()) {
    try {
      await settle(outcome);
    } catch (error) {
      host.log.error({ err: error, id: exchange.id, request_id: exchange.requestId }, "settlement failed");
    }
  }
}
