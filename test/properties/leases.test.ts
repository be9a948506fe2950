import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeUnavailable } from "../../src/kit/index.ts";
import type { Connection, RedisConnection } from "../../src/store/redis/connection.ts";
import { Unanswered } from "../../src/store/redis/client.ts";
import { createKeys } from "../../src/store/redis/scripts.ts";
import { LEASE_MS } from "../../src/store/redis/leases.ts";
import type { RedisStore } from "../../src/store/redis/store.ts";
import { through } from "../store/redis/accounts-on.ts";
import { OPEN, RECORD, START, admission, unique } from "../store/support.ts";
import { type RedisServer, describeRedis, startRedis } from "../support/redis.ts";
import { connect, instanceOn, withClock } from "./instances.ts";
import { inLanes } from "./lanes.ts";
import { LeaseModel, type LeasedRequest, sum } from "./lease-model.ts";
import { PATIENCE } from "./runs.ts";

const PLACES = 3;
const STREAMS = 2;

/** One process. */
interface Process {
  readonly name: string;
  readonly store: RedisStore;
  /** Its next answer is lost: with the command, or on the way back. */
  loses: "command" | "answer" | null;
}

interface Real {
  readonly server: Connection;
  readonly prefix: string;
  readonly userId: string;
  readonly time: { now: number };
  /** The living. */
  readonly processes: Process[];
  readonly closed: RedisStore[];
}

type Command = fc.AsyncCommand<LeaseModel, Real>;

function command(what: string, work: (model: LeaseModel, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await work(model, real);
      await compare(model, real);
    },
    toString: () => what,
  };
}

async function compare(model: LeaseModel, { processes, userId, time }: Real): Promise<void> {
  const [user, ...running] = await Promise.all([
    processes[0]!.store.findUser(userId),
    ...processes.map(({ store }) => store.running(userId)),
  ]);
  const { balance, held } = user!;
  expect(balance).toBe(model.balance);
  if (!model.isStale) expect(held).toBe(sum(model.reserved));
  for (const [index, { name }] of processes.entries()) {
    const expected = model.running(name, time.now);
    const streams = expected.filter(({ admission }) => admission.stream).length;
    expect(running[index]).toEqual({ requests: expected.length, streams, held: sum(expected) });
  }
}

interface Asked {
  readonly stream: boolean;
  readonly hold: bigint;
  readonly enforce: boolean;
  /** null: given back. */
  readonly charge: bigint | null;
}

const admit = (at: number, { stream, hold, enforce, charge }: Asked, loses: Process["loses"]): Command =>
  command(`admit at ${at} ${stream ? "a stream " : ""}${hold} ${charge}, loses ${loses}`, async (model, real) => {
    const process = real.processes[at]!;
    const { userId, time } = real;
    const limits = { ...OPEN, streams: STREAMS };
    const asked = admission(userId, { limits, stream, hold, enforceCredits: enforce });
    const giveBack = charge === null;
    const settlement = { id: asked.id, userId, giveBack, charge: charge ?? 0n, record: giveBack ? null : RECORD };
    process.loses = loses;
    const answer = await process.store.admit(asked).catch((error: unknown) => {
      if (loses === null) throw error;
      return null;
    });
    if (loses === "command") return;
    const refusal = model.admit(process.name, { admission: asked, settlement }, time.now, loses === null);
    if (answer) expect(answer.ok ? null : answer.refusal).toBe(refusal);
  });

const renew = (at: number): Command =>
  command(`renew at ${at}`, async (model, { processes, time }) => {
    const { name, store } = processes[at]!;
    await store.renew();
    model.renew(name, time.now);
  });

/** What its owner may yet settle nobody else does; once it has, or died, others repeat it from its journal. */
const settle = (at: number, which: number): Command =>
  command(`settle ${which} at ${at}`, async (model, { processes }) => {
    const request = model.requests[which % Math.max(1, model.requests.length)];
    if (!request) return;
    const by = processes[at]!;
    const holder = request.isHeld ? processes.find(({ name }) => name === request.owner)! : by;
    await holder.store.settle(request.settlement);
    model.settle(holder.name, request);
  });

/** Without a word; another one starts in its place. */
const die = (at: number): Command =>
  command(`die at ${at}`, async (model, real) => {
    const [process] = real.processes.splice(at, 1, await start(real));
    real.closed.push(process!.store);
    model.die(process!.name);
    model.hear(real.processes[at]!.name);
  });

const bury = (at: number, which: number): Command =>
  command(`bury ${which} at ${at}`, async (model, { processes }) => {
    const name = [...model.dead][which % Math.max(1, model.dead.size)];
    if (name === undefined) return;
    await processes[at]!.store.markInstanceDead(name);
    model.bury(processes[at]!.name, name);
  });

const pass = (milliseconds: number): Command =>
  command(`pass ${milliseconds}`, async (_model, { time }) => {
    time.now += milliseconds;
  });

/** All that the server may lose while users, keys and the ledger stay. */
const forget: Command = command("forget", async (model, { server, prefix, userId }) => {
  const { windows, reservations, leases, streams, abandoned, dead } = createKeys(prefix);
  await server.call("DEL", ...[windows, reservations, leases, streams, abandoned].map((key) => key(userId)), dead);
  model.forget();
});

