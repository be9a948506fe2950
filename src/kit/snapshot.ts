import type { Lifecycle } from "./lifecycle.ts";
import type { Decimal, Price } from "./money.ts";
import type { Secret } from "./secret.ts";
import type { ShedSettings } from "./shedding.ts";
import type { Accepts, ApiChoice, Parameters, Vendor } from "./vendor.ts";

/** The compiled configuration: frozen plain data. Records keyed by operators' names have no prototype. */
export interface Snapshot {
  /** SHA-256 (hex) over the text of every file read: configuration, includes, local plugins, `${file:}` contents. */
  readonly hash: string;
  /** Absolute path of the main file. */
  readonly file: string;
  readonly server: ServerSettings;
  readonly store: StoreSettings;
  readonly auth: AuthSettings;
  readonly billing: BillingSettings;
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly models: Readonly<Record<string, Model>>;
  readonly pipeline: readonly StepSettings[];
  readonly incidents: readonly Incident[];
  readonly telemetry: TelemetrySettings;
  readonly reload: ReloadSettings;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** Once bound: it speaks TLS. */
  readonly secure?: true;
}

/** Absolute paths of the PEM files of a listener. Their contents are no part of the configuration: they change while it serves. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates. Without them, no client certificate is requested. */
  readonly clientCa?: string;
}

/** An address as configured. */
export interface ListenerAddress extends Address {
  /** Left out: plain HTTP. */
  readonly tls?: ListenerTls;
}

/** The PEM file of an upstream's setting: its path as configured and its text, empty where it was not read. */
export interface PemFile {
  readonly file: string;
  readonly text: Secret;
}

export interface UpstreamTls {
  /** Authorities to trust beside the usual ones. */
  readonly ca?: PemFile;
  /** The client certificate, with `key`. */
  readonly cert?: PemFile;
  readonly key?: PemFile;
}

/** Who may use the admin API; an empty token is nobody's. */
export interface AdminToken {
  readonly name: string;
  readonly token: Secret;
  /** A viewer changes nothing. */
  readonly role: "viewer" | "operator";
}

/** Durations are milliseconds and sizes bytes, everywhere in the snapshot. */
export interface ServerSettings {
  readonly listen: readonly ListenerAddress[];
  /** `null`: no admin listener. */
  readonly admin: (ListenerAddress & { readonly tokens: readonly AdminToken[] }) | null;
  /** Scheme, host and port under which users reach the gateway; absent: as the Host header says. */
  readonly publicUrl?: string;
  readonly workers: number;
  /** Whether browsers are shown the dashboard and the status page. */
  readonly dashboard: boolean;
  /** `auto`: errors are JSON for clients that ask for it; `text`: they have the specification's form for everybody. */
  readonly errorFormat: "auto" | "text";
  readonly bodyLimit: number;
  /** Bytes of bodies that requests in flight may hold in memory, all together. */
  readonly bodyMemory: number;
  /** Bytes of uploads that requests in flight may hold on disk, all together. */
  readonly uploadSpace: number;
  /** Bytes of `count_tokens` bodies, a minute and user. */
  readonly countBudget: number;
  /** `null`: requests are never shed. */
  readonly shed: ShedSettings | null;
  readonly trustedProxies: readonly string[];
  /** Open connections of one process: in all, and of one client address; null: no bound of its own. */
  readonly connections: { readonly total: number; readonly perAddress: number | null };
  readonly ipLimit: { readonly requests: number; readonly window: number } | null;
  readonly cors: { readonly origins: readonly string[] };
  readonly heartbeat: number;
  readonly drain: { readonly delay: number; readonly timeout: number };
}

export interface ReloadSettings {
  /** Of the change that replaces this configuration; null: it takes over at once. */
  readonly guard: GuardSettings | null;
  /** Milliseconds after which the commands of `${exec:}` run again. Without it, they run at a start and a reload only. */
  readonly refreshSecrets?: number;
}

export interface GuardSettings {
  /** Part of the users, between 0 and 1. */
  readonly share: number;
  readonly for: number;
  readonly minRequests: number;
  readonly maxErrorRatio: number;
  readonly maxTtftRatio: number;
}

export interface StoreSettings {
  /** `sqlite:<absolute path>`, `memory:`, `redis://…`, `rediss://…`. May hold a password: never logged. */
  readonly url: Secret;
  readonly nodes: readonly Secret[];
  readonly prefix: string;
  readonly onFailure: "closed" | "open";
  /** For one question to a Redis. */
  readonly timeout: number;
  /** For which entries of the ledger are kept. */
  readonly retention: number;
}

