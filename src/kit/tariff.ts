import type { Usage } from "./exchange.ts";
import { add, type Decimal, multiply, timesInteger, toNano } from "./money.ts";
import type { Price, Snapshot } from "./snapshot.ts";

const PER_MILLION: Decimal = { digits: 1n, scale: 6 };
const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** A model's price with both multipliers, ready to be applied. */
export interface Tariff {
  /** Nano-units, rounded half up once (decisions 6.1, 6.1a). */
  charge(usage: Usage): bigint;
}

/** @param multipliers the model's and `billing.cost_multiplier`. */
export function createTariff(price: Price, multipliers: readonly Decimal[]): Tariff {
  const scaled = (unit: Decimal | undefined): Decimal => multipliers.reduce(multiply, unit ?? NOTHING);
  const input = multiply(scaled(price.inputPerMillion), PER_MILLION);
  const cached = multiply(scaled(price.cachedInputPerMillion ?? price.inputPerMillion), PER_MILLION);
  const output = multiply(scaled(price.outputPerMillion), PER_MILLION);
  const request = scaled(price.perRequest);
  return {
    charge(usage) {
      const fresh = add(timesInteger(input, usage.prompt - usage.cached), timesInteger(cached, usage.cached));
      return toNano(add(add(fresh, timesInteger(output, usage.completion)), request));
    },
  };
}

/** Every model's tariff by its id. */
export function tariffsOf({ models, billing }: Snapshot): ReadonlyMap<string, Tariff> {
  return new Map(
    Object.values(models).map(({ id, price, multipliers }) => [
      id,
      createTariff(price, [multipliers.cost, billing.costMultiplier]),
    ]),
  );
}