const forgetScripts: Command = command("forget scripts", async (_model, { server }) => {
  await server.call("SCRIPT", "FLUSH");
});

const kill = (at: number): Command =>
  command(`kill at ${at}`, async (model, { processes, userId, time }) => {
    const { streams } = await processes[at]!.store.stopStreams(userId);
    expect(streams).toBe(model.stop(time.now));
  });

const at = fc.nat(PLACES - 1);
const which = fc.nat(15);
const ASKED: fc.Arbitrary<Asked> = fc.record({
  stream: fc.boolean(),
  hold: fc.bigInt({ min: 0n, max: 30n }),
  enforce: fc.nat(3).map((one) => one > 0),
  charge: fc.option(fc.bigInt({ min: 0n, max: 20n }), { nil: null, freq: 4 }),
});

const COMMANDS = fc.commands(
  [
    fc.tuple(at, ASKED, fc.constant(null)).map((args) => admit(...args)),
    fc.tuple(at, ASKED, fc.constant(null)).map((args) => admit(...args)),
    fc.tuple(at, ASKED, fc.constantFrom(null, "command", "answer")).map((args) => admit(...args)),
    at.map(renew),
    at.map(renew),
    fc.tuple(at, which).map((args) => settle(...args)),
    fc.tuple(at, which).map((args) => settle(...args)),
    at.map(die),
    fc.tuple(at, which).map((args) => bury(...args)),
    fc.constantFrom(1, LEASE_MS / 4, LEASE_MS / 2, LEASE_MS - 1, LEASE_MS).map(pass),
    fc.oneof({ weight: 3, arbitrary: fc.constant(forget) }, { weight: 1, arbitrary: fc.constant(forgetScripts) }),
    at.map(kill),
  ],
  { size: "max", maxCommands: 25 },
);

async function start({ server, prefix }: Pick<Real, "server" | "prefix">): Promise<Process> {
  const name = unique("process");
  const way = through(server, async (what, go) => {
    const loses = what === "admit" ? process.loses : null;
    if (loses !== null) process.loses = null;
    const answer = loses === "command" ? null : await go();
    if (loses !== null) throw storeUnavailable(new Unanswered("lost"));
    return answer;
  });
  const store = instanceOn(way, { prefix, instance: name, asks: true });
  const process: Process = { name, store, loses: null };
  // Behind what it begins with.
  await store.ping();
  return process;
}

/** When nobody says a word any more, everything goes by itself; what is known of it can still be charged, once. */
async function end(model: LeaseModel, real: Real): Promise<void> {
  const { server, prefix, userId, time } = real;
  for (let at = 0; at < PLACES; at++) await die(at).run(model, real);
  time.now += LEASE_MS;
  const [{ name, store }] = real.processes as [Process, ...Process[]];
  const last = admission(userId);
  expect(await store.admit(last)).toMatchObject({ ok: true });
  const settlement = { id: last.id, userId, giveBack: true, charge: 0n, record: null };
  expect(model.admit(name, { admission: last, settlement }, time.now, true)).toBe(null);
  await store.settle(settlement);
  model.settle(name, model.requests.at(-1)!);
  await compare(model, real);
  const { user, reservations, leases, streams } = createKeys(prefix);
  expect(await server.call("EXISTS", ...[reservations, leases, streams].map((key) => key(userId)))).toBe(0);
  expect(await server.call("HGET", user(userId), "available")).toBe(String(model.balance));

  const late = (request: LeasedRequest) => async () => {
    await store.settle(request.settlement);
    model.settle(name, request);
  };
  for (const settle of model.requests.map(late)) await settle();
  for (const settle of model.requests.map(late)) await settle();
  await compare(model, real);
  const entries = await store.ledger(userId);
  expect(new Set(entries.map(({ id }) => id)).size, "once per id").toBe(entries.length);
  const charged = entries.filter(({ outcome }) => outcome === RECORD.outcome);
  expect(new Map(charged.map(({ id, charge }) => [id, charge]))).toEqual(model.charges);
  expect(charged.length).toBe(model.charges.size);
}

describeRedis("on Redis", () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedis();
    connection = await connect(server.url);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  async function setup(): Promise<Real> {
    const time = { now: START };
    const timed = withClock(connection, () => time.now);
    const prefix = `${unique("leases")}:`;
    const common = { server: timed, prefix };
    const processes = await Promise.all(Array.from({ length: PLACES }, () => start(common)));
    return { ...common, userId: unique("user"), time, processes, closed: [] };
  }

  test("any history of leases is the model's, and nothing of it stays", { timeout: PATIENCE }, async () => {
    const all = fc.asyncProperty(fc.bigInt({ min: 0n, max: 80n }), COMMANDS, async (credits, commands) => {
      const real = await setup();
      const { userId } = real;
      const model = new LeaseModel(credits, LEASE_MS);
      try {
        const email = `${userId}@example.com`;
        await real.processes[0]!.store.addUser({ id: userId, email, tier: "Free", credits });
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await end(model, real);
      } finally {
        for (const store of [...real.closed, ...real.processes.map(({ store }) => store)]) await store.close();
      }
    });
    await expect(inLanes(all)).resolves.toBeUndefined();
  });
});
