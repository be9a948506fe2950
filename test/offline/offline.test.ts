import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type OfflineOptions, openOffline } from "../../src/offline/offline.ts";
import { loadOffline } from "../../src/offline/load.ts";
import type { Offline, OfflineRequest } from "../../src/offline/room.ts";
import { decimal, toNano } from "../../src/kit/index.ts";
import { baseConfig } from "../e2e/support/gateway-config.ts";
import { createTokenizer } from "../../src/gateway/tokenizer.ts";

const NOW = Date.UTC(2026, 0, 5, 12, 0, 7);
const loaded = await loadOffline({ file: "gateway.yaml", env: {} });
const tokenizer = createTokenizer();
afterAll(() => tokenizer.close());

async function withRoom<Result>(options: Partial<OfflineOptions>, work: (room: Offline) => Promise<Result>) {
  const room = await openOffline(loaded, { now: NOW, tier: "Ultra", tokenizer, ...options });
  try {
    return await work(room);
  } finally {
    await room.close();
  }
}

const ask = (request: OfflineRequest, options: Partial<OfflineOptions> = {}) =>
  withRoom(options, (room) => room.request(request));

interface FaultCase {
  readonly faults: Readonly<Record<string, string>>;
  readonly stream?: boolean;
  readonly status: number;
  readonly code?: string;
  readonly upstream?: string;
  /** Outcomes of the attempts in order. */
  readonly attempts: string;
  readonly took?: number;
  readonly complete?: boolean;
}

const FAULTS: Readonly<Record<string, FaultCase>> = {
  healthy: { faults: {}, status: 200, upstream: "aurora", attempts: "served", took: 0 },
  "healthy, streamed": { faults: {}, stream: true, status: 200, upstream: "aurora", attempts: "served", took: 0 },
  down: { faults: { aurora: "down" }, status: 200, upstream: "borealis", attempts: "connect served" },
  unreachable: {
    faults: { aurora: "unreachable" },
    status: 200,
    upstream: "borealis",
    attempts: "timeout served",
    took: 2_000,
  },
  "both down": {
    faults: { aurora: "down", borealis: "down" },
    status: 502,
    code: "PROVIDER_ERROR",
    attempts: "connect connect",
  },
  "rate limited": {
    faults: { aurora: "?status=429&retry_after=7" },
    status: 200,
    upstream: "borealis",
    attempts: "rate_limited served",
  },
  "a status": { faults: { aurora: "?status=500" }, status: 200, upstream: "borealis", attempts: "status served" },
  "slow first byte": {
    faults: { aurora: "?first_byte=5s" },
    stream: true,
    status: 200,
    upstream: "aurora",
    attempts: "served",
    took: 5_000,
  },
  "no first byte": {
    faults: { aurora: "?first_byte=10m" },
    stream: true,
    status: 200,
    upstream: "borealis",
    attempts: "timeout served",
    took: 30_000,
  },
  "silent before the first event": {
    faults: { aurora: "?stall_after=0" },
    stream: true,
    status: 200,
    upstream: "borealis",
    attempts: "timeout served",
    took: 60_000,
  },
  "cut by a reset": {
    faults: { aurora: "?reset_after=3" },
    stream: true,
    status: 200,
    upstream: "aurora",
    attempts: "reset",
  },
  "all unreachable": {
    faults: { aurora: "unreachable", borealis: "unreachable" },
    stream: true,
    status: 504,
    code: "PROVIDER_TIMEOUT",
    attempts: "timeout timeout",
    took: 4_000,
  },
  "all too slow, after a heartbeat has begun the answer": {
    faults: { aurora: "?first_byte=10m", borealis: "?first_byte=10m" },
    stream: true,
    status: 200,
    code: "PROVIDER_TIMEOUT",
    attempts: "timeout timeout",
    took: 60_000,
  },
};

