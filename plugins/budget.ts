import {
  decimal,
  definePlugin,
  type Exchange,
  GatewayError,
  isStoreUnavailable,
  nanoToString,
  type PluginHeaders,
  toNano,
} from "#kit";
import type { BudgetOptions } from "#schema";

const DEFAULT_WARN_SHARE = "80%";
/** Sums outlive their period by this: clocks of instances differ, and a stream may end behind it. */
const KEPT_MS = 86_400_000;

/**
 * What a user may spend in a month or a day. Refused is whoever has spent it: requests that were admitted before run to
 * their end, so it can be passed by what those cost that run at the same time, and by no more.
 */
export default definePlugin<BudgetOptions>({
  name: "budget",
  stage: "admit",
  schema: new URL("../schemas/plugins/budget.schema.json", import.meta.url),
  needs: ["meter"],
  setup(
    { period = "month", amount, tiers = {}, warn_at: share = DEFAULT_WARN_SHARE },
    { snapshot, storage, now, log },
  ) {
    const amounts = new Map(Object.entries(tiers).map(([tier, own]) => [tier, nanoOf(own)]));
    for (const tier of amounts.keys()) {
      if (!Object.hasOwn(snapshot.tiers, tier)) throw new Error(`tiers names a plan that there is not: ${tier}`);
    }
    if (amount === undefined && amounts.size === 0) throw new Error("there is neither an amount nor one of a plan");
    const general = amount === undefined ? null : nanoOf(amount);
    const warnPercent = BigInt(share.slice(0, -1));
    const isWarned = (spent: bigint, budget: bigint): boolean => spent * 100n >= budget * warnPercent;

    const settle = async (
      { id, requestId, tier }: Exchange,
      key: string,
      endsAt: number,
      budget: bigint,
      charge: bigint,
    ) => {
      const spent = await storage.add(key, charge, Math.max(endsAt - now(), 0) + KEPT_MS);
      // Of all that add, on whatever instance, one passes the share.
      if (!isWarned(spent, budget) || isWarned(spent - charge, budget)) return;
      const fields = {
        // The ledger says whose request it was: logs hold no ids of users.
        id,
        request_id: requestId,
        tier: tier.name,
        spent: nanoToString(spent),
        budget: nanoToString(budget),
      };
      log.warn(fields, `a user has spent ${percent(spent, budget)} % of the budget of this ${period}`);
    };

    /** null where nobody knows, and nobody has to. */
    const spentBy = async (key: string): Promise<bigint | null> => {
      try {
        return BigInt((await storage.get(key)) ?? 0);
      } catch (error) {
        if (isStoreUnavailable(error) && snapshot.store.onFailure === "open") return null;
        throw error;
      }
    };

    return {
      async admit(exchange) {
        const budget = amounts.get(exchange.tier.name) ?? general;
        if (budget === null) return;
        const at = now();
        const { name, endsAt } = periodOf(period, at);
        const key = `${name} ${exchange.principal.userId}`;
        const spent = await spentBy(key);
        const wait = Math.max(1, Math.ceil((endsAt - at) / 1000));
        const headers = spent === null ? {} : headersOf(spent, budget, wait, isWarned(spent, budget) && period);
        if (spent !== null && spent >= budget) {
          const message = `The budget of this ${period} is used up`;
          throw new GatewayError("INSUFFICIENT_CREDITS", message, { retryAfter: wait, headers });
        }
        return {
          headers,
          // A charge belongs to the period in which its request was admitted.
          async settle({ bill }) {
            if (bill.charge > 0n) await settle(exchange, key, endsAt, budget, bill.charge);
          },
        };
      },
    };
  },
});

/** @param warned the period whose budget is nearly used up; false: none. */
function headersOf(spent: bigint, budget: bigint, wait: number, warned: string | false): PluginHeaders {
  return {
    "X-Gateway-Budget-Limit": nanoToString(budget),
    "X-Gateway-Budget-Remaining": nanoToString(spent < budget ? budget - spent : 0n),
    "X-Gateway-Budget-Reset": String(wait),
    ...(warned !== false && {
      "X-Gateway-Budget-Warning": `${percent(spent, budget)}% of the budget of this ${warned} is used`,
    }),
  };
}

function nanoOf(amount: number): bigint {
  return toNano(decimal(amount));
}

/** Rounded down: less than all of it is never 100. */
function percent(spent: bigint, budget: bigint): bigint {
  return budget === 0n ? 100n : (spent * 100n) / budget;
}

/** The UTC month or day that a time is in. */
function periodOf(period: "month" | "day", at: number): { readonly name: string; readonly endsAt: number } {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (period === "month") return { name: date.toISOString().slice(0, 7), endsAt: Date.UTC(year, month + 1) };
  return { name: date.toISOString().slice(0, 10), endsAt: Date.UTC(year, month, day + 1) };
}
