import { resolve } from "node:path";
import type {
  AddressConfig,
  AdminConfig,
  ChainStep as ChainStepConfig,
  ConcurrencyConfig,
  ImagePriceConfig,
  ModelConfig,
  PriceConfig,
  ServerConfig,
  TargetConfig,
  TimeoutsConfig,
  UpstreamConfig,
  UpstreamDefaultsConfig,
  UpstreamTlsConfig,
} from "#schema";
import {
  type AdminToken,
  type ChainStep,
  type ConcurrencySettings,
  decimal,
  type Decimal,
  deepFreeze,
  type DialectName,
  type ImagePrices,
  type Kind,
  type ListenerAddress,
  type Model,
  type Price,
  type Publishing,
  Secret,
  type ServerSettings,
  type Snapshot,
  type Steps,
  type StepSettings,
  type Target,
  type Timeouts,
  type Upstream,
  type UpstreamTls,
} from "../kit/index.ts";
import type { WholeConfig, WholeModel } from "./defaults.ts";
import { listedPrice } from "./link/publishing.ts";
import {
  BODY_LIMIT,
  BODY_MEMORY,
  breakerSettings,
  bytes,
  COUNT_BUDGET,
  DEADLINE,
  inCamelCase,
  lifecycleOf,
  mapInSteps,
  mapRecord,
  milliseconds,
  OPEN_TIER,
  overlay,
  PROBE_TIMEOUT,
  QUEUE,
  requestUnits,
  RETRIES,
  SERVER_CONNECTIONS,
  TIMEOUTS,
  UPLOAD_SPACE,
  telemetrySettings,
} from "./settings.ts";
import {
  buildAuth,
  buildBilling,
  buildGuard,
  buildIncident,
  buildShed,
  buildStore,
  buildTier,
} from "./snapshot-service.ts";
import type { LoadedStep } from "./steps.ts";

/** Of a hook of a local plugin. The built-in ones wait for nothing but a store, which has a time of its own. */
const LOCAL_HOOK_TIMEOUT = "5s";

interface SnapshotSources {
  /** Absolute path of the main file, and its folder. */
  readonly file: string;
  readonly folder: string;
  readonly hash: string;
  /** Texts of the TLS files of upstreams, by absolute path. */
  readonly pem: ReadonlyMap<string, string>;
  /** What upstreams of a dialect serve. */
  readonly served: (dialect: DialectName) => readonly Kind[];
}

/** The frozen snapshot of a configuration without errors. */
export function* buildSnapshot(
  config: WholeConfig,
  steps: readonly StepSettings[],
  sources: SnapshotSources,
): Steps<Snapshot> {
  const { defaults } = config;
  // Each frozen on its own: all at once would take a turn of the event loop that is too long.
  const models = yield* mapInSteps(config.models, (id, model) => deepFreeze(buildModel(id, model, config)));
  return deepFreeze({
    hash: sources.hash,
    file: sources.file,
    server: buildServer(config.server ?? {}, sources.folder),
    store: buildStore(config.store ?? {}, sources.folder),
    auth: buildAuth(config.auth ?? {}, Object.keys(config.tiers)[0] ?? ""),
    billing: buildBilling(config.billing ?? {}),
    tiers: mapRecord(config.tiers, buildTier),
    upstreams: mapRecord(config.upstreams, (name, upstream) => ({
      ...buildUpstream(name, upstream, defaults?.upstream ?? {}, sources),
      ...(upstream.models && { publishes: buildPublishing(upstream, config, sources.served(upstream.dialect)) }),
    })),
    models,
    pipeline: steps,
    incidents: (config.status?.incidents ?? []).map(buildIncident),
    telemetry: telemetrySettings(config.telemetry ?? {}, sources.folder),
    reload: {
      guard: config.reload?.guard ? buildGuard(config.reload.guard) : null,
      ...(config.secrets?.refresh !== undefined && { refreshSecrets: milliseconds(config.secrets.refresh) }),
    },
  });
}

export function buildStep({ use, options, when, fail, local, timeout: written }: LoadedStep): StepSettings {
  const timeout = written ?? (local ? LOCAL_HOOK_TIMEOUT : null);
  return deepFreeze({
    use,
    options,
    when: when as StepSettings["when"],
    fail,
    ...(timeout !== null && { timeout: milliseconds(timeout) }),
  });
}