describe("a fault", () => {
  test.each(Object.entries(FAULTS))("%s", async (_name, { faults, stream, attempts, ...expected }) => {
    const result = await ask({ model: "route/swift", ...(stream && { stream }) }, { faults });
    expect(result.attempts.map(({ outcome }) => outcome).join(" ")).toBe(attempts);
    expect(result).toMatchObject({ code: null, upstream: null, ...expected });
  });

  test("opens a breaker, which a later request is skipped by, and which time closes", () =>
    withRoom({ faults: { aurora: "down" } }, async (room) => {
      const { consecutive, maxOpenFor } = room.snapshot.upstreams["aurora"]!.breaker;
      for (let failed = 0; failed < consecutive; failed += 1) await room.request({ model: "route/swift" });
      const skipped = await room.request({ model: "route/swift" });
      expect(skipped.attempts.map(({ outcome }) => outcome)).toEqual(["skipped", "served"]);
      room.fault("aurora", null);
      await room.advance(maxOpenFor);
      expect((await room.request({ model: "route/swift" })).upstream).toBe("aurora");
    }));

  test("of an upstream that there is not is an error that names the nearest", async () => {
    await expect(ask({}, { faults: { aurroa: "down" } })).rejects.toThrow("did you mean aurora");
  });
});

describe("limits and credits", () => {
  test("a minute's limit refuses, and the next minute serves again", () =>
    withRoom({ tier: "Lite" }, async (room) => {
      const { minute } = room.snapshot.tiers["Lite"]!.limits;
      const model = "route/swift";
      for (let used = 0; used < minute!; used += 1) expect((await room.request({ model })).status).toBe(200);
      const refused = await room.request({ model });
      expect(refused).toMatchObject({ status: 429, code: "RATE_LIMIT_ERROR", outcome: "refused", hold: 0n });
      expect(refused.trace.refusal).toBe("minute");
      expect(refused.headers["retry-after"]).toBe("53");
      await room.advance(53_000);
      expect((await room.request({ model })).status).toBe(200);
    }));

  test("streams under way take their slots until they end", () =>
    withRoom({ tier: "Lite", faults: { aurora: "?first_byte=20s", borealis: "?first_byte=20s" } }, async (room) => {
      const { streams } = room.snapshot.tiers["Lite"]!.limits;
      const model = "route/swift";
      const running = [];
      for (let taken = 0; taken < streams!; taken += 1) running.push(await room.start({ model, stream: true }));
      const refused = await room.request({ model, stream: true });
      expect(refused).toMatchObject({ status: 429, body: "Concurrent stream limit exceeded", took: 0 });
      for (const one of running) expect((await one.result()).status).toBe(200);
      expect(await room.store.running((await room.user("user")).id)).toMatchObject({ streams: 0 });
    }));

  test("credits are held, charged and recorded", async () => {
    const credits = toNano(decimal("1"));
    const result = await ask({ model: "route/swift", stream: true }, { credits });
    expect(result.hold).toBeGreaterThan(result.charge);
    expect(result.charge).toBeGreaterThan(0n);
    expect(result.balance).toBe(credits - result.charge);
    expect(result.ledger).toMatchObject({ charge: result.charge, upstream: "aurora", model: "route/swift" });
  });

  test("without credits nothing is sent", async () => {
    const result = await ask({ model: "route/swift" }, { credits: 0n });
    expect(result).toMatchObject({ status: 402, code: "INSUFFICIENT_CREDITS", attempts: [], sent: [] });
  });
});

test("every endpoint has a body that its models serve", () =>
  withRoom({}, async (room) => {
    for (const { id, realtime } of Object.values(room.snapshot.models)) {
      const { status, body } = await room.request({ model: id });
      expect({ id, status, body }).toEqual({ id, status: realtime ? 400 : 200, body });
      await room.advance(1_000);
    }
  }));

test("a client that leaves is charged by what was delivered", async () => {
  const result = await ask(
    { model: "route/swift", stream: true, leaveAfter: 450 },
    { faults: { aurora: "?chunk_delay=100ms&chunks=50" } },
  );
  expect(result).toMatchObject({ outcome: "client_gone", complete: false });
  expect(result.ledger?.outcome).toBe("client_gone");
});

const variable = (name: string): string => `\${env:${name}}`;

