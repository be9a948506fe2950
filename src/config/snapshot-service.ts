import { resolve } from "node:path";
import type {
  AuthConfig,
  BillingConfig,
  GuardConfig,
  IncidentConfig,
  Limit,
  ShedConfig,
  StoreConfig,
  TierConfig,
} from "#schema";
import {
  type AuthSettings,
  type BillingSettings,
  decimal,
  type GuardSettings,
  type Incident,
  Secret,
  type ShedSettings,
  type StoreSettings,
  type Tier,
} from "../kit/index.ts";
import { bytes, GUARD, mapRecord, milliseconds, overlay, RETENTION, STORE_TIMEOUT } from "./settings.ts";

export function buildStore(
  {
    url,
    nodes = [],
    prefix = "gw:",
    on_failure: onFailure = "closed",
    timeout = STORE_TIMEOUT,
    retention = RETENTION,
  }: StoreConfig,
  folder: string,
): StoreSettings {
  const address = url ?? (nodes.length > 0 ? "" : "sqlite:./data/gateway.db");
  const file = /^sqlite:(.+)$/s.exec(address)?.[1];
  return {
    url: new Secret(file === undefined ? address : `sqlite:${resolve(folder, file)}`),
    nodes: nodes.map((node) => new Secret(node)),
    prefix,
    onFailure,
    timeout: milliseconds(timeout),
    retention: milliseconds(retention),
  };
}

export function buildAuth({ tokens, signup, email, oauth }: AuthConfig, firstTier: string): AuthSettings {
  const secrets = tokens?.secrets ?? [{ kid: "default", value: "" }];
  return {
    tokens: {
      issuer: tokens?.issuer ?? "route-gateway",
      audience: tokens?.audience ?? "route-gateway",
      accessTtl: milliseconds(tokens?.access_ttl ?? "15m"),
      refreshTtl: milliseconds(tokens?.refresh_ttl ?? "30d"),
      secrets: secrets.map(({ kid, value }) => ({ kid, value: new Secret(value) })),
    },
    signup: buildSignup(signup, firstTier),
    email: { from: email?.from ?? "gateway@localhost", smtp: new Secret(email?.smtp ?? "") },
    oauth: mapRecord(oauth ?? {}, (_, provider) => ({
      issuer: provider.issuer,
      clientId: provider.client_id,
      clientSecret: new Secret(provider.client_secret ?? ""),
      scopes: provider.scopes ?? ["openid", "email"],
    })),
  };
}

function buildSignup(signup: AuthConfig["signup"], firstTier: string): AuthSettings["signup"] {
  if (signup === "off") return { tier: firstTier, credits: decimal(0), domains: [] };
  const domains = signup?.domains?.map((domain) => domain.toLowerCase());
  return { tier: signup?.tier ?? firstTier, credits: decimal(signup?.credits ?? 0), ...(domains && { domains }) };
}

export function buildBilling(billing: BillingConfig): BillingSettings {
  const { outcomes } = billing;
  return {
    currency: billing.currency ?? "USD",
    costMultiplier: decimal(billing.cost_multiplier ?? 1),
    enforce: billing.enforce ?? true,
    holdOutputTokens: billing.hold_output_tokens ?? 1024,
    outcomes: {
      client_gone: outcomes?.client_gone ?? "delivered",
      killed: outcomes?.killed ?? "delivered",
      upstream_cut: outcomes?.upstream_cut ?? "delivered",
      unanswered: outcomes?.unanswered ?? "prompt",
      no_usage: outcomes?.no_usage ?? "estimate",
    },
  };
}

export function buildGuard(written: GuardConfig): GuardSettings {
  const guard = overlay(GUARD, written);
  return {
    share: Number.parseFloat(guard.share) / 100,
    for: milliseconds(guard.for),
    minRequests: guard.min_requests,
    maxErrorRatio: guard.max_error_ratio,
    maxTtftRatio: guard.max_ttft_ratio,
  };
}

export function buildShed({ loop_delay: loopDelay, heap }: ShedConfig): ShedSettings {
  return {
    loopDelay: loopDelay === undefined ? null : milliseconds(loopDelay),
    heap: heap === undefined ? null : typeof heap === "number" ? { share: heap } : { bytes: bytes(heap) },
  };
}

export function buildTier(name: string, { access, limits, class: ofShedding }: TierConfig): Tier {
  const { day, hour, minute, streams } = limits;
  return {
    name,
    access,
    limits: { day: limit(day), hour: limit(hour), minute: limit(minute), streams: limit(streams) },
    ...(ofShedding !== undefined && { class: ofShedding }),
  };
}

function limit(value: Limit): number | null {
  return value === "none" ? null : value;
}

export function buildIncident(incident: IncidentConfig): Incident {
  return { ...incident, resolved_at: incident.resolved_at ?? null };
}