function buildServer(server: ServerConfig, folder: string): ServerSettings {
  const { admin, ip_limit: ipLimit = { requests: 600, window: "1m" }, drain } = server;
  return {
    listen: (server.listen ?? [{ host: "127.0.0.1", port: 8080 }]).map((address) => listenerAddress(address, folder)),
    admin: admin ? { ...listenerAddress(admin, folder), tokens: adminTokens(admin) } : null,
    ...(server.public_url !== undefined && { publicUrl: new URL(server.public_url).origin }),
    workers: server.workers ?? 1,
    dashboard: server.dashboard ?? true,
    errorFormat: server.error_format ?? "auto",
    bodyLimit: bytes(server.body_limit ?? BODY_LIMIT),
    bodyMemory: bytes(server.body_memory ?? BODY_MEMORY),
    uploadSpace: bytes(server.upload_space ?? UPLOAD_SPACE),
    countBudget: bytes(server.count_budget ?? COUNT_BUDGET),
    shed: server.shed === undefined ? null : buildShed(server.shed),
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

function listenerAddress({ host, port, tls }: AddressConfig, folder: string): ListenerAddress {
  if (tls === undefined) return { host, port };
  const { cert, key, client_ca: clientCa } = tls;
  const files = { cert: resolve(folder, cert), key: resolve(folder, key) };
  return { host, port, tls: { ...files, ...(clientCa !== undefined && { clientCa: resolve(folder, clientCa) }) } };
}

function adminTokens({ token = "", tokens = [] }: AdminConfig): readonly AdminToken[] {
  const all = [{ name: "admin", token, role: "operator" as const }, ...tokens];
  return all.map((one) => ({ ...one, token: new Secret(one.token) }));
}

function boundOf(bound: number | "none" | undefined): number | null {
  return bound === undefined || bound === "none" ? null : bound;
}

/** What the models of a provider's list have in common that this upstream publishes. */
function buildPublishing(upstream: UpstreamConfig, config: WholeConfig, served: readonly Kind[]): Publishing {
  const { include = [], exclude = [], tier = OPEN_TIER } = upstream.models ?? {};
  const timeouts = buildTimeouts(config.defaults?.upstream?.timeouts, upstream.timeouts);
  const kinds = served.flatMap((kind) => {
    const price = listedPrice(kind, upstream);
    if (price === null) return [];
    return [[kind, { tier, price: buildPrice(price), timeouts, ...costsOf(kind, {}, config) }] as const];
  });
  return { include, exclude, served, kinds: Object.fromEntries(kinds) };
}

/** What a request for a model counts as and costs, and how long it may take. */
function costsOf(
  kind: Kind,
  model: Pick<ModelConfig, "multipliers" | "deadline">,
  { defaults }: WholeConfig,
): Pick<Model, "multipliers" | "deadline"> {
  const kindDefaults = defaults?.kinds?.[kind];
  return {
    multipliers: {
      requests: requestUnits(kind, model, kindDefaults),
      cost: decimal(model.multipliers?.cost ?? kindDefaults?.multipliers?.cost ?? 1),
    },
    deadline: milliseconds(model.deadline ?? kindDefaults?.deadline ?? DEADLINE),
  };
}

function buildModel(id: string, model: WholeModel, config: WholeConfig): Model {
  return {
    id,
    kind: model.kind,
    tier: model.tier,
    displayName: model.display_name ?? id.slice("route/".length),
    ownedBy: model.owned_by,
    created: model.created === undefined ? 0 : Date.parse(`${model.created}T00:00:00Z`) / 1000,
    published: model.published ?? true,
    contextWindow: model.context_window ?? null,
    maxOutput: model.max_output ?? null,
    features: model.features ?? [],
    voices: model.voices ?? [],
    realtime: model.realtime ?? false,
    strict: model.strict ?? false,
    price: buildPrice(model.price ?? {}),
    ...costsOf(model.kind, model, config),
    chain: model.chain.map((step) => buildChainStep(step, model, config)),
    ...lifecycleOf(model),
  };
}

function buildChainStep(step: ChainStepConfig, model: ModelConfig, config: WholeConfig): ChainStep {
  if (!("targets" in step)) return { balance: "single", targets: [buildTarget(step, model, config)] };
  const { balance, targets, fail_over_on: ofStep } = step;
  return {
    balance,
    targets: targets.map((target) => buildTarget(target, model, config, target.fail_over_on ?? ofStep)),
  };
}

function buildTarget(
  target: TargetConfig,
  model: ModelConfig,
  { defaults, upstreams }: WholeConfig,
  failOverOn = target.fail_over_on ?? model.fail_over_on,
): Target {
  return {
    upstream: target.upstream,
    model: target.model,
    weight: target.weight ?? 1,
    timeouts: buildTimeouts(defaults?.upstream?.timeouts, upstreams[target.upstream]?.timeouts, target.timeouts),
    contextWindow: target.context_window ?? model.context_window ?? null,
    features: target.features ?? model.features ?? [],
    ...(model.max_output !== undefined && { maxOutput: model.max_output }),
    ...(failOverOn && failOverOn.length > 0 && { failOverOn }),
    ...(target.parameters && { parameters: { set: {}, remove: [], rename: {}, ...target.parameters } }),
  };
}

/** Units that are not priced stay absent: a price of 0 is a price. */
function buildPrice(price: PriceConfig): Price {
  const amounts = Object.entries(price).filter(([key]) => key !== "verified_at");
  const entries = amounts.map(([unit, amount]) => [unit, amountOf(amount as number | ImagePriceConfig)]);
  return inCamelCase(
    Object.fromEntries(entries) as { readonly [Unit in keyof Omit<PriceConfig, "verified_at">]: Decimal },
  );
}

function amountOf(amount: number | ImagePriceConfig): Decimal | ImagePrices {
  return typeof amount === "number" ? decimal(amount) : (mapRecord(amount, (_, one) => decimal(one)) as ImagePrices);
}

function buildUpstream(
  name: string,
  upstream: UpstreamConfig,
  defaults: UpstreamDefaultsConfig,
  sources: SnapshotSources,
): Upstream {
  const retries = overlay(RETRIES, defaults.retries, upstream.retries);
  const probe = upstream.probe ?? defaults.probe ?? "none";
  return {
    name,
    displayName: upstream.display_name ?? name,
    dialect: upstream.dialect,
    baseUrl: upstream.base_url.startsWith("sim:") ? upstream.base_url : upstream.base_url.replace(/\/+$/, ""),
    apiKeys: (upstream.api_keys ?? []).map((key) => new Secret(key)),
    headers: Object.assign(Object.create(null) as Record<string, string>, upstream.headers),
    timeouts: buildTimeouts(defaults.timeouts, upstream.timeouts),
    retries: {
      attempts: retries.attempts,
      minDelay: milliseconds(retries.min_delay),
      maxDelay: milliseconds(retries.max_delay),
    },
    breaker: breakerSettings(defaults.breaker, upstream.breaker),
    connections: boundOf(upstream.connections ?? defaults.connections),
    ...(upstream.concurrency && { concurrency: buildConcurrency(upstream.concurrency) }),
    http2: upstream.http2 ?? defaults.http2 ?? false,
    probe:
      probe === "none"
        ? null
        : { every: milliseconds(probe.every), timeout: milliseconds(probe.timeout ?? PROBE_TIMEOUT) },
    ...upstreamTls({ ...defaults.tls, ...upstream.tls }, sources),
    ...(upstream.proxy !== undefined && { proxy: upstream.proxy === "none" ? null : new Secret(upstream.proxy) }),
    ...(upstream.vendor && { vendor: upstream.vendor }),
    ...(upstream.accepts && { accepts: inCamelCase(upstream.accepts) }),
    ...(upstream.api && { api: upstream.api }),
    ...(upstream.forward_headers && { forwardHeaders: upstream.forward_headers.map((name) => name.toLowerCase()) }),
  };
}

function upstreamTls(written: UpstreamTlsConfig, { folder, pem }: SnapshotSources): { readonly tls?: UpstreamTls } {
  const files = Object.entries(written).map(([key, path]) => {
    const file = String(path);
    return [key, { file, text: new Secret(pem.get(resolve(folder, file)) ?? "") }] as const;
  });
  return files.length === 0 ? {} : { tls: Object.fromEntries(files) };
}

function buildConcurrency(written: ConcurrencyConfig): ConcurrencySettings {
  const { queue, max_wait: maxWait } = overlay(QUEUE, written);
  return { requests: written.requests, queue, maxWait: milliseconds(maxWait) };
}

/** Of an upstream, or of one step: the later layers win. */
function buildTimeouts(...layers: readonly (TimeoutsConfig | undefined)[]): Timeouts {
  const timeouts = overlay(TIMEOUTS, ...layers);
  return {
    connect: milliseconds(timeouts.connect),
    firstByte: milliseconds(timeouts.first_byte),
    idle: milliseconds(timeouts.idle),
    total: milliseconds(timeouts.total),
  };
}
