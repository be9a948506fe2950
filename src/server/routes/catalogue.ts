import type { H3Event } from "h3";
import {
  type Decimal,
  GatewayError,
  type ImagePrices,
  isSunset,
  keyMayCall,
  lifecycleHeaders,
  mayCall,
  type Model,
  modelAt,
  type Price,
  type Principal,
  type Snapshot,
  tierOf,
} from "../../kit/index.ts";
import { callerOf } from "../credentials.ts";
import { CALLER_ERRORS, json, type RouteEndpoint, type RouteParts } from "../endpoint.ts";
import { jsonResponse, notFound, textResponse } from "../router.ts";

const MODELS_PATH = "/v1/models/";

/** Models, prices, status and public settings, all from the configuration in force. */
export const CATALOGUE: readonly RouteEndpoint[] = [
  {
    method: "GET",
    path: "/v1/models",
    credentials: "none or API key or access token",
    id: "listModels",
    tag: "Catalogue",
    summary: "Public model list",
    description: "The same for everyone: credentials are ignored, except with `available=true`.",
    parameters: [
      {
        name: "available",
        in: "query",
        required: false,
        description: "true: only the models that the caller's plan and key may call, which needs credentials.",
        schema: { type: "string", enum: ["true", "false"] },
      },
    ],
    answers: { 200: { description: "The published models.", content: json("ModelList") } },
    errors: CALLER_ERRORS,
    route:
      ({ snapshot, identities, now }) =>
      async (event, context) => {
        const asked = event.url.searchParams.get("available") === "true";
        const caller = asked ? await callerOf(context, identities, null) : null;
        const current = snapshot();
        const listed = published(current, now()).filter((model) => caller === null || mayUse(model, caller, current));
        return jsonResponse(200, { object: "list", data: listed.map((model) => entry(model, current)) });
      },
  },
  {
    method: "GET",
    path: "/v1/models/{model_id}",
    credentials: "API key or access token",
    id: "getModel",
    tag: "Catalogue",
    summary: "Model detail",
    parameters: [
      {
        name: "model_id",
        in: "path",
        description: "Identifier of a model. Its slash may be sent as it is or as %2F.",
        schema: { type: "string", pattern: "^route/" },
      },
    ],
    answers: { 200: { description: "The model.", content: json("ModelDetail") } },
    errors: [...CALLER_ERRORS, "INVALID_REQUEST", "MODEL_NOT_FOUND"],
    matchesRest: true,
    route:
      ({ snapshot, identities, now }) =>
      async (event, context) => {
        const id = modelId(event);
        const caller = await callerOf(context, identities, null);
        const current = snapshot();
        const model = modelAt(current, id, now());
        if (model === null) throw new GatewayError("MODEL_NOT_FOUND", "Model not found");
        const body = { ...entry(model, current), ...endOf(model), allowed: mayUse(model, caller, current) };
        return textResponse(200, "application/json", JSON.stringify(body), lifecycleHeaders(current, id));
      },
  },
  {
    method: "GET",
    path: "/v1/pricing",
    credentials: "API key or access token",
    id: "listPrices",
    tag: "Catalogue",
    summary: "Static pricing table",
    answers: { 200: { description: "The prices of the published models.", content: json("Pricing") } },
    errors: CALLER_ERRORS,
    route:
      ({ snapshot, identities, now }) =>
      async (_event, context) => {
        await callerOf(context, identities, null);
        return jsonResponse(200, { models: published(snapshot(), now()).map(pricing) });
      },
  },
  {
    method: "GET",
    path: "/v1/status",
    credentials: "none",
    id: "getStatus",
    tag: "Catalogue",
    summary: "Health, models, incidents",
    answers: { 200: { description: "The status at this moment.", content: json("Status") } },
    errors: [],
    route: (parts) => () => jsonResponse(200, status(parts)),
  },
  {
    method: "GET",
    path: "/v1/settings",
    credentials: "none",
    id: "getSettings",
    tag: "Catalogue",
    summary: "Public settings",
    answers: { 200: { description: "The settings.", content: json("Settings") } },
    errors: [],
    route:
      ({ snapshot }) =>
      () =>
        jsonResponse(200, settings(snapshot())),
  },
];

export const DESCRIPTION: RouteEndpoint = {
  method: "GET",
  path: "/openapi.json",
  credentials: "none",
  id: "getDescription",
  tag: "Catalogue",
  summary: "This document",
  answers: {
    200: {
      description: "An OpenAPI 3.1 document.",
      content: { "application/json": { schema: { type: "object", required: ["openapi", "info", "paths"] } } },
    },
  },
  errors: [],
  route:
    ({ openApi }) =>
    () =>
      textResponse(200, "application/json", openApi()),
};

