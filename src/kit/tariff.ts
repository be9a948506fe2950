import type { Units, Usage } from "./call.ts";
import { add, type Decimal, multiply, timesInteger, toNano } from "./money.ts";
import type { Price, Snapshot } from "./snapshot.ts";

const PER_MILLION: Decimal = { digits: 1n, scale: 6 };
const PER_THOUSAND: Decimal = { digits: 1n, scale: 3 };
const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** A model's price with both multipliers, ready to be applied. */
export interface Tariff {
  /** Whether the price needs what only an upstream measures, tokens or seconds of audio, and `usage` does not say it. */
  lacks(usage: Usage | null): boolean;
  /** Nano-units, rounded half up once (decisions 6.1, 6.1a). */
  charge(usage: Usage): bigint;
}

/** @param multipliers the model's and `billing.cost_multiplier`. */
export function createTariff(price: Price, multipliers: readonly Decimal[]): Tariff {
  const scaled = (unit: Decimal | undefined): Decimal => multipliers.reduce(multiply, unit ?? NOTHING);
  const input = multiply(scaled(price.inputPerMillion), PER_MILLION);
  const cached = multiply(scaled(price.cachedInputPerMillion ?? price.inputPerMillion), PER_MILLION);
  const written = multiply(scaled(price.cacheWritePerMillion ?? price.inputPerMillion), PER_MILLION);
  const output = multiply(scaled(price.outputPerMillion), PER_MILLION);
  const reasoning = multiply(scaled(price.reasoningPerMillion ?? price.outputPerMillion), PER_MILLION);
  const request = scaled(price.perRequest);
  const others: readonly (readonly [keyof Units, Decimal])[] = (
    [
      ["characters", multiply(scaled(price.perMillionCharacters), PER_MILLION)],
      ["milliseconds", multiply(scaled(price.perSecond), PER_THOUSAND)],
      ["images", scaled(price.perImage)],
    ] as const
  ).filter(([, unit]) => unit.digits > 0n);
  const tokens = price.inputPerMillion !== undefined || price.outputPerMillion !== undefined;
  const time = price.perSecond !== undefined;
  return {
    lacks: (usage) => (usage === null ? tokens || time : time && usage.milliseconds === undefined),
    charge(usage) {
      const { prompt, completion, cacheWrite = 0 } = usage;
      let sum = add(request, timesInteger(input, prompt - usage.cached - cacheWrite));
      sum = add(sum, timesInteger(cached, usage.cached));
      if (cacheWrite > 0) sum = add(sum, timesInteger(written, cacheWrite));
      sum = add(sum, timesInteger(output, completion - usage.reasoning));
      if (usage.reasoning > 0) sum = add(sum, timesInteger(reasoning, usage.reasoning));
      for (const [unit, price] of others) sum = add(sum, timesInteger(price, usage[unit] ?? 0));
      return toNano(sum);
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
