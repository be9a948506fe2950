import {
  type BillingSettings,
  decimal,
  type Model,
  Secret,
  type Snapshot,
  type StepSettings,
  type Target,
  type Tier,
  type Timeouts,
  type Upstream,
} from "../../src/kit/index.ts";

export interface SnapshotParts {
  readonly billing?: Partial<BillingSettings>;
  /** Milliseconds. */
  readonly heartbeat?: number;
  readonly tiers?: readonly Tier[];
  readonly upstreams?: readonly Upstream[];
  readonly models?: readonly Model[];
  readonly pipeline?: readonly (string | (Partial<StepSettings> & { readonly use: string }))[];
}

/**
 * A small whole configuration, frozen as the linker's are: tiers Free and Max, upstreams alpha and beta, `route/free`
 * (alpha, then beta) and `route/max` (alpha), the built-in pipeline. Parts given replace their section.
 */
export function testSnapshot(parts: SnapshotParts = {}): Snapshot {
  return deepFreeze({
    hash: "0".repeat(64),
    file: "/gateway.yaml",
    server: {
      listen: [{ host: "127.0.0.1", port: 0 }],
      admin: null,
      workers: 1,
      dashboard: true,
      errorFormat: "auto",
      bodyLimit: 1024 * 1024,
      bodyMemory: 512 * 1024 * 1024,
      uploadSpace: 4 * 1024 * 1024 * 1024,
      countBudget: 64 * 1024 * 1024,
      shed: null,
      trustedProxies: [],
      connections: { total: 10_000, perAddress: null },
      ipLimit: null,
      cors: { origins: ["*"] },
      heartbeat: parts.heartbeat ?? 15_000,
      drain: { delay: 0, timeout: 1_000 },
    },
    store: {
      url: new Secret("memory:"),
      nodes: [],
      prefix: "gw:",
      onFailure: "closed",
      timeout: 1_000,
      retention: 7_776_000_000,
    },
    auth: {
      tokens: { issuer: "test", audience: "test", accessTtl: 900_000, refreshTtl: 86_400_000, secrets: [] },
      signup: { tier: "Free", credits: decimal(1) },
      email: { from: "gateway@example.com", smtp: new Secret("") },
      oauth: byName([]),
    },
    billing: {
      currency: "USD",
      costMultiplier: decimal(1),
      enforce: true,
      holdOutputTokens: 1024,
      outcomes: {
        client_gone: "delivered",
        killed: "delivered",
        upstream_cut: "delivered",
        unanswered: "prompt",
        no_usage: "estimate",
      },
      ...parts.billing,
    },
    tiers: byName(parts.tiers ?? [testTier("Free", { access: ["Free"] }), testTier("Max")]),
    upstreams: byName(parts.upstreams ?? [testUpstream("alpha"), testUpstream("beta")]),
    models: byId(
      parts.models ?? [
        testModel("route/free", { chain: [step("alpha"), step("beta")] }),
        testModel("route/max", { tier: "Max" }),
      ],
    ),
    pipeline: (parts.pipeline ?? ["auth", "plan-check", "quota", "breaker", "transform", "stream-relay", "meter"]).map(
      (entry) => testStep(entry),
    ),
    incidents: [],
    telemetry: {
      accessLog: { lines: "all", users: false, addresses: false },
      serverTiming: "on_request",
      otlp: null,
      decisionLog: null,
    },
    reload: { guard: null },
  });
}

export function testTier(
  name: string,
  { access, ...limits }: Partial<Tier["limits"] & Pick<Tier, "access">> = {},
): Tier {
  return { name, access: access ?? "all", limits: { day: 1000, hour: 500, minute: 100, streams: 50, ...limits } };
}

export function testUpstream(name: string, more: Partial<Upstream> = {}): Upstream {
  return {
    name,
    displayName: name.toUpperCase(),
    dialect: "openai",
    baseUrl: "http://127.0.0.1:1",
    apiKeys: [new Secret("upstream-key")],
    headers: {},
    timeouts: TIMEOUTS,
    retries: { attempts: 1, minDelay: 1, maxDelay: 10 },
    breaker: {
      consecutive: 3,
      window: 30_000,
      ratio: 0.5,
      minimum: 20,
      openFor: 10_000,
      maxOpenFor: 300_000,
      probes: 1,
    },
    connections: 16,
    http2: false,
    probe: null,
    ...more,
  };
}

/** A chat model of tier Free on alpha: 1 USD per million input tokens, 2 output. */
export function testModel(id: string, more: Partial<Model> = {}): Model {
  return {
    id,
    kind: "chat",
    tier: "Free",
    displayName: id,
    ownedBy: "alpha",
    created: 1_768_435_200,
    published: true,
    contextWindow: 128_000,
    maxOutput: 16_384,
    features: [],
    voices: [],
    realtime: false,
    strict: false,
    price: { inputPerMillion: decimal(1), outputPerMillion: decimal(2) },
    multipliers: { requests: 1, cost: decimal(1) },
    deadline: 300_000,
    chain: [step("alpha")],
    ...more,
  };
}

/** A step of one chain place: one target, or several that share it. */
export function step(...upstreams: readonly string[]): Model["chain"][number] {
  const targets = upstreams.map((upstream) => testTarget(upstream));
  return { balance: targets.length === 1 ? "single" : "weighted", targets };
}

export function testTarget(upstream: string, more: Partial<Target> = {}): Target {
  return {
    upstream,
    model: `${upstream}-model`,
    weight: 1,
    timeouts: TIMEOUTS,
    contextWindow: null,
    features: [],
    ...more,
  };
}

const TIMEOUTS: Timeouts = { connect: 2_000, firstByte: 30_000, idle: 60_000, total: 600_000 };

function testStep(entry: string | (Partial<StepSettings> & { readonly use: string })): StepSettings {
  const base: Omit<StepSettings, "use"> = { options: {}, when: null, fail: "closed" };
  return typeof entry === "string" ? { ...base, use: entry } : { ...base, ...entry };
}

function byName<Item extends { readonly name: string }>(items: readonly Item[]): Record<string, Item> {
  return record(items.map((item) => [item.name, item]));
}

function byId<Item extends { readonly id: string }>(items: readonly Item[]): Record<string, Item> {
  return record(items.map((item) => [item.id, item]));
}

/** Without a prototype, as the linker makes them: `constructor` must not be found. */
function record<Item>(entries: readonly (readonly [string, Item])[]): Record<string, Item> {
  return Object.assign(Object.create(null) as Record<string, Item>, Object.fromEntries(entries));
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