function published({ models }: Snapshot, now: number): readonly Model[] {
  return Object.values(models).filter((model) => model.published && !isSunset(model, now));
}

function mayUse(
  model: Model,
  { tier, keyLimits }: Pick<Principal, "tier" | "keyLimits">,
  { tiers }: Snapshot,
): boolean {
  return mayCall(tierOf({ tiers }, tier), model) && keyMayCall(keyLimits, model.id);
}

/** When the model ends, where that is planned. */
function endOf({ lifecycle }: Model) {
  if (lifecycle === undefined) return {};
  const { deprecatedAt, sunsetAt, successor } = lifecycle;
  return {
    ...(deprecatedAt !== null && { deprecated_at: new Date(deprecatedAt).toISOString() }),
    ...(sunsetAt !== null && { sunset_at: new Date(sunsetAt).toISOString() }),
    ...(successor !== null && { successor }),
  };
}

function entry(model: Model, { tiers }: Pick<Snapshot, "tiers">) {
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    tier: model.tier,
    display_name: model.displayName,
    kind: model.kind,
    context_window: model.contextWindow,
    max_output: model.maxOutput,
    features: model.features,
    plans: Object.values(tiers).flatMap((tier) => (mayCall(tier, model) ? [tier.name] : [])),
  };
}

function settings({ billing, auth }: Snapshot) {
  return {
    cost_multiplier: numberOf(billing.costMultiplier),
    currency: billing.currency,
    sign_in: { providers: Object.keys(auth.oauth) },
  };
}

/** What follows `/v1/models/`, whether its slash is written as one or as %2F. */
function modelId(event: H3Event): string {
  const id = event.url.pathname.slice(MODELS_PATH.length);
  if (id === "") throw notFound();
  return decodeURIComponent(id);
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

/** Token prices are always shown, the others where the model has them. */
function pricing({ id, displayName, tier, price }: Model) {
  const others = OTHER_PRICES.flatMap(([name, unit]) => {
    const value = price[unit];
    return value === undefined ? [] : [[name, priceBody(value)]];
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

function priceBody(price: Decimal | ImagePrices): unknown {
  if (!("default" in price)) return numberOf(price);
  return Object.fromEntries(Object.entries(price).map(([variant, one]) => [variant, numberOf(one)]));
}

/** The double nearest to it, which prints as the operator wrote it for up to 15 significant digits. */
function numberOf({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`);
}

/** How the upstreams do, and which models can be served. */
function status(parts: RouteParts) {
  const { snapshot, health, canServe, now } = parts;
  const { upstreams, incidents } = snapshot();
  return {
    providers: Object.values(upstreams).map(({ name, displayName }) => {
      const { state, latencyMs } = health(name);
      return { name: displayName, status: state, latency_ms: Math.round(latencyMs) };
    }),
    models: published(snapshot(), now()).map((model) => {
      const { id, displayName, tier } = model;
      return { id, name: displayName, tier, status: modelStatus(model, canServe) };
    }),
    incidents,
    outages: outages(parts),
    last_updated: utc(now()),
  };
}

function modelStatus({ chain }: Model, canServe: RouteParts["canServe"]): "online" | "degraded" | "offline" {
  const serving = chain.findIndex(({ targets }) => targets.some(canServe));
  if (serving < 0) return "offline";
  return serving === 0 ? "online" : "degraded";
}

const OUTAGES_SINCE_MS = 24 * 60 * 60 * 1000;
const MAX_OUTAGES_COUNT = 50;

/** When upstreams were left alone, as this process has met it; the latest first. */
function outages({ snapshot, transitions, now }: RouteParts) {
  const since = now() - OUTAGES_SINCE_MS;
  const all = Object.values(snapshot().upstreams).flatMap(({ name, displayName }) => {
    const found: { readonly from: number; to: number | null }[] = [];
    for (const { at, state, model } of transitions(name)) {
      // The others of its models go on.
      if (model !== undefined) continue;
      const last = found.at(-1);
      // A trial request in between is part of the same outage.
      if (state === "open" && (last === undefined || last.to !== null)) found.push({ from: at, to: null });
      else if (state === "closed" && last?.to === null) last.to = at;
    }
    return found.map((outage) => ({ provider: displayName, ...outage }));
  });
  return all
    .filter(({ to }) => to === null || to >= since)
    .toSorted((a, b) => b.from - a.from)
    .slice(0, MAX_OUTAGES_COUNT)
    .map(({ provider, from, to }) => ({ provider, from: utc(from), to: to === null ? null : utc(to) }));
}

function utc(at: number): string {
  return new Date(at).toISOString().replace("Z", "+00:00");
}
