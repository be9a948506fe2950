import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestGatewayOptions } from "../support/in-process.ts";
import { askKind, chains, ENDPOINTS } from "../support/kinds.ts";
import { Switch } from "../support/switch.ts";
import { startSimulator } from "../../../src/simulator/server.ts";

interface Status {
  readonly providers: readonly { readonly name: string; readonly status: string; readonly latency_ms: number }[];
  readonly models: readonly { readonly id: string; readonly status: string }[];
  readonly incidents: readonly Json[];
  readonly last_updated: string;
}

const TOUCHY = { consecutive: 1, minimum: 1_000, open_for: "1m", max_open_for: "1m" };
const running: TestGateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((gateway) => gateway.close())));

async function start(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await TestGateway.start(options);
  running.push(gateway);
  return gateway;
}

async function statusOf(gateway: TestGateway): Promise<Status> {
  return JSON.parse((await gateway.get("/v1/status")).text) as Status;
}

/** `name: state`, and `id: state`. */
async function states(gateway: TestGateway): Promise<Record<string, string>> {
  const { providers, models } = await statusOf(gateway);
  const named = [
    ...providers.map(({ name, status }) => [name, status]),
    ...models.map(({ id, status }) => [id, status]),
  ];
  return Object.fromEntries(named) as Record<string, string>;
}

const FAR = 301_000;

describe("without probes", () => {
  test("nothing is known at the start, and everything may be called", async () => {
    const incident = {
      id: "i",
      title: "T",
      description: "D",
      severity: "error",
      status: "resolved",
      created_at: "2026-01-05T10:00:00Z",
      resolved_at: "2026-01-05T13:30:00+02:00",
    };
    const gateway = await start({
      chains: {
        "route/hidden": { scripts: ["-"], published: false },
        "route/max": { scripts: ["-"], tier: "Max", display_name: "The Max" },
      },
      config: { upstreams: { "one-1": { display_name: "Number One" } }, status: { incidents: [incident] } },
    });
    gateway.clock.stop();
    const { status, headers, text } = await gateway.get("/v1/status");
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    const unknown = { status: "unknown", latency_ms: 0 };
    expect(JSON.parse(text)).toEqual({
      providers: [
        { name: "Number One", ...unknown },
        { name: "hidden-1", ...unknown },
        { name: "max-1", ...unknown },
      ],
      models: [
        { id: "route/one", name: "one", tier: "Free", status: "online" },
        { id: "route/max", name: "The Max", tier: "Max", status: "online" },
      ],
      incidents: [incident],
      outages: [],
      last_updated: new Date(gateway.clock.now()).toISOString().replace("Z", "+00:00"),
    });
    gateway.clock.start();
  });

  test("live requests tell: healthy, degraded by errors, unknown after five silent minutes, healthy again", async () => {
    const gateway = await start({ chains: { "route/two": ["-"] } });
    const user = await gateway.user();
    await gateway.chat(user);
    expect(await states(gateway)).toMatchObject({ "one-1": "healthy", "two-1": "unknown", "route/one": "online" });
    const [one, two] = (await statusOf(gateway)).providers;
    expect([one!.latency_ms > 0, Number.isInteger(one!.latency_ms), two!.latency_ms]).toEqual([true, true, 0]);
    expect((await gateway.chat(user, { sim: "?status=500" })).status).toBe(502);
    // Its breaker is closed: the model can be served.
    expect(await states(gateway)).toMatchObject({ "one-1": "degraded", "route/one": "online" });
    gateway.clock.advance(FAR);
    expect(await states(gateway)).toMatchObject({ "one-1": "unknown" });
    expect((await statusOf(gateway)).providers[0]!.latency_ms).toBe(0);
    await gateway.chat(user, { stream: true });
    expect(await states(gateway)).toMatchObject({ "one-1": "healthy" });
  });

  test("what the client does wrong, and a client that leaves, say nothing about the upstream", async () => {
    const gateway = await start({});
    const user = await gateway.user();
    await gateway.chat(user);
    await gateway.chat(user, { sim: "?status=400" });
    const call = gateway.open(user, { stream: true, sim: "?stall_after=2" });
    await call.until("data:");
    call.leave();
    await gateway.audit();
    expect(await states(gateway)).toMatchObject({ "one-1": "healthy" });
  });

  test("answers that take more than half of what they may are a sign of ill health", async () => {
    const gateway = await start({ config: { upstreams: { "one-1": { timeouts: { first_byte: "400ms" } } } } });
    await gateway.chat(await gateway.user(), { sim: "?first_byte=250ms" });
    expect(await states(gateway)).toMatchObject({ "one-1": "degraded", "route/one": "online" });
  });

  test.each(["chat", "transcription"] as const)(
    "%s: a model is degraded, then offline, as the circuits of its chain open, and comes back",
    async (endpoint) => {
      const gateway = await start({
        chains: chains("", ["?status=500", "?status=500"]),
        config: { defaults: { upstream: { breaker: TOUCHY } }, upstreams: {} },
      });
      const user = await gateway.user();
      const model = Object.keys(chains("", ["-"]))[ENDPOINTS.indexOf(endpoint)]!;
      const name = model.slice(6);
      const both = { [`${name}-1`]: "degraded", [`${name}-2`]: "degraded" };
      expect(await states(gateway)).toMatchObject({ [model]: "online" });
      expect((await askKind(gateway, user, endpoint)).status).toBe(502);
      expect(await states(gateway)).toMatchObject({ ...both, [model]: "offline" });
      expect((await askKind(gateway, user, endpoint)).status).toBe(503);
      // The circuits let a probe through again: the model may be served.
      gateway.clock.advance(90_000);
      expect(await states(gateway)).toMatchObject({ ...both, [model]: "online" });
    },
  );

  test("only a later step of the chain can serve: degraded", async () => {
    const gateway = await start({
      chains: { "route/chain": ["?status=500", "-"] },
      config: {
        upstreams: {
          "chain-1": { breaker: TOUCHY },
        },
      },
    });
    expect(await states(gateway)).toMatchObject({ "route/chain": "online" });
    expect((await gateway.chat(await gateway.user(), { model: "route/chain" })).status).toBe(200);
    expect(await states(gateway)).toMatchObject({
      "chain-1": "degraded",
      "chain-2": "healthy",
      "route/chain": "degraded",
    });
  });
});

