import type { Bill, Ending, Exchange, Host, Observer, Outcome, Settle } from "../kit/index.ts";
import type { Plan } from "./build.ts";
import { checkedBill } from "./returned.ts";

const NOTHING: Bill = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };

/**
 * Whether counters go back as if the request had never been, beside slot and hold (decisions 4.1, 4.4).
 * @param written whether the client got anything of an answer.
 */
export function givesBack({ kind, sent, begun }: Ending, written: boolean): boolean {
  switch (kind) {
    case "failed":
      return true;
    case "gateway_error":
      return !written;
    case "refused":
    case "shutdown":
      return !begun;
    case "client_gone":
    case "killed":
      // Else a limit bounds nobody who leaves in time, and the provider bills every request.
      return !begun && !sent;
    case "served":
    case "client_fault":
    case "upstream_cut":
      return false;
  }
}

/** What the ending costs, by the last hook that says so. Never rejects. */
export async function price(
  hooks: Plan["settle"],
  ending: Ending,
  exchange: Exchange,
  observer: Observer,
): Promise<Bill> {
  let bill = NOTHING;
  for (const hook of hooks) {
    try {
      bill = checkedBill(await hook.call(ending, exchange));
    } catch (error) {
      observer.pluginFailed(hook.plugin, error);
    }
  }
  return bill;
}

/** Gives back what was reserved for a request that begins afresh: no price, no log line, no metric. Never rejects. */
export async function undo(
  settlers: readonly Settle<Outcome>[],
  ending: Ending,
  exchange: Exchange,
  host: Host,
): Promise<void> {
  await settleAll(settlers, { ...ending, bill: NOTHING, giveBack: true }, exchange, host);
}

/** Tells every settler once, in reverse order. Never rejects: one failing settler must not starve the next. */
export async function settleAll(
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
