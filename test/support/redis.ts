import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe } from "vitest";
import { freePort } from "./ports.ts";

/** `redis-server` or `valkey-server`, whichever is on the PATH; null without either. */
const BINARY = ["redis-server", "valkey-server"].find((name) => spawnSync(name, ["--version"]).status === 0) ?? null;

/** A suite that needs a server: skipped with one loud line where there is none, a failure with `CI=true`. */
export function describeRedis(name: string, suite: () => void): void {
  if (BINARY === null && process.env["CI"] === "true")
    throw new Error("neither redis-server nor valkey-server is installed and CI=true");
  if (BINARY === null)
    console.warn(`SKIPPED: ${name}: neither redis-server nor valkey-server is installed; npm run setup installs one`);
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- those of the caller
  describe.skipIf(BINARY === null)(name, suite);
}

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** A connection for looking in from the side; closed with the server. */
  readonly client: Redis;
  /** The process stands still: connections stay, nothing answers. */
  pause(): void;
  resume(): void;
  /** SIGKILL; `restart` makes it come back on the same port, with what it has kept. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** For good: the folder goes too. */
  stop(): Promise<void>;
}

const OTHER_PORT_ATTEMPTS = 5;

/** Starts again, on other ports, what found one taken that had been free a moment ago. */
async function onFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      const isTaken = error instanceof Error && error.message.includes("Address already in use");
      if (!isTaken || attempt === OTHER_PORT_ATTEMPTS) throw error;
    }
  }
}

/** On a free port of loopback, in a folder of its own. It keeps nothing on disk unless `settings` say so. */
export function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  return onFreePorts(() => startOnce(settings));
}

async function startOnce(settings: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-redis-"));
  const port = await freePort();
  const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  let server = await launch([...own, ...settings]);
  const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 50, maxRetriesPerRequest: null });
  // While the server is down on purpose.
  client.on("error", () => {});
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
    kill,
    restart: async () => {
      server = await launch([...own, ...settings]);
    },
    stop: async () => {
      client.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server for all tests of the suite in which it is called. */
export function redisOfSuite(settings: readonly string[] = []): RedisServer {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await startRedis(settings);
  });
  afterAll(() => server?.stop());
  return new Proxy({} as RedisServer, { get: (_, name: keyof RedisServer) => server?.[name] });
}

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Three nodes without replicas. */
export async function startCluster(): Promise<RedisCluster> {
  const servers = await Promise.all([startNode(), startNode(), startNode()]);
  const [first, ...others] = servers;
  const edges = [0, 5461, 10923, 16384];
  for (const [index, { client }] of servers.entries())
    await client.call("CLUSTER", "ADDSLOTSRANGE", edges[index]!, edges[index + 1]! - 1);
  for (const { client, port } of others) {
    const bus = Number(((await client.call("CONFIG", "GET", "cluster-port")) as [string, string])[1]);
    await first.client.call("CLUSTER", "MEET", "127.0.0.1", port, bus);
  }
  // Nodes tell nobody when they have met.
  while (!(await Promise.all(servers.map(hasJoined))).every(Boolean)) await delay(20);
  return {
    servers,
    urls: servers.map(({ url }) => url),
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
}

function startNode(): Promise<RedisServer> {
  return onFreePorts(async () => {
    const bus = await freePort();
    return startOnce(["--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-node-timeout", "2000"]);
  });
}

async function hasJoined({ client }: RedisServer): Promise<boolean> {
  const info = String(await client.call("CLUSTER", "INFO"));
  return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
}

async function launch(settings: readonly string[]): Promise<ChildProcess> {
  if (BINARY === null) throw new Error("neither redis-server nor valkey-server is installed");
  const server = spawn(BINARY, settings, { stdio: ["ignore", "pipe", "inherit"] });
  const said: string[] = [];
  for await (const line of createInterface({ input: server.stdout })) {
    said.push(line);
    if (line.includes("Ready to accept connections")) {
      server.stdout.resume();
      return server;
    }
  }
  throw new Error(`${BINARY} did not start:\n${said.join("\n")}`);
}
