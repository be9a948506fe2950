import { openai } from "../../../src/dialects/chat/index.ts";
import type { UpstreamDialect } from "../../../src/dialects/dialect.ts";
import {
  type AttemptError,
  type ByteReply,
  type ByteSource,
  type Call,
  type ChainStep,
  type EventSink,
  type EventSource,
  type Exchange,
  type Log,
  type Reply,
  Secret,
  type Snapshot,
  type StreamEvent,
  type Target,
  type Timeouts,
  type Upstream,
  decimal,
} from "../../../src/kit/index.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../../src/upstream/upstreams.ts";

const ONE = decimal("1");
export const TIMEOUTS: Timeouts = { connect: 5_000, firstByte: 10_000, idle: 10_000, total: 20_000 };

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function upstream(baseUrl: string, changes: Partial<Upstream> & { keys?: readonly string[] } = {}): Upstream {
  const { keys = ["key-1"], ...rest } = changes;
  return {
    name: "alpha",
    displayName: "Alpha",
    dialect: "openai",
    baseUrl,
    apiKeys: keys.map((key) => new Secret(key)),
    headers: {},
    timeouts: TIMEOUTS,
    retries: { attempts: 1, minDelay: 10, maxDelay: 2_000 },
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
    ...rest,
  };
}

export function target(changes: Partial<Target> = {}): Target {
  return {
    upstream: "alpha",
    model: "m1",
    weight: 1,
    timeouts: TIMEOUTS,
    contextWindow: null,
    features: [],
    ...changes,
  };
}

export function snapshot(...upstreams: readonly Upstream[]): Snapshot {
  const secret = new Secret("");
  return {
    hash: "",
    file: "",
    server: {
      listen: [],
      admin: null,
      workers: 1,
      dashboard: true,
      errorFormat: "auto",
      bodyLimit: 0,
      bodyMemory: 0,
      uploadSpace: 0,
      countBudget: 0,
      shed: null,
      trustedProxies: [],
      connections: { total: 10_000, perAddress: null },
      ipLimit: null,
      cors: { origins: [] },
      heartbeat: 15_000,
      drain: { delay: 0, timeout: 0 },
    },
    store: { url: secret, nodes: [], prefix: "", onFailure: "closed", timeout: 1_000, retention: 7_776_000_000 },
    auth: {
      tokens: { issuer: "", audience: "", accessTtl: 0, refreshTtl: 0, secrets: [] },
      signup: { tier: "Free", credits: ONE },
      email: { from: "", smtp: secret },
      oauth: {},
    },
    billing: {
      currency: "USD",
      costMultiplier: ONE,
      enforce: true,
      holdOutputTokens: 0,
      outcomes: {
        client_gone: "free",
        killed: "free",
        upstream_cut: "free",
        unanswered: "free",
        no_usage: "free",
      },
    },
    tiers: {},
    upstreams: Object.fromEntries(upstreams.map((one) => [one.name, one])),
    models: {},
    pipeline: [],
    incidents: [],
    telemetry: {
      accessLog: { lines: "all", users: false, addresses: false },
      serverTiming: "on_request",
      otlp: null,
      decisionLog: null,
    },
    reload: { guard: null },
  };
}

export function call(changes: Partial<Call> = {}): Call {
  const body = { model: "route/m", messages: [{ role: "user", content: "hi" }], stream: changes.stream === true };
  return { kind: "chat", model: "route/m", stream: false, body, promptBytes: 2, maxOutput: null, ...changes };
}

export interface ExchangeChanges {
  readonly signal?: AbortSignal;
  readonly deadline?: number;
  readonly readAt?: number;
  readonly userId?: string;
}

export function exchange(changes: ExchangeChanges = {}): Exchange {
  const { signal = new AbortController().signal, deadline = 60_000, readAt = Date.now(), userId = "u1" } = changes;
  return {
    id: "x1",
    requestId: "req-1",
    receivedAt: readAt,
    readAt,
    endpoint: "chat",
    principal: { userId, tier: "Free", keyId: null },
    tier: { name: "Free", access: "all", limits: { day: null, hour: null, minute: null, streams: null } },
    model: {
      id: "route/m",
      kind: "chat",
      tier: "Free",
      displayName: "M",
      ownedBy: "alpha",
      created: 0,
      published: true,
      contextWindow: null,
      maxOutput: null,
      features: [],
      voices: [],
      realtime: false,
      strict: false,
      price: {},
      multipliers: { requests: 1, cost: ONE },
      deadline,
      chain: [],
    },
    call: call(),
    signal,
  };
}

export function step(balance: ChainStep["balance"], ...targets: readonly Target[]): ChainStep {
  return { balance, targets };
}

export interface Leased {
  readonly upstreams: Upstreams;
  readonly set: UpstreamSet;
  end(): Promise<void>;
}

export function lease(...upstreams: readonly Upstream[]): Promise<Leased> {
  return leaseWith(openai, ...upstreams);
}

export async function leaseWith(dialect: UpstreamDialect, ...upstreams: readonly Upstream[]): Promise<Leased> {
  const registry = createUpstreams({ dialects: { openai: dialect }, now: Date.now, log: silent });
  const set = await registry.lease(snapshot(...upstreams));
  return { upstreams: registry, set, end: () => registry.close() };
}

/** The error of an attempt that must fail. */
export async function failure(attempt: Promise<Reply>): Promise<AttemptError> {
  try {
    await attempt;
  } catch (error) {
    return error as AttemptError;
  }
  throw new Error("the attempt succeeded");
}

export function streamOf(reply: Reply): EventSource {
  if (reply.type !== "events") throw new Error("not a stream of events");
  return reply.source;
}

export function bytesOf(reply: Reply): ByteReply {
  if (reply.type !== "bytes") throw new Error("not a stream of bytes");
  return reply;
}

export interface Seen {
  readonly text: string;
  readonly batches: readonly number[];
  readonly ending: Parameters<EventSink["end"]>[0];
}

/** Reads a stream to its end. */
export function read(source: EventSource): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>();
  const batches: number[] = [];
  let text = "";
  source.open({
    next(batch: readonly StreamEvent[]) {
      batches.push(batch.length);
      for (const one of batch) text += one.text;
    },
    end: (ending) => resolve({ text, batches, ending }),
  });
  return promise;
}

/** Reads a body to its end. */
export function readBytes(source: ByteSource): Promise<{ readonly body: Buffer; readonly ending: Seen["ending"] }> {
  const { promise, resolve } = Promise.withResolvers<{ body: Buffer; ending: Seen["ending"] }>();
  const chunks: Uint8Array[] = [];
  source.open({
    next: (chunk) => void chunks.push(chunk),
    end: (ending) => resolve({ body: Buffer.concat(chunks), ending }),
  });
  return promise;
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; !condition();) {
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
