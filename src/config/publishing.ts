import type { PriceConfig, UpstreamConfig } from "#schema";
import type { Kind } from "../kit/index.ts";
import { freePrice } from "./defaults.ts";
import { PRICE_UNITS } from "./link/prices.ts";
import { isLocal } from "./local.ts";
import type { Incomplete } from "./validate.ts";

/**
 * What a model of a kind costs that an upstream publishes of its provider's list: what `models.price` says, else 0 for a
 * local server. null where nobody says it: such a model is not published.
 */
export function listedPrice(
  kind: Kind,
  upstream: Pick<Incomplete<UpstreamConfig>, "base_url" | "vendor" | "models">,
): PriceConfig | null {
  const price = upstream.models?.price;
  // A source of prices by provider and model has its place here.
  if (price === undefined) return isLocal(upstream) ? freePrice(kind) : null;
  const { allowed, required } = PRICE_UNITS[kind];
  const written = Object.entries(price).filter(([unit]) => allowed.some((one) => one === unit));
  const isPriced = (unit: string): boolean => written.some(([one]) => one === unit);
  return required.some((set) => set.every(isPriced)) ? (Object.fromEntries(written) as PriceConfig) : null;
}
