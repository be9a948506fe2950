import type { Usage } from "./call.ts";
import { add, type Decimal, multiply, timesInteger, toNano } from "./money.ts";
import type { ImagePrices, Price, Snapshot } from "./snapshot.ts";

const PER_MILLION: Decimal = { digits: 1n, scale: 6 };
const PER_THOUSAND: Decimal = { digits: 1n, scale: 3 };
const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** A model's price with both multipliers, ready to be applied. */
export interface Tariff {
  /** Whether the price needs what only an upstream measures, tokens or seconds of audio, and `usage` does not say it. */
  lacks(usage: Usage | null): boolean;
  /** Nano-units, rounded half up once. */
  charge(usage: Usage): bigint;
}

/** @param multipliers the model's and `billing.cost_multiplier`. */
export function createTariff(price: Price, multipliers: readonly Decimal[]): Tariff {
  const scaled = (unit: Decimal | undefined): Decimal => multipliers.reduce(multiply, unit ?? NOTHING);
  const input = multiply(scaled(price.inputPerMillion), PER_MILLION);
  const cached = multiply(scaled(price.cachedInputPerMillion ?? price.inputPerMillion), PER_MILLION);
  const write = price.cacheWritePerMillion ?? price.inputPerMillion;
  const written = multiply(scaled(write), PER_MILLION);
  const written1h = multiply(scaled(price.cacheWrite1hPerMillion ?? write), PER_MILLION);
  const output = multiply(scaled(price.outputPerMillion), PER_MILLION);
  const reasoning = multiply(scaled(price.reasoningPerMillion ?? price.outputPerMillion), PER_MILLION);
  const request = scaled(price.perRequest);
  const others = (
    [
      ["characters", multiply(scaled(price.perMillionCharacters), PER_MILLION)],
      ["milliseconds", multiply(scaled(price.perSecond), PER_THOUSAND)],
    ] as const
  ).filter(([, unit]) => unit.digits > 0n);
  const images = imagePrices(price.perImage);
  const tokens = price.inputPerMillion !== undefined || price.outputPerMillion !== undefined;
  const time = price.perSecond !== undefined;
  return {
    lacks(usage) {
      if (usage === null) return tokens || time;
      // What an upstream says of images without a count of tokens is how many they are.
      const uncounted = usage.images !== undefined && usage.prompt + usage.completion === 0;
      return (tokens && uncounted) || (time && usage.milliseconds === undefined);
    },
    charge(usage) {
      const { prompt, completion, cacheWrite = 0, cacheWrite1h = 0 } = usage;
      let sum = add(request, timesInteger(input, prompt - usage.cached - cacheWrite));
      sum = add(sum, timesInteger(cached, usage.cached));
      if (cacheWrite > 0) sum = add(sum, timesInteger(written, cacheWrite - cacheWrite1h));
      if (cacheWrite1h > 0) sum = add(sum, timesInteger(written1h, cacheWrite1h));
      sum = add(sum, timesInteger(output, completion - usage.reasoning));
      if (usage.reasoning > 0) sum = add(sum, timesInteger(reasoning, usage.reasoning));
      for (const [unit, price] of others) sum = add(sum, timesInteger(price, usage[unit] ?? 0));
      if (usage.images !== undefined) sum = add(sum, timesInteger(scaled(images(usage.imageVariant)), usage.images));
      return toNano(sum);
    },
  };
}

/** What an image of a variant costs. */
function imagePrices(price: Decimal | ImagePrices | undefined): (variant?: string) => Decimal | undefined {
  if (price === undefined || !("default" in price)) return () => price;
  const prices = new Map(Object.entries(price));
  return (variant = "") => {
    const [size = "", quality = ""] = variant.split("/");
    return prices.get(variant) ?? prices.get(size) ?? prices.get(quality) ?? price.default;
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
