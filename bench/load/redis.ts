import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { Redis } from "ioredis";
import { freePort, LOAD_CPU } from "./processes.ts";
import type { Processes } from "./processes.ts";

const BINARIES = ["redis-server", "valkey-server"] as const;

/** Durable as an operator would have it; its log is not rewritten in the middle of a measurement. */
const SETTINGS = {
  bind: "127.0.0.1",
  save: "",
  appendonly: "yes",
  appendfsync: "everysec",
  "auto-aof-rewrite-percentage": "0",
  "maxmemory-policy": "noeviction",
};

export interface RedisServer {
  readonly pid: number;
  readonly url: string;
  /** Such as `Redis 7.0.15`. */
  readonly version: string;
  /** What INFO says in these sections. */
  info(...sections: readonly string[]): Promise<Info>;
  close(): Promise<void>;
}

/** Fields by name. */
export type Info = ReadonlyMap<string, string>;

/** Whether there is a server to be started on this machine. */
export function findRedis(): string | null {
  return BINARIES.find((name) => spawnSync(name, ["--version"]).status === 0) ?? null;
}

/** Starts a server on the load's CPU, on a free port of loopback, with its files in `folder`. @throws Error without a binary. */
export async function startRedis(processes: Processes, folder: string): Promise<RedisServer> {
  const binary = findRedis();
  if (binary === null) throw new Error(`neither ${BINARIES.join(" nor ")} is on the PATH: npm run setup installs one`);
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port: String(port), dir: folder });
  const server = processes.launch(LOAD_CPU, [binary, ...settings.flatMap(([name, value]) => [`--${name}`, value])]);
  server.stdout?.resume();
  const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 20, maxRetriesPerRequest: null });
  // Until it listens.
  client.on("error", () => undefined);
  const ended = once(server, "exit").then(([code]) => Promise.reject(new Error(`${binary} ended with ${code}`)));
  await Promise.race([client.ping(), ended]);
  ended.catch(() => client.disconnect());
  const info: RedisServer["info"] = async (...sections) => readInfo(String(await client.call("INFO", ...sections)));
  return {
    pid: server.pid ?? 0,
    url: `redis://127.0.0.1:${port}`,
    version: versionOf(await info("server")),
    info,
    async close() {
      client.disconnect();
      await processes.end(server);
    },
  };
}

export function readInfo(text: string): Info {
  return new Map(
    text.split("\r\n").flatMap((line) => {
      const at = line.indexOf(":");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
}

/** A number among the fields. @throws Error when it is not there. */
export function numberOf(info: Info, field: string): number {
  const value = Number(info.get(field));
  if (Number.isNaN(value)) throw new Error(`INFO has no number ${field}`);
  return value;
}

/** How many scripts have been called, and for how many microseconds they ran; INFO's section `commandstats`. */
export function scriptsOf(info: Info): { readonly calls: number; readonly microseconds: number } {
  const [, calls = 0, microseconds = 0] = /calls=(\d+),usec=(\d+)/.exec(info.get("cmdstat_evalsha") ?? "") ?? [];
  return { calls: Number(calls), microseconds: Number(microseconds) };
}

function versionOf(server: Info): string {
  const valkey = server.get("valkey_version");
  return valkey ? `Valkey ${valkey}` : `Redis ${server.get("redis_version")}`;
}
