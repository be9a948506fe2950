import {
  type AdmissionResult,
  type Admitted,
  type Awaitable,
  budgetAccount,
  type BillingSettings,
  budgetResetsAt,
  budgetText,
  type CallFacts,
  type Exchange,
  GatewayError,
  isPromise,
  isStoreUnavailable,
  type LedgerRecord,
  type Model,
  type Outcome,
  type Principal,
  type Refusal,
  type RequestBudget,
  type Settlement,
  StalePrincipal,
  tariffsOf,
  tierOf,
  type Usage,
  type Windows,
} from "#kit";
import type { QuotaOptions } from "#schema";
import { type BuiltinHost, defineBuiltin } from "../src/kit/builtin.ts";

const BYTES_PER_TOKEN = 4;

/** Reserves all windows, a stream slot and the estimated cost in one step; settles them to what was really used. */
export default defineBuiltin<QuotaOptions, "admit">({
  name: "quota",
  stage: "admit",
  schema: new URL("../schemas/plugins/quota.schema.json", import.meta.url),
  needs: ["meter"],
  setup(_options, { snapshot, store, now }) {
    const { billing, tiers } = snapshot;
    const tariffs = tariffsOf(snapshot);
    return {
      admit(exchange) {
        const { id, principal, tier, model, call } = exchange;
        const { userId } = principal;
        const tariff = tariffs.get(model.id);
        const { usual, longest } = heldOutput(call, model, billing);
        const hold = tariff?.charge(usageOf(call, usual));
        const fullHold = longest === null ? undefined : tariff?.charge(usageOf(call, longest));
        const budget = budgetOf(principal);
        const result = store.admit({
          id,
          userId,
          limits: tier.limits,
          units: model.multipliers.requests,
          stream: call.stream,
          hold: hold ?? 0n,
          ...(fullHold !== undefined && { fullHold }),
          enforceCredits: billing.enforce,
          model: model.id,
          ...(principal.version !== undefined && { version: principal.version }),
          ...(budget && { budget }),
        });
        const admitted = (result: AdmissionResult): Admitted => {
          if (!result.ok) throw refusal(result.refusal, result.windows, budget, now());
          const { windows, stopToken } = result;
          return {
            windows,
            stopToken,
            confirmed: true,
            settle: (outcome) => settle(store, exchange, outcome),
            release: () => store.release({ id, userId }),
          };
        };
        return result instanceof Promise ? result.then(admitted) : admitted(result);
      },
      windows(principal) {
        return store.windows(principal.userId, tierOf({ tiers }, principal.tier).limits);
      },
    };
  },
});

/**
 * Output tokens that a request holds: usually those that the client allows, else an estimate. `longest` is what the model
 * can write, if that is more: upstreams need not keep to the client's limit.
 */
function heldOutput(
  { maxOutput, answers = 1 }: CallFacts,
  model: Model,
  { holdOutputTokens }: BillingSettings,
): { readonly usual: number; readonly longest: number | null } {
  const usual = maxOutput ?? holdOutputTokens * answers;
  if (model.maxOutput === null) return { usual, longest: null };
  const longest = model.maxOutput * answers;
  return { usual, longest: longest > usual ? longest : null };
}

function usageOf({ promptBytes, units }: CallFacts, completion: number): Usage {
  return { prompt: Math.ceil(promptBytes / BYTES_PER_TOKEN), completion, cached: 0, reasoning: 0, ...units };
}

type Admissions = Pick<BuiltinHost<"admit">["store"], "settle">;

function settle(store: Admissions, exchange: Exchange, outcome: Outcome): Awaitable<void> {
  const { id, principal } = exchange;
  const { userId } = principal;
  const { giveBack } = outcome;
  const budget = budgetOf(principal);
  // What a failure of the gateway's own has cost at the upstream is worth a record, though nobody pays it.
  const isRecorded = !giveBack || outcome.kind === "gateway_error";
  const record = isRecorded ? recordOf(exchange, outcome) : null;
  const settlement = { id, userId, giveBack, charge: outcome.bill.charge, record };
  const asked = budget ? { ...settlement, budget: { keyId: budget.keyId, per: budget.per } } : settlement;
  const refused = (error: unknown): Promise<never> => releaseOnly(store, settlement, error);
  try {
    const settling = store.settle(asked);
    return isPromise(settling) ? settling.then(ignore, refused) : undefined;
  } catch (error) {
    return refused(error);
  }
}

function ignore(): void {}

/** Refused for good, for instance a charge beyond what is stored: slot and hold must not be lost with it. */
async function releaseOnly(
  store: Admissions,
  settlement: Pick<Settlement, "id" | "userId" | "giveBack">,
  error: unknown,
): Promise<never> {
  const { id, userId, giveBack } = settlement;
  if (!isStoreUnavailable(error)) await store.settle({ id, userId, giveBack, charge: 0n, record: null });
  throw error;
}

function budgetOf({ keyId, keyLimits }: Principal): RequestBudget | undefined {
  if (keyId === null || keyLimits?.budget === undefined) return undefined;
  const { amount, per } = keyLimits.budget;
  return { keyId: budgetAccount(keyId, keyLimits.budget), amount, per };
}

function recordOf({ requestId, principal, model, receivedAt, tags }: Exchange, outcome: Outcome): LedgerRecord {
  const { kind, target, bill, endedAt } = outcome;
  return {
    requestId,
    keyId: principal.keyId,
    model: model.id,
    upstream: target?.upstream ?? null,
    outcome: kind,
    usage: bill.usage,
    estimated: bill.estimated,
    receivedAt,
    endedAt,
    ...(tags !== undefined && { tags: Object.fromEntries(tags.map(({ name, value }) => [name, value])) }),
    tier: principal.tier,
  };
}

function refusal(reason: Refusal, windows: Windows, budget: RequestBudget | undefined, now: number): Error {
  switch (reason) {
    case "principal":
      return new StalePrincipal();
    case "credits":
      return new GatewayError("INSUFFICIENT_CREDITS", "Insufficient credits for this request");
    case "budget":
      return budget === undefined
        ? new TypeError("a key without a budget has none to keep to")
        : overBudget(budget, now);
    case "day":
      return limited("DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded", windows.day.resetsAt - now);
    case "hour":
      return limited("RATE_LIMIT_ERROR", "Hourly request limit exceeded", windows.hour.resetsAt - now);
    case "minute":
      return limited("RATE_LIMIT_ERROR", "Per-minute request limit exceeded", windows.minute.resetsAt - now);
    case "streams":
      // Nobody knows when one of the caller's streams will end.
      return limited("RATE_LIMIT_ERROR", "Concurrent stream limit exceeded", 1000);
  }
}

function overBudget(budget: RequestBudget, now: number): GatewayError {
  const resetsAt = budgetResetsAt(budget.per, now);
  const left = `This API key's budget of ${budgetText(budget)} has not enough left for this request`;
  if (resetsAt === null) return new GatewayError("INSUFFICIENT_CREDITS", left);
  const retryAfter = Math.max(1, Math.ceil((resetsAt - now) / 1000));
  const message = `${left}; it resets at ${new Date(resetsAt).toISOString()}`;
  return new GatewayError("INSUFFICIENT_CREDITS", message, { retryAfter });
}

function limited(
  code: "DAILY_REQUEST_LIMIT_EXCEEDED" | "RATE_LIMIT_ERROR",
  message: string,
  wait: number,
): GatewayError {
  return new GatewayError(code, message, { retryAfter: Math.max(1, Math.ceil(wait / 1000)) });
}