export interface AuthSettings {
  readonly tokens: {
    readonly issuer: string;
    readonly audience: string;
    readonly accessTtl: number;
    readonly refreshTtl: number;
    /** The first signs, all verify. An empty value means: made once and kept beside the store. */
    readonly secrets: readonly { readonly kid: string; readonly value: Secret }[];
  };
  readonly signup: {
    readonly tier: string;
    readonly credits: Decimal;
    /** Domains, in lower case, of the addresses that may sign up; absent: any. */
    readonly domains?: readonly string[];
  };
  readonly email: { readonly from: string; readonly smtp: Secret };
  readonly oauth: Readonly<Record<string, OAuthProvider>>;
}

export interface OAuthProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scopes: readonly string[];
}

export type OutcomePolicy = "delivered" | "free" | "estimate";

export interface BillingSettings {
  readonly currency: string;
  readonly costMultiplier: Decimal;
  readonly enforce: boolean;
  readonly holdOutputTokens: number;
  readonly outcomes: {
    readonly client_gone: OutcomePolicy;
    readonly killed: OutcomePolicy;
    readonly upstream_cut: OutcomePolicy;
    /** Given up by its client before the first byte of an upstream that had been sent it. */
    readonly unanswered: "free" | "prompt";
    readonly no_usage: OutcomePolicy;
  };
}

export interface Limits {
  readonly day: number | null;
  readonly hour: number | null;
  readonly minute: number | null;
  readonly streams: number | null;
}

export interface Tier {
  readonly name: string;
  /** Model tiers this plan may call. */
  readonly access: readonly string[] | "all";
  readonly limits: Limits;
  /** Plans of a lower class are shed first; absent: its place among the plans. */
  readonly class?: number;
}

/** A plan by its name; one that the configuration no longer has may call nothing. */
export function tierOf({ tiers }: Pick<Snapshot, "tiers">, name: string): Tier {
  return tiers[name] ?? { name, access: [], limits: { day: 0, hour: 0, minute: 0, streams: 0 } };
}

/** The plan that nobody has to name: the only one, if it may call every model; else null. */
export function onlyTier({ tiers }: Pick<Snapshot, "tiers">): string | null {
  const [first, ...others] = Object.values(tiers);
  return first?.access === "all" && others.length === 0 ? first.name : null;
}

export function mayCall({ access }: Tier, model: Pick<Model, "tier">): boolean {
  return access === "all" || access.includes(model.tier);
}