test("variables that are not set are made up, also where empty text cannot stand", async () => {
  const folder = await mkdtemp(join(tmpdir(), "offline-"));
  const file = join(folder, "gateway.yaml");
  try {
    const config = baseConfig(folder);
    const upstreams = {
      mine: {
        dialect: "openai",
        base_url: variable("MINE_URL"),
        api_keys: [variable("MINE_KEY")],
        connections: variable("MINE_COUNT"),
      },
    };
    const price = { input_per_million: 1, output_per_million: 2 };
    const chain = [{ upstream: "mine", model: "theirs" }];
    const models = { "route/mine": { kind: "chat", tier: "Free", owned_by: "mine", price, chain } };
    await writeFile(file, JSON.stringify({ ...config, upstreams, models }));
    const made = await loadOffline({ file, env: {} });
    expect(made.snapshot.upstreams["mine"]).toMatchObject({
      baseUrl: "https://unset.localhost/stands-in-for-it",
      connections: 1,
    });
    const room = await openOffline(made, { now: NOW });
    expect(await room.request({ model: "route/mine" })).toMatchObject({ status: 200, upstream: "mine" });
    await room.close();
    await writeFile(file, JSON.stringify({ ...config, upstreams, models, tiers: {} }));
    await expect(loadOffline({ file, env: {} })).rejects.toThrow("must not be empty");
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Addresses as operators write them; each dialect with the kinds that it serves. */
const PROVIDERS: Readonly<Record<string, readonly [dialect: string, address: string, ...kinds: string[]]>> = {
  openai: ["openai", "https://api.openai.com/v1", "chat", "embedding", "speech", "transcription", "image"],
  groq: ["openai", "https://api.groq.com/openai/v1", "chat"],
  mistral: ["openai", "https://api.mistral.ai/v1", "chat", "embedding"],
  anthropic: ["anthropic", "https://api.anthropic.com", "chat"],
  vertex: [
    "anthropic",
    "https://aiplatform.googleapis.com/v1/projects/mine/locations/global/publishers/anthropic",
    "chat",
  ],
  gemini: ["gemini", "https://generativelanguage.googleapis.com", "chat", "embedding"],
  "gemini-on-vertex": [
    "gemini",
    "https://aiplatform.googleapis.com/v1/projects/mine/locations/global/publishers/google",
    "chat",
  ],
  azure: ["azure", "https://mine.openai.azure.com/openai/v1", "chat", "embedding", "speech", "transcription", "image"],
  "azure-deployments": ["azure", "https://mine.openai.azure.com", "chat"],
  bedrock: ["bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", "chat"],
  cohere: ["cohere", "https://api.cohere.com", "chat", "embedding", "rerank"],
  jina: ["jina", "https://api.jina.ai/v1", "embedding", "rerank"],
  voyage: ["voyage", "https://api.voyageai.com/v1", "embedding", "rerank"],
  elevenlabs: ["elevenlabs", "https://api.elevenlabs.io", "speech", "transcription"],
  deepgram: ["deepgram", "https://api.deepgram.com", "speech", "transcription"],
};
const PRICES: Readonly<Record<string, object>> = {
  chat: { input_per_million: 1, output_per_million: 2 },
  embedding: { input_per_million: 1 },
  rerank: { per_request: 0.001 },
  speech: { per_million_characters: 10 },
  transcription: { per_second: 0.001 },
  image: { per_image: 0.01 },
};

test("every provider is simulated at its own address, whatever key its configuration has", async () => {
  const folder = await mkdtemp(join(tmpdir(), "offline-"));
  const file = join(folder, "gateway.yaml");
  const models = Object.entries(PROVIDERS).flatMap(([name, [, , ...kinds]]) =>
    kinds.map((kind) => {
      const chain = [{ upstream: name, model: "theirs" }];
      return [`route/${name}-${kind}`, { kind, tier: "Free", owned_by: name, price: PRICES[kind], chain }] as const;
    }),
  );
  const upstreams = Object.entries(PROVIDERS).map(([name, [dialect, base_url]]) => {
    return [name, { dialect, base_url, api_keys: [variable("KEY")] }] as const;
  });
  try {
    const config = {
      ...baseConfig(folder),
      upstreams: Object.fromEntries(upstreams),
      models: Object.fromEntries(models),
    };
    await writeFile(file, JSON.stringify(config));
    const room = await openOffline(await loadOffline({ file, env: {} }), { now: NOW, tokenizer });
    for (const [model] of models) {
      const { status, body } = await room.request({ model });
      expect({ model, status, body }).toEqual({ model, status: 200, body });
    }
    await room.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
