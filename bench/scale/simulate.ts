import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootGateway } from "../load/bench.ts";
import type { Site } from "../load/bench.ts";
import { prepareGateway } from "../load/gateway.ts";
import { LOAD_CPU } from "../load/processes.ts";
import type { RedisServer } from "../load/redis.ts";
import { Meter } from "./meter.ts";
import { need, TOUCH_SECONDS } from "./model.ts";
import type { Constants, Load } from "./model.ts";
import { addPeople, openStores } from "./people.ts";
import type { Passage, Traffic } from "./traffic.ts";

/** Until every user has called once and what runs is compiled. */
export const WARMUP_SECONDS = 15;

/** One figure as the model says and as real processes had it. */
export interface Comparison {
  readonly name: string;
  readonly predicted: number;
  readonly measured: number;
}

export interface Simulation {
  readonly passage: Passage;
  readonly comparisons: readonly Comparison[];
}

/** The parts of a load that are chosen; the rest follows from them. */
export type Scene = Pick<Load, "users" | "requestsPerSecond" | "streamShare" | "chunksPerStream">;

/**
 * Drives a load of many users through a real gateway and a fresh server on this machine, and compares with the model.
 * The measured time is the period in which every timer has come round.
 * @param scene no more users than can call in the warm-up
 */
export async function simulate(
  site: Site,
  server: RedisServer,
  constants: Constants,
  scene: Scene,
): Promise<Simulation> {
  const { processes, folder } = site;
  const stores = await openStores(server.url);
  const meter = await Meter.create(server);
  const empty = await meter.memory();
  const people = await addPeople(stores, scene.users);
  await Promise.all(stores.map((store) => store.close()));

  const gateway = await prepareGateway(join(folder, randomUUID()), site.upstreamPort, server.url);
  const booted = await bootGateway(site, gateway, "warn");
  const traffic: Traffic = {
    ...scene,
    port: booted.port,
    gatewayPid: booted.child.pid ?? 0,
    storePid: server.pid,
    storeUrl: server.url,
    secrets: people.map(({ secret }) => secret),
    warmup: WARMUP_SECONDS,
    seconds: TOUCH_SECONDS,
  };
  const file = join(folder, `traffic-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(traffic));
  const program = new URL("traffic.ts", import.meta.url).pathname;
  const passage = JSON.parse(await processes.run(LOAD_CPU, [program, file])) as Passage;
  await processes.end(booted.child);
  const kept = (await meter.memory()) - empty;
  return { passage, comparisons: compare(constants, scene, passage, kept) };
}

/** @param kept bytes of the store's memory that users and requests have left. */
export function compare(constants: Constants, scene: Scene, passage: Passage, kept: number): readonly Comparison[] {
  const { seconds, answers, chunks, duration, allAnswers } = passage;
  const load: Load = {
    ...scene,
    requestsPerSecond: answers / seconds,
    chunksPerStream: chunks / (answers * scene.streamShare || 1),
    seconds: duration,
    activeShare: 1,
    ledgerSeconds: (allAnswers * seconds) / answers,
    // Nothing is to be sized here: one process, one shard.
    utilisation: Infinity,
    workers: 1,
    shardBytes: Infinity,
  };
  const { store, gateway } = need(constants, load);
  const { users, callers, ledger } = store.memory;
  // Stop tokens are looked at without a script.
  const scripts = store.operationsPerSecond - store.operations.poll;
  return [
    { name: "store scripts/s", predicted: scripts, measured: passage.scripts / seconds },
    { name: "store CPU, % of a core", predicted: store.cores * 100, measured: passage.storeCpu / seconds / 1e4 },
    { name: "store memory, MB", predicted: (users + callers + ledger) / 1e6, measured: kept / 1e6 },
    { name: "gateway CPU, % of a core", predicted: gateway.cores * 100, measured: passage.gatewayCpu / seconds / 1e4 },
  ];
}