export interface Timeouts {
  readonly connect: number;
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

export interface RetrySettings {
  /** Tries within one upstream: 1 means no retry. */
  readonly attempts: number;
  readonly minDelay: number;
  readonly maxDelay: number;
}

/** One breaker for the upstream, or one for each of its models. */
export type BreakerScope = "upstream" | "target";

export interface BreakerSettings {
  /** Left out: upstream. */
  readonly scope?: BreakerScope;
  readonly consecutive: number;
  readonly window: number;
  readonly ratio: number;
  readonly minimum: number;
  readonly openFor: number;
  readonly maxOpenFor: number;
  readonly probes: number;
}

/** What one process sends to an upstream at a time. */
export interface ConcurrencySettings {
  /** In flight at most. */
  readonly requests: number;
  /** Waiting beyond them at most. */
  readonly queue: number;
  /** Milliseconds that a request may wait. */
  readonly maxWait: number;
}

export type DialectName =
  | "openai"
  | "anthropic"
  | "gemini"
  | "azure"
  | "bedrock"
  | "cohere"
  | "jina"
  | "voyage"
  | "elevenlabs"
  | "deepgram";

export interface Upstream {
  readonly name: string;
  readonly displayName: string;
  readonly dialect: DialectName;
  /** As configured, without a trailing slash; starts with `sim:` for the simulator. */
  readonly baseUrl: string;
  readonly apiKeys: readonly Secret[];
  readonly headers: Readonly<Record<string, string>>;
  /** Names of client headers that are sent on, in lower case; empty by default. */
  readonly forwardHeaders?: readonly string[];
  readonly timeouts: Timeouts;
  readonly retries: RetrySettings;
  readonly breaker: BreakerSettings;
  /** Of one process; null: as many as there are requests. */
  readonly connections: number | null;
  /** Left out: `connections` alone bounds what is in flight, and nothing waits. */
  readonly concurrency?: ConcurrencySettings;
  readonly http2: boolean;
  /** Left out: the usual authorities, and no client certificate. */
  readonly tls?: UpstreamTls;
  /** URL of a proxy, which may contain a password. Null: no proxy. Absent: the variables of the process decide. */
  readonly proxy?: Secret | null;
  readonly probe: { readonly every: number; readonly timeout: number } | null;
  /** Left out: by the host of the address. */
  readonly vendor?: Vendor;
  /** Left out: as the table of vendors says. */
  readonly accepts?: Accepts;
  /** Left out: `auto`. */
  readonly api?: ApiChoice;
  /** Which models of the provider's list are published. Absent: no models. */
  readonly publishes?: Publishing;
}

/** How models that a provider lists are published. */
export interface Publishing {
  /** Globs (`*`) over the provider's names. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** What all of a kind have in common; a kind that is left out has no price here, or this dialect does not serve it. */
  readonly kinds: Readonly<Partial<Record<Kind, ListedKind>>>;
  /** Kinds that the dialect serves, whether or not they have a price. */
  readonly served: readonly Kind[];
}

export type ListedKind = Pick<Model, "tier" | "price" | "multipliers" | "deadline"> & Pick<Target, "timeouts">;

export type Kind = "chat" | "embedding" | "rerank" | "speech" | "transcription" | "image";

export interface Model {
  /** The public identifier, `route/…`. */
  readonly id: string;
  readonly kind: Kind;
  readonly tier: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix seconds. */
  readonly created: number;
  readonly published: boolean;
  readonly contextWindow: number | null;
  readonly maxOutput: number | null;
  readonly features: readonly string[];
  readonly voices: readonly string[];
  readonly realtime: boolean;
  readonly strict: boolean;
  readonly price: Price;
  readonly multipliers: { readonly requests: number; readonly cost: Decimal };
  /** Milliseconds for the whole chain. */
  readonly deadline: number;
  readonly chain: readonly ChainStep[];
  /** Left out: no end is planned. */
  readonly lifecycle?: Lifecycle;
  /** The upstream whose provider lists the model. Absent if the configuration defines it. */
  readonly listedBy?: string;
}

/** One place in a chain: a single target, or several that share the place. */
export interface ChainStep {
  readonly balance: "single" | "weighted" | "latency" | "sticky";
  readonly targets: readonly Target[];
}

export interface Target {
  /** Key into `Snapshot.upstreams`. */
  readonly upstream: string;
  /** The upstream's own name for the model. */
  readonly model: string;
  readonly weight: number;
  readonly timeouts: Timeouts;
  readonly contextWindow: number | null;
  /** Tokens of an answer at most, as the model is configured; left out: nobody says. */
  readonly maxOutput?: number;
  readonly features: readonly string[];
  /** Left out: nothing. */
  readonly failOverOn?: readonly FailOverCause[];
  /** Left out: the body is sent as it was translated. */
  readonly parameters?: Parameters;
}

/** Refusals after which the next target is asked, which are the client's 400 otherwise. */
export type FailOverCause = "content_filter";

export interface StepCondition {
  /** Globs (`*`) over model ids. */
  readonly models?: readonly string[];
  readonly tiers?: readonly string[];
}

export interface StepSettings {
  /** The plugin's name, or the path as written for a local one. */
  readonly use: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly when: StepCondition | null;
  readonly fail: "closed" | "open";
  /** Milliseconds that one call of a hook may take; left out: without a limit. */
  readonly timeout?: number;
}

export interface Incident {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: "warning" | "error";
  readonly status: "ongoing" | "resolved";
  readonly created_at: string;
  readonly resolved_at: string | null;
}

export interface TelemetrySettings {
  readonly accessLog: {
    readonly lines: "all" | "failures" | "none";
    readonly users: boolean;
    /** Whether lines have the client's address. */
    readonly addresses: boolean;
  };
  readonly serverTiming: "on_request" | "always" | "never";
  readonly otlp: OtlpSettings | null;
  readonly decisionLog: DecisionLogSettings | null;
}

export interface OtlpSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Of the traces that begin here, 0 to 1. */
  readonly sample: number;
  /** Between two sendings of the metrics. */
  readonly interval: number;
}

export interface DecisionLogSettings {
  /** Absolute path. */
  readonly file: string;
  readonly maxSize: number;
  /** Files put aside. */
  readonly keep: number;
}
