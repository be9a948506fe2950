import type { PriceConfig, PublishingConfig, UpstreamConfig } from "#schema";
import type { Kind } from "../../kit/index.ts";
import { freePrice } from "../defaults.ts";
import { join } from "../diagnostics.ts";
import { isLocal } from "../local.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { linkAccess } from "./models.ts";
import { linkAge, PRICE_UNITS } from "./prices.ts";

type Upstream = Incomplete<UpstreamConfig>;

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

/** What upstreams publish of their providers' lists: a tier, a price, and patterns that leave something. */
export function linkPublishing(context: LinkContext): void {
  const { upstreams = {} } = context.config;
  for (const [name, upstream] of Object.entries(upstreams)) {
    const { models } = upstream ?? {};
    if (upstream === undefined || models === undefined) continue;
    const pointer = join("/upstreams", name, "models");
    context.resolve("tiers", models.tier, join(pointer, "tier"));
    linkAccess(context, models, pointer, "");
    linkPrice(context, name, upstream, pointer);
    linkPatterns(context, models, pointer);
  }
  if (context.hasModels || context.isInvalid("/models") || context.misspelt("")) return;
  context.report("", {
    rule: "missing-key",
    message: "missing key 'models'",
    hint: "write out what is served, or publish what a provider lists: upstreams.NAME.models",
  });
}

function linkPrice(context: LinkContext, name: string, upstream: Upstream, pointer: string): void {
  const { dialect, models } = upstream;
  const price = models?.price;
  linkAge(context, price, join(pointer, "price"));
  if (dialect === undefined || context.isInvalid(pointer) || context.misspelt(pointer)) return;
  const { served } = context.dialects[dialect];
  if (served.some((kind) => listedPrice(kind, upstream) !== null)) {
    const known = new Set<string>(served.flatMap((kind) => PRICE_UNITS[kind].allowed));
    for (const unit of Object.keys(price ?? {}).filter((key) => key !== "verified_at" && !known.has(key))) {
      const message = `no model that the dialect ${dialect} serves has a price ${unit}`;
      const hint = `it serves: ${served.join(", ")}`;
      context.report(join(pointer, "price", unit), { rule: "price-unit", message, hint }, "key");
    }
    return;
  }
  // Where the server is, is not known: that its variable is not set is said.
  if (price === undefined && (isLocal(upstream) || context.isUnset(join("/upstreams", name, "base_url")))) return;
  const [first] = served;
  const units = first === undefined ? [] : (PRICE_UNITS[first].required[0] ?? []);
  const message = `the models that ${name} lists have no price`;
  const example = units.length === 0 ? "" : `: { ${units.map((unit) => `${unit}: …`).join(", ")} }`;
  const hint = `add price${example}; free models say 0`;
  context.report(
    price === undefined ? pointer : join(pointer, "price"),
    { rule: "missing-price", message, hint },
    "key",
  );
}

/** A pattern that excludes whatever include has. */
function linkPatterns(
  context: LinkContext,
  { include = [], exclude = [] }: Incomplete<PublishingConfig>,
  pointer: string,
): void {
  for (const [index, pattern] of exclude.entries()) {
    if (pattern === undefined || !(/^\*+$/.test(pattern) || include.every((one) => one === pattern))) continue;
    const message = "excludes everything that is included: no model is published";
    const hint = "remove it, or remove models from the upstream";
    context.report(join(pointer, "exclude", index), { rule: "model-list", severity: "warning", message, hint });
  }
}
