import type { GatewayConfig, ModelConfig, TierConfig } from "#schema";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import type { Limits, Store } from "../../src/kit/index.ts";
import { openRedis } from "../../src/store/redis/open.ts";
import { Workspace } from "../e2e/support/process.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { type SlowProxy, startSlowProxy } from "../support/slow-proxy.ts";
import type { Setup } from "./evidence.ts";
import { PLACES, UPSTREAM_KEYS } from "./upstream.ts";

export const ADMIN_TOKEN = "planted-admin-token-51d2";
const REDIS_USER = "gateway";
const REDIS_PASSWORD = "planted-redis-password-c04e";
const PREFIX = "chaos:";
/** Milliseconds that this process waits for the store: it is busy, and nobody waits for it. */
const PATIENCE = 30_000;

/** Tenths of a nano-unit a token. */
export const PRICES = {
  "route/one": { input: 1_373n, cached: 291n, output: 19_137n },
  "route/two": { input: 4_119n, cached: 4_119n, output: 9_773n },
} as const;

export interface SiteOptions {
  readonly tiers: Readonly<Record<string, Limits>>;
  readonly upstream: string;
  /** A duration: how long the upstream may say nothing. */
  readonly silence: string;
  /** One process each, closed, and a store that is not slowed, unless given. */
  readonly setup?: Setup;
}

export interface SiteUser {
  readonly id: string;
  /** Secrets; a revoked one stays in its place. */
  readonly keys: { readonly id: string; readonly secret: string }[];
}

/** A folder, a Redis that keeps everything, and what several gateways on it share. */
export class Site extends Workspace {
  readonly redis: RedisServer;
  readonly #options: SiteOptions;
  /** Between the gateways and the server when that is to be slow. */
  readonly #slow: SlowProxy | null;
  #added = 0;

  private constructor(redis: RedisServer, slow: SlowProxy | null, options: SiteOptions) {
    super();
    this.redis = redis;
    this.#slow = slow;
    this.#options = options;
  }

  /** @param fsync when an acknowledged write is on the disk: of `appendfsync`. */
  static async open(options: SiteOptions, fsync: "always" | "everysec" = "always"): Promise<Site> {
    const kept = ["--appendonly", "yes", "--appendfsync", fsync, "--aof-use-rdb-preamble", "no"];
    const guarded = ["--user", REDIS_USER, "on", `>${REDIS_PASSWORD}`, "allkeys", "allchannels", "allcommands"];
    const redis = await startRedis([...kept, ...guarded]);
    const delay = options.setup?.slowStore ?? 0;
    return new Site(redis, delay > 0 ? await startSlowProxy(redis.port, delay) : null, options);
  }

  /** What must never be shown. */
  get secrets(): ReadonlyMap<string, string> {
    return new Map([
      ["admin token", ADMIN_TOKEN],
      ["redis password", REDIS_PASSWORD],
      ...PLACES.map((place) => [`key of upstream ${place}`, UPSTREAM_KEYS[place]] as const),
    ]);
  }

  /** @param multiplier of all prices, in hundredths. */
  configuration(multiplier: number): GatewayConfig {
    const local = { host: "127.0.0.1", port: 0 };
    const { tiers, upstream, silence, setup } = this.#options;
    return {
      version: 1,
      server: {
        listen: [local],
        admin: { ...local, token: ADMIN_TOKEN },
        ip_limit: "none",
        drain: { delay: "0s", timeout: "5s" },
        ...(setup && setup.workers > 0 && { workers: setup.workers }),
      },
      store: {
        url: this.#address(this.#slow?.port ?? this.redis.port),
        prefix: PREFIX,
        ...(setup?.onFailure === "open" && { on_failure: "open" as const }),
      },
      auth: { tokens: { secrets: [{ kid: "a", value: "planted-token-secret-of-the-gateways-9b77" }] } },
      billing: { cost_multiplier: multiplier / 100 },
      tiers: Object.fromEntries(Object.entries(tiers).map(([name, limits]) => [name, tierConfig(limits)])),
      defaults: {
        upstream: {
          // A whole answer may be silent until `total`: the wait for an end is a minute, for all of a chain.
          timeouts: { connect: silence, first_byte: silence, idle: silence, total: "10s" },
          // One in ten requests fails on purpose: that must not keep the others out.
          breaker: { consecutive: 100_000, minimum: 1_000_000 },
        },
      },
      upstreams: Object.fromEntries(
        PLACES.map((place) => [
          place,
          { dialect: "openai", base_url: `${upstream}/${place}/v1`, api_keys: [UPSTREAM_KEYS[place]] },
        ]),
      ),
      models: { "route/one": modelConfig("route/one", PLACES), "route/two": modelConfig("route/two", [PLACES[0]]) },
      pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
    };
  }

  override async onStore<T>(work: (store: Store) => T | Promise<T>): Promise<T> {
    const store = await openRedis({
      url: this.#address(this.redis.port),
      nodes: [],
      prefix: PREFIX,
      timeout: PATIENCE,
    });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** Users with a key each. */
  addUsers(plans: readonly { readonly tier: string; readonly credits: bigint }[]): Promise<SiteUser[]> {
    return this.onStore((store) =>
      Promise.all(
        plans.map(async ({ tier, credits }) => {
          const { id } = await createUser(store, { email: `user${++this.#added}@example.com`, tier, credits });
          const { body } = await createKey(store, { userId: id, name: "first" });
          return { id, keys: [{ id: body.id, secret: body.key }] };
        }),
      ),
    );
  }

  override async close(): Promise<void> {
    await super.close();
    this.#slow?.close();
    await this.redis.stop();
  }

  #address(port: number): string {
    const url = new URL(`redis://127.0.0.1:${port}`);
    url.username = REDIS_USER;
    url.password = REDIS_PASSWORD;
    return url.href;
  }
}

function modelConfig(id: keyof typeof PRICES, places: readonly (typeof PLACES)[number][]): ModelConfig {
  const { input, cached, output } = PRICES[id];
  return {
    kind: "chat",
    tier: "Open",
    owned_by: "chaos",
    price: {
      input_per_million: Number(input) / 10_000,
      cached_input_per_million: Number(cached) / 10_000,
      output_per_million: Number(output) / 10_000,
    },
    deadline: "5m",
    chain: places.map((place) => ({ upstream: place, model: "upstream-model" })),
  };
}

function tierConfig({ day, hour, minute, streams }: Limits): TierConfig {
  const limits = { day: day ?? "none", hour: hour ?? "none", minute: minute ?? "none", streams: streams ?? "none" };
  return { access: "all", limits } as TierConfig;
}
