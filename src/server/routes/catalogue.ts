import type { H3Event } from "h3";
import { type Decimal, GatewayError, type ImagePrices, type Model, type Price, type Tier } from "../../kit/index.ts";
import { jsonResponse, notFound, type Route } from "../app.ts";
import { callerOf } from "./caller.ts";
import type { RouteParts } from "./parts.ts";

const DETAIL = "/v1/models/";

/** Models, prices and public settings, all from the configuration in force. */
export function catalogueRoutes({ snapshot, identities }: RouteParts): readonly Route[] {
  const published = (): readonly Model[] => Object.values(snapshot().models).filter((model) => model.published);
  return [
    {
      method: "GET",
      path: "/v1/models",
      handle: () => jsonResponse(200, { object: "list", data: published().map(entry) }),
    },
    {
      method: "GET",
      path: "/v1/models/**",
      async handle(event, visit) {
        const id = modelId(event);
        const { tier } = await callerOf(visit, identities);
        const { models, tiers } = snapshot();
        const model = Object.hasOwn(models, id) ? models[id] : undefined;
        if (model === undefined) throw new GatewayError("MODEL_NOT_FOUND", "Model not found");
        return jsonResponse(200, { ...entry(model), allowed: mayCall(tiers[tier], model) });
      },
    },
    {
      method: "GET",
      path: "/v1/pricing",
      async handle(_event, visit) {
        await callerOf(visit, identities);
        return jsonResponse(200, { models: published().map(pricing) });
      },
    },
    {
      method: "GET",
      path: "/v1/settings",
      handle: () => jsonResponse(200, { cost_multiplier: numberOf(snapshot().billing.costMultiplier) }),
    },
  ];
}

function entry({ id, created, ownedBy, tier }: Model) {
  return { id, object: "model", created, owned_by: ownedBy, tier };
}

/** What follows `/v1/models/`, whether its slash is written as one or as %2F. */
function modelId(event: H3Event): string {
  const id = event.url.pathname.slice(DETAIL.length);
  if (id === "") throw notFound();
  return decodeURIComponent(id);
}

/** A plan that the configuration no longer has may call nothing. */
export function mayCall(tier: Tier | undefined, model: Model): boolean {
  return tier !== undefined && (tier.access === "all" || tier.access.includes(model.tier));
}

const OTHER_PRICES: readonly (readonly [name: string, unit: keyof Price])[] = [
  ["cached_input_per_million", "cachedInputPerMillion"],
  ["cache_write_per_million", "cacheWritePerMillion"],
  ["cache_write_1h_per_million", "cacheWrite1hPerMillion"],
  ["reasoning_per_million", "reasoningPerMillion"],
  ["per_request", "perRequest"],
  ["per_image", "perImage"],
  ["per_second", "perSecond"],
  ["per_million_characters", "perMillionCharacters"],
];

/** Token prices are always shown, the others where the model has them (decisions 6b). */
function pricing({ id, displayName, tier, price }: Model) {
  const others = OTHER_PRICES.flatMap(([name, unit]) => {
    const value = price[unit];
    return value === undefined ? [] : [[name, shown(value)]];
  });
  return {
    model: id,
    display_name: displayName,
    tier: tier.toLowerCase(),
    input_per_million: price.inputPerMillion ? numberOf(price.inputPerMillion) : 0,
    output_per_million: price.outputPerMillion ? numberOf(price.outputPerMillion) : 0,
    ...Object.fromEntries(others),
  };
}

function shown(price: Decimal | ImagePrices): unknown {
  if (!("default" in price)) return numberOf(price);
  return Object.fromEntries(Object.entries(price).map(([variant, one]) => [variant, numberOf(one)]));
}

/** The double nearest to it, which prints as the operator wrote it for up to 15 significant digits. */
function numberOf({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`);
}
