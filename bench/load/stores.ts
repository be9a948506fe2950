/**
 * What a request costs on each store: the bare proxy, the gateway on SQLite (on disk) and the gateway on Redis.
 *
 * Method. As bench/load/run.ts, JSON only; the Redis is a real server of its own (append-only file, fsync every second),
 * pinned to CPU 1 with load and upstream. Its CPU time is read in the same instants as the gateway's (schedstat, all
 * threads), so it includes protocol and file. Round trips are script calls over the whole run, by INFO commandstats,
 * divided by all answers. SQLite is a part of the gateway's process: its cost is in the gateway's CPU.
 *
 * `node bench/load/stores.ts [--rounds 3] [--seconds 3] [--log-level warn] [--json]`; 3 rounds take about two minutes.
 */
import { join } from "node:path";
import { bootBare, bootGateway, driveOn, inRounds, withSite } from "./bench.ts";
import type { Booted } from "./bench.ts";
import type { Result } from "./drive.ts";
import { prepareGateway } from "./gateway.ts";
import { orEnd, readOptions } from "./options.ts";
import { report } from "./outcome.ts";
import { scriptsOf, startRedis } from "./redis.ts";
import type { RedisServer } from "./redis.ts";
import type { Metric } from "./report.ts";

interface Measured {
  readonly result: Result;
  /** Scripts that the store's server executed for each answer; null without such a server. */
  readonly roundTrips: number | null;
}

const METRICS: readonly Metric<Measured>[] = [
  { name: "CPU us/request", of: ({ result }) => result.cpu },
  { name: "store CPU us/request", of: ({ result }) => result.storeCpu },
  { name: "both together", of: ({ result }) => result.cpu + (result.storeCpu ?? 0) },
  { name: "round trips/request", of: ({ roundTrips }) => roundTrips },
  { name: "requests/s", of: ({ result }) => result.count / result.seconds },
  { name: "RSS MB", of: ({ result }) => result.residentBytes / 2 ** 20 },
];

const { rounds, seconds, json, logLevel } = orEnd(() => readOptions(process.argv.slice(2)));
await withSite(async (site) => {
  const { processes, folder, upstreamPort } = site;
  const redis = await startRedis(processes, join(folder, "redis"));
  const prepare = (name: string, store?: string) => prepareGateway(processes, join(folder, name), upstreamPort, store);
  const onSqlite = await prepare("on-sqlite");
  const onRedis = await prepare("on-redis", redis.url);

  async function measure(boot: () => Promise<Booted>, key: string, store?: RedisServer): Promise<Measured> {
    const booted = await boot();
    const calls = async () => (store ? scriptsOf(await store.info("commandstats")).calls : 0);
    const before = await calls();
    const result = await driveOn(site, booted, { key, mode: "json", seconds, storePid: store?.pid });
    const roundTrips = store ? ((await calls()) - before) / result.answers : null;
    await processes.end(booted.child);
    return { result, roundTrips };
  }

  const done = await inRounds(rounds, {
    bare: () => measure(() => bootBare(site), onSqlite.key),
    sqlite: () => measure(() => bootGateway(site, onSqlite, logLevel), onSqlite.key),
    redis: () => measure(() => bootGateway(site, onRedis, logLevel), onRedis.key, redis),
  });
  await redis.close();
  report({
    rounds: done,
    metrics: METRICS,
    names: ["bare", "sqlite", "redis"],
    ratios: [
      ["sqlite", "bare"],
      ["redis", "bare"],
      ["redis", "sqlite"],
    ],
    results: ({ result }) => [result],
    about: { store: redis.version },
    json,
  });
});
