import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { LedgerRecord } from "../../src/kit/index.ts";
import { Uuids } from "../../src/kit/index.ts";
import type { RedisStore } from "../../src/store/redis/store.ts";
import { bootGateway, driveOn, type Site } from "../load/bench.ts";
import { prepareGateway } from "../load/gateway.ts";
import type { RedisServer } from "../load/redis.ts";
import { MODEL } from "../load/wire.ts";
import { Meter, type Reading } from "./meter.ts";
import { type Constants, type Cost, type Operation, OPERATIONS } from "./model.ts";
import { addPeople, eachThrough, openStores, type Person, STORES } from "./people.ts";

/** People who are measured together: so many requests run at once. */
const GROUP = STORES * 64;
/** Further ledger entries, and of which part of the people: enough that lists of entries have their usual shape. */
const MORE = { entries: 30, share: 1 / 16 };

const LIMITS = { day: 1e9, hour: 1e9, minute: 1e9, streams: 1e9 };
const CHARGE = 150_000n;
const uuids = new Uuids();

export interface StoreMeasurement {
  readonly store: Constants["store"];
  /** Microseconds of one operation within its script. */
  readonly scripts: Readonly<Record<Operation, number>>;
}

/**
 * Measures what a fresh server spends on each operation and keeps for each record, through the store that the gateway
 * uses: 4 connections with 16 calls under way on each.
 * @param count people; every operation is called once for each, and one request of each is kept at once.
 */
export async function measureStore(server: RedisServer, count: number): Promise<StoreMeasurement> {
  const stores = await openStores(server.url);
  const meter = await Meter.create(server);
  // Everything once, so that every script is known and every buffer is there.
  await measureOperations(meter, stores, await addPeople(stores, GROUP));

  const empty = await meter.memory();
  const people = await addPeople(stores, count);
  const atRest = await meter.memory();
  const ids = people.map(() => uuids.timed(Date.now()));
  await eachThrough(stores, people, (store, person, index) => admit(store, person, ids[index]!));
  const running = await meter.memory();
  await eachThrough(stores, people, (store, { userId }, index) =>
    store.settle({ id: ids[index]!, userId, giveBack: true, charge: 0n, record: null }),
  );
  const given = await meter.memory();
  const { costs, scripts } = await measureOperations(meter, stores, people);
  const charged = await meter.memory();
  const some = people.slice(0, Math.ceil(count * MORE.share));
  for (let entry = 0; entry < MORE.entries; entry++) await eachThrough(stores, some, serve);
  const more = await meter.memory();
  await Promise.all(stores.map((store) => store.close()));

  const ledgerEntry = (more - charged) / (some.length * MORE.entries);
  const memory = {
    user: (atRest - empty) / count,
    caller: (charged - atRest) / count - ledgerEntry,
    reservation: (running - given) / count,
    ledgerEntry,
  };
  return { store: { operations: costs, memory }, scripts };
}

async function measureOperations(meter: Meter, stores: readonly RedisStore[], people: readonly Person[]) {
  const readings = Object.fromEntries(OPERATIONS.map((name) => [name, [] as Reading[]])) as Record<
    Operation,
    Reading[]
  >;
  for (let at = 0; at < people.length; at += GROUP) {
    const group = people.slice(at, at + GROUP);
    const ids = group.map(() => uuids.timed(Date.now()));
    const shares = stores.map((store, index) => ({
      store,
      share: group.filter((_, place) => place % stores.length === index),
    }));
    const work: Record<Operation, () => Promise<unknown>> = {
      principal: () => eachThrough(stores, group, (store, { digest }) => store.principalByDigest(digest)),
      admit: () => eachThrough(stores, group, (store, person, index) => admit(store, person, ids[index]!)),
      renew: () => Promise.all(stores.map((store) => store.renew())),
      poll: () => Promise.all(shares.map(({ store, share }) => store.stopTokens(share.map(({ userId }) => userId)))),
      settle: () => eachThrough(stores, group, (store, person, index) => settle(store, person, ids[index]!)),
      touch: () =>
        Promise.all(
          shares.map(({ store, share }) => store.touchKeys(new Map(share.map(({ keyId }) => [keyId, Date.now()])))),
        ),
    };
    for (const name of Object.keys(work) as Operation[]) readings[name].push(await meter.over(work[name]));
  }
  const each = (name: Operation, of: keyof Reading) =>
    readings[name].reduce((sum, reading) => sum + reading[of], 0) / people.length;
  const costs = {} as Record<Operation, Cost>;
  const scripts = {} as Record<Operation, number>;
  for (const name of OPERATIONS) {
    costs[name] = { cpu: each(name, "cpu"), wire: each(name, "wire") };
    scripts[name] = each(name, "script");
  }
  return { costs, scripts };
}

async function admit(store: RedisStore, { userId }: Person, id: string): Promise<void> {
  const asked = { units: 1, stream: true, hold: 1_000_000n, enforceCredits: true, model: MODEL, version: 1 };
  const admitted = await store.admit({ id, userId, limits: LIMITS, ...asked });
  if (!admitted.ok) throw new Error(`refused: ${admitted.refusal}`);
}

async function settle(store: RedisStore, { userId, keyId }: Person, id: string): Promise<void> {
  const at = Date.now();
  const record: LedgerRecord = {
    requestId: randomUUID(),
    keyId,
    model: MODEL,
    upstream: "mock",
    outcome: "served",
    usage: { prompt: 400, completion: 150, cached: 0, reasoning: 0 },
    estimated: false,
    receivedAt: at,
    endedAt: at,
  };
  await store.settle({ id, userId, giveBack: false, charge: CHARGE, record });
}

async function serve(store: RedisStore, person: Person): Promise<void> {
  const id = uuids.timed(Date.now());
  await admit(store, person, id);
  await settle(store, person, id);
}

/** Loads that are given up before a machine is called too busy, and the share of answers that may be wrong. */
const ATTEMPTS = 3;
const BAD_SHARE = 0.01;

/**
 * Measures what the gateway spends on a request and on a chunk while it uses the server, as row 3 of bench/load does.
 * @throws Error that names the remedy, on a machine that is too busy for it.
 */
export async function measureGateway(site: Site, server: RedisServer, seconds: number): Promise<Constants["gateway"]> {
  const folder = join(site.folder, `gateway-${randomUUID()}`);
  const gateway = await prepareGateway(folder, site.upstreamPort, server.url);
  let sample = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const booted = await bootGateway(site, gateway, "warn");
    const json = await driveOn(site, booted, { key: gateway.key, mode: "json", seconds });
    const sse = await driveOn(site, booted, { key: gateway.key, mode: "sse", seconds });
    await site.processes.end(booted.child);
    if ([json, sse].every(({ bad, answers }) => bad <= answers * BAD_SHARE))
      return { request: json.cpu, chunk: sse.cpu };
    sample = json.sample || sse.sample;
  }
  throw new Error(
    `the machine is too busy to measure a gateway (${sample}): give --gateway-request and --gateway-chunk, as bench:load shows them`,
  );
}