describe("what requests met", () => {
  const EVERY = [401, 402, 403, 404, 408, 429, 500, 503];

  test.each(EVERY)(
    "%i to every request: degraded and offline, and well again with the first that is served",
    async (code) => {
      const gateway = await start({ chains: { "route/chain": ["-", "-"] } });
      const [first, second] = [await gateway.user(), await gateway.user()];
      for (const user of [first, second, first]) {
        await gateway.chat(user, { sim: `?status=${code}` });
        // A rate limit, or a refused key, rests for a while, and longer each time.
        gateway.clock.advance(user === first ? 61_000 : 1_000);
      }
      gateway.clock.advance(61_000);
      expect(await states(gateway)).toMatchObject({
        "one-1": "degraded",
        "route/one": "offline",
        "route/chain": "online",
      });
      for (let count = 0; count < 40; count += 1) await gateway.chat(first);
      expect(await states(gateway)).toMatchObject({ "one-1": "healthy", "route/one": "online" });
    },
  );

  test("one model that its upstream does not have is offline, and its neighbour online", async () => {
    const gateway = await start({
      config: {
        models: {
          "route/gone": {
            kind: "chat",
            tier: "Free",
            owned_by: "x",
            price: { input_per_million: 1, output_per_million: 1 },
            chain: [{ upstream: "one-1", model: "gone" }],
          },
        },
      },
    });
    const user = await gateway.user();
    for (let count = 0; count < 2; count += 1) await gateway.chat(user, { model: "route/gone", sim: "?status=404" });
    await gateway.chat(user);
    expect(await states(gateway)).toMatchObject({ "route/gone": "offline", "route/one": "online" });
    gateway.clock.advance(FAR);
    expect(await states(gateway)).toMatchObject({ "route/gone": "online" });
  });

  test("a chain whose first step fails every time is degraded", async () => {
    const gateway = await start({ chains: { "route/chain": ["?status=401", "-"] } });
    const user = await gateway.user();
    for (let count = 0; count < 2; count += 1) {
      expect((await gateway.chat(user, { model: "route/chain" })).status).toBe(200);
    }
    expect(await states(gateway)).toMatchObject({ "chain-1": "degraded", "route/chain": "degraded" });
  });

  test("a key that fails while another one serves the same requests leaves the upstream healthy", async () => {
    const server = createServer((request, response) => {
      request.resume();
      if (request.headers.authorization === "Bearer bad-key") return void response.writeHead(429).end();
      const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices: [choice] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = await start({
      chains: { "route/a": [url] },
      config: { upstreams: { "a-1": { api_keys: ["bad-key", "good-key"] } } },
    });
    const user = await gateway.user();
    for (let count = 0; count < 6; count += 1) {
      expect((await gateway.chat(user, { model: "route/a" })).status).toBe(200);
      gateway.clock.advance(2_000);
    }
    expect(await states(gateway)).toMatchObject({ "a-1": "healthy", "route/a": "online" });
  });

  test("what the client does wrong never takes a model away", async () => {
    const gateway = await start({});
    const user = await gateway.user();
    for (let count = 0; count < 5; count += 1) await gateway.chat(user, { sim: "?status=400" });
    expect(await states(gateway)).toMatchObject({ "one-1": "unknown", "route/one": "online" });
  });
});

/** A gateway whose one upstream stands behind a switch. */
async function behindSwitch(): Promise<{ gateway: TestGateway; proxy: Switch }> {
  const simulator = await startSimulator();
  const proxy = await Switch.start(simulator.origin);
  onTestFinished(async () => {
    await proxy.close();
    await simulator.close();
  });
  const gateway = await start({
    chains: { "route/chain": [proxy.url, "-"] },
    config: {
      upstreams: { "chain-1": { probe: { every: "200ms", timeout: "200ms" } } },
      models: {
        "route/alone": {
          kind: "chat",
          tier: "Free",
          owned_by: "x",
          price: { input_per_million: 1, output_per_million: 1 },
          chain: [{ upstream: "chain-1", model: "x" }],
        },
      },
    },
  });
  return { gateway, proxy };
}
const until = (gateway: TestGateway, wanted: Record<string, string>) =>
  eventually(async () => {
    const found = await states(gateway);
    return Object.entries(wanted).every(([name, state]) => found[name] === state);
  }, 15_000);

describe("with probes", () => {
  test.each(["down", "deaf"] as const)(
    "unknown, healthy, degraded while it is %s, healthy again; nothing is billed",
    async (mode) => {
      const { gateway, proxy } = await behindSwitch();
      const user = await gateway.user();
      const before = await gateway.books(user);
      await until(gateway, { "chain-1": "healthy", "route/chain": "online", "route/alone": "online" });
      expect((await statusOf(gateway)).providers.find(({ name }) => name === "chain-1")!.latency_ms).toBeGreaterThan(0);
      proxy.mode = mode;
      await until(gateway, { "chain-1": "degraded", "route/chain": "degraded", "route/alone": "offline" });
      proxy.mode = "well";
      await until(gateway, { "chain-1": "healthy", "route/chain": "online", "route/alone": "online" });
      expect(new Set(proxy.asked)).toEqual(new Set(["GET /v1/models"]));
      expect(gateway.simulator.ledger()).toEqual([]);
      expect(await gateway.books(user)).toEqual(before);
      // Without an opinion of the breaker's: the requests themselves go on to be tried.
      expect((await gateway.chat(user, { model: "route/alone" })).status).toBe(200);
    },
  );

  test("a probe that is refused is no outage: requests tell", async () => {
    const gateway = await start({
      chains: { "route/locked": ["?status=401"], "route/fine": ["?status=404"] },
      config: { defaults: { upstream: { probe: { every: "200ms", timeout: "200ms" } } } },
    });
    // Any other answer below 500 shows that it is there.
    await until(gateway, { "fine-1": "healthy", "route/fine": "online" });
    expect(await states(gateway)).toMatchObject({ "locked-1": "unknown", "route/locked": "online" });
    expect(gateway.simulator.ledger().every(({ path }) => path.endsWith("/v1/models"))).toBe(true);
    const user = await gateway.user();
    for (const name of ["locked", "fine"]) {
      for (let count = 0; count < 2; count += 1) await gateway.chat(user, { model: `route/${name}` });
    }
    // Good probes do not hide that every request fails.
    expect(await states(gateway)).toMatchObject({
      "locked-1": "degraded",
      "route/locked": "offline",
      "fine-1": "degraded",
      "route/fine": "offline",
    });
  });

  test("probes that fail do not hide that every request is served", async () => {
    const probed = { probe: { every: "100ms", timeout: "200ms" } };
    const server = createServer((request, response) => {
      request.resume();
      if (request.method === "GET") return void response.writeHead(503).end();
      const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices: [choice] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = await start({ chains: { "route/a": [url] }, config: { upstreams: { "a-1": probed } } });
    await until(gateway, { "a-1": "degraded", "route/a": "offline" });
    expect((await gateway.chat(await gateway.user(), { model: "route/a" })).status).toBe(200);
    expect(await states(gateway)).toMatchObject({ "a-1": "healthy", "route/a": "online" });
  });

  test("a probe that is taken out of the configuration, or an upstream, is not made any more", async () => {
    const { gateway, proxy } = await behindSwitch();
    await until(gateway, { "chain-1": "healthy" });
    await gateway.reload({ upstreams: { "chain-1": { probe: "none" } } });
    const asked = proxy.asked.length;
    expect(await states(gateway)).toMatchObject({ "chain-1": "unknown" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    // One may have been on its way.
    expect(proxy.asked.length - asked).toBeLessThanOrEqual(1);
  });
});
