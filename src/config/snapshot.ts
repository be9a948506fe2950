import { resolve } from "node:path";
import type {
  AuthConfig,
  BillingConfig,
  GatewayConfig,
  IncidentConfig,
  Limit,
  ServerConfig,
  StoreConfig,
  TierConfig,
} from "#schema";
import type {
  AuthSettings,
  BillingSettings,
  Incident,
  ServerSettings,
  Snapshot,
  StepSettings,
  StoreSettings,
  Tier,
} from "../kit/index.ts";
import { decimal, Secret } from "../kit/index.ts";
import { mapRecord } from "./names.ts";
import { SERVER_CONNECTIONS, BODY_LIMIT, BODY_MEMORY, RETENTION, STORE_TIMEOUT, UPLOAD_SPACE } from "./settings.ts";
import { buildModel } from "./snapshot-models.ts";
import { buildUpstream } from "./snapshot-upstreams.ts";
import type { LoadedStep } from "./steps.ts";
import { bytes, milliseconds } from "./units.ts";

export interface SnapshotSources {
  /** Absolute path of the main file, and its folder. */
  readonly file: string;
  readonly folder: string;
  readonly hash: string;
}

/** The frozen snapshot of a configuration without errors. */
export function buildSnapshot(
  config: GatewayConfig,
  steps: readonly StepSettings[],
  sources: SnapshotSources,
): Snapshot {
  const { defaults } = config;
  return deepFreeze({
    hash: sources.hash,
    file: sources.file,
    server: buildServer(config.server ?? {}),
    store: buildStore(config.store ?? {}, sources.folder),
    auth: buildAuth(config.auth ?? {}, Object.keys(config.tiers)[0] ?? ""),
    billing: buildBilling(config.billing ?? {}),
    tiers: mapRecord(config.tiers, buildTier),
    upstreams: mapRecord(config.upstreams, (name, upstream) => buildUpstream(name, upstream, defaults?.upstream ?? {})),
    models: mapRecord(config.models, (id, model) => buildModel(id, model, config)),
    pipeline: steps,
    incidents: (config.status?.incidents ?? []).map(buildIncident),
  });
}

export function buildStep({ use, options, when, fail }: LoadedStep): StepSettings {
  return deepFreeze({ use, options, when: when as StepSettings["when"], fail });
}

function buildServer(server: ServerConfig): ServerSettings {
  const { admin, ip_limit: ipLimit = { requests: 600, window: "1m" }, drain } = server;
  return {
    listen: server.listen ?? [{ host: "127.0.0.1", port: 8080 }],
    admin: admin ? { host: admin.host, port: admin.port, token: new Secret(admin.token ?? "") } : null,
    workers: server.workers ?? 1,
    bodyLimit: bytes(server.body_limit ?? BODY_LIMIT),
    bodyMemory: bytes(server.body_memory ?? BODY_MEMORY),
    uploadSpace: bytes(server.upload_space ?? UPLOAD_SPACE),
    trustedProxies: server.trusted_proxies ?? [],
    connections: {
      total: server.connections?.total ?? SERVER_CONNECTIONS,
      perAddress: boundOf(server.connections?.per_address),
    },
    ipLimit: ipLimit === "none" ? null : { requests: ipLimit.requests, window: milliseconds(ipLimit.window) },
    cors: { origins: server.cors?.origins ?? [] },
    heartbeat: milliseconds(server.heartbeat ?? "15s"),
    drain: { delay: milliseconds(drain?.delay ?? "0s"), timeout: milliseconds(drain?.timeout ?? "25s") },
  };
}

function boundOf(bound: number | "none" | undefined): number | null {
  return bound === undefined || bound === "none" ? null : bound;
}

function buildStore(
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

function buildAuth({ tokens, signup, email, oauth }: AuthConfig, firstTier: string): AuthSettings {
  const secrets = tokens?.secrets ?? [{ kid: "default", value: "" }];
  return {
    tokens: {
      issuer: tokens?.issuer ?? "route-gateway",
      audience: tokens?.audience ?? "route-gateway",
      accessTtl: milliseconds(tokens?.access_ttl ?? "15m"),
      refreshTtl: milliseconds(tokens?.refresh_ttl ?? "30d"),
      secrets: secrets.map(({ kid, value }) => ({ kid, value: new Secret(value) })),
    },
    signup: { tier: signup?.tier ?? firstTier, credits: decimal(signup?.credits ?? 0) },
    email: { from: email?.from ?? "gateway@localhost", smtp: new Secret(email?.smtp ?? "") },
    oauth: mapRecord(oauth ?? {}, (_, provider) => ({
      issuer: provider.issuer,
      clientId: provider.client_id,
      clientSecret: new Secret(provider.client_secret ?? ""),
      scopes: provider.scopes ?? ["openid", "email"],
    })),
  };
}

function buildBilling(billing: BillingConfig): BillingSettings {
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
      no_usage: outcomes?.no_usage ?? "estimate",
    },
  };
}

function buildTier(name: string, { access, limits }: TierConfig): Tier {
  const { day, hour, minute, streams } = limits;
  return {
    name,
    access,
    limits: { day: limit(day), hour: limit(hour), minute: limit(minute), streams: limit(streams) },
  };
}

function limit(value: Limit): number | null {
  return value === "none" ? null : value;
}

function buildIncident(incident: IncidentConfig): Incident {
  return { ...incident, resolved_at: incident.resolved_at ?? null };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
