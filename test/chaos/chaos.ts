import { setTimeout as sleep } from "node:timers/promises";
import { check, type Verdict } from "./checker.ts";
import { send } from "./client.ts";
import { Disturber } from "./disturber.ts";
import type { Evidence, Seen, Setup, UserEvidence } from "./evidence.ts";
import { Fleet } from "./fleet.ts";
import { makePlan, type Plan, type RequestPlan } from "./plan.ts";
import { RunningStreams } from "./running.ts";
import { Site, type SiteUser } from "./site.ts";
import { StallWatch } from "./stalls.ts";
import { ScriptedUpstream } from "./upstream.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly requests: number;
  readonly instances: number;
  /** Requests a second, as long as no more than `together` are under way. */
  readonly rate: number;
  readonly together: number;
  readonly fsync: "always" | "everysec";
  /** Frees what dead processes held instead of waiting for their leases. */
  readonly bury: boolean;
  readonly setup: Setup;
  /** Told how it goes. */
  readonly say: (text: string) => void;
}

export interface Outcome {
  readonly plan: Plan;
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  readonly done: ReadonlyMap<string, number>;
  /** The most streams at a time that the upstream saw, by user. */
  readonly mostStreams: ReadonlyMap<number, number>;
  readonly seconds: number;
}

const MULTIPLIER = 100;
/** Milliseconds after which the lease of a process that was killed has ended. */
const LEASE = 61_000;
/** Milliseconds that the last settlements may take. */
const QUIET = 90_000;
/** Requests between two words about how it goes. */
const TELL = 5_000;

/** One whole run: the plan carried out, quiet awaited, everything joined. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const startedAt = performance.now();
  const { setup } = options;
  const plan = makePlan(options.seed, { ...options, workers: setup.workers });
  const running = new RunningStreams((user) => plan.tiers[plan.users[user]!.tier].streams);
  const upstream = await ScriptedUpstream.start(new Map(plan.requests.map((one) => [one.id, one])), running);
  const site = await Site.open({ tiers: plan.tiers, upstream: upstream.origin, silence: "2s", setup }, options.fsync);
  const watch = new StallWatch(site.redis.client);
  try {
    site.write("gateway.yaml", site.configuration(MULTIPLIER));
    const users = await site.addUsers(plan.users);
    const fleet = new Fleet(site, options.instances);
    await fleet.startAll();
    const credits = plan.users.map((user) => user.credits);
    const disturber = new Disturber(site, fleet, users, credits, MULTIPLIER);
    const { seen, shown } = await carryOut(plan, options, { fleet, disturber, users, secrets: site.secrets });
    await disturber.settled();
    options.say("quiet is awaited");
    const journal = await quiet(site, fleet, users, options);
    options.say("the gateways are ended");
    await fleet.stopAll();
    const evidence: Evidence = {
      setup,
      plan: plan.requests,
      users: await collect(plan, site, users, disturber),
      seen,
      served: upstream.served,
      excesses: running.excesses,
      lives: await fleet.lives(),
      pricings: disturber.pricings,
      disturbed: disturber.disturbed,
      stalls: watch.stalls,
      journal,
      secrets: site.secrets,
      shown,
    };
    const seconds = (performance.now() - startedAt) / 1_000;
    return { plan, evidence, verdict: check(evidence), done: disturber.done, mostStreams: running.most, seconds };
  } finally {
    watch.stop();
    await site.close();
    await upstream.close();
  }
}

interface Parts {
  readonly fleet: Fleet;
  readonly disturber: Disturber;
  readonly users: readonly SiteUser[];
  readonly secrets: ReadonlyMap<string, string>;
}

async function carryOut({ requests, disturbances }: Plan, options: ChaosOptions, parts: Parts) {
  const { fleet, disturber, users, secrets } = parts;
  const { rate, together, say } = options;
  const seen: Seen[] = [];
  const shown: string[] = [];
  const under = new Set<Promise<void>>();
  const planned = [...disturbances];
  const one = async (plan: RequestPlan): Promise<void> => {
    const { keys } = users[plan.user]!;
    const key = keys.length - 1;
    const gateway = fleet.pick(plan.slot);
    const sentAt = Date.now();
    const base = { id: plan.id, user: plan.user, key, stream: plan.stream, sentAt };
    if (gateway === null) {
      seen.push({ ...base, life: -1, endedAt: sentAt, ending: "unreached", status: 0, code: "", fault: "" });
      return;
    }
    const { text, ...observed } = await send(gateway.origin, keys[key]!.secret, plan, gateway.agent);
    for (const [name, secret] of secrets) if (text.includes(secret)) shown.push(`${name}: ${plan.id}`);
    seen.push({ ...base, life: gateway.life, endedAt: Date.now(), ...observed });
  };
  let from = performance.now();
  for (const [index, plan] of requests.entries()) {
    while (planned[0] && planned[0].at <= index) disturber.begin(planned.shift()!);
    const behind = from + (index / rate) * 1_000 - performance.now();
    if (behind > 1) await sleep(behind);
    while (under.size >= together) {
      const waited = performance.now();
      await Promise.race(under);
      // What could not be sent meanwhile is not made up for in a burst.
      from += performance.now() - waited;
    }
    const doing = one(plan).finally(() => under.delete(doing));
    under.add(doing);
    if (index > 0 && index % TELL === 0) say(`${index} requests sent, ${under.size} under way`);
  }
  await Promise.all(under);
  return { seen, shown };
}

/** Waits until nothing runs and every settlement is in the store. @returns what never came there. */
async function quiet(
  site: Site,
  fleet: Fleet,
  users: readonly SiteUser[],
  { bury, say }: ChaosOptions,
): Promise<Evidence["journal"]> {
  const dead = fleet.ended();
  if (bury) await site.onStore((store) => Promise.all(dead.map(async (instance) => store.markInstanceDead(instance))));
  else if (dead.length > 0) await sleep(LEASE);
  const until = performance.now() + QUIET;
  const sum = async (state: string) =>
    (await fleet.metric(`gateway_settlements{state="${state}"}`)).reduce((most, one) => Math.max(most, one), 0);
  const busy = () =>
    site.onStore(async (store) => {
      const all = await Promise.all(users.map(async ({ id }) => store.running(id)));
      return all.some(({ requests }) => requests > 0);
    });
  while (performance.now() < until && ((await sum("pending")) > 0 || (await busy()))) await sleep(200);
  say("what is left is given up");
  // What dead processes held is freed by the next admission of its user.
  await reap(site, users);
  return { pending: await sum("pending"), rejected: await sum("rejected") };
}

/** Admits and gives back, without conditions, until nothing is held for the dead. */
async function reap(site: Site, users: readonly SiteUser[]): Promise<void> {
  const limits = { day: null, hour: null, minute: null, streams: null };
  const nothing = { limits, units: 0, stream: false, hold: 0n, enforceCredits: false, model: "none" };
  await site.onStore(async (store) => {
    for (const { id: userId } of users) {
      for (let round = 0; round < 20 && (await store.findUser(userId))!.held !== 0n; round++) {
        const id = `reap-${userId}-${round}`;
        const { ok } = await store.admit({ id, userId, ...nothing });
        if (ok) await store.settle({ id, userId, giveBack: true, charge: 0n, record: null });
      }
    }
  });
}

async function collect(plan: Plan, site: Site, users: readonly SiteUser[], { doings }: Disturber) {
  return site.onStore(async (store) => {
    const all: UserEvidence[] = [];
    for (const [index, { id }] of users.entries()) {
      const { kind, tier } = plan.users[index]!;
      const { balance, granted, held } = (await store.findUser(id))!;
      const [running, ledger] = [await store.running(id), await store.ledger(id)];
      all.push({ kind, id, limits: plan.tiers[tier], balance, granted, held, running, ledger, ...doings[index]! });
    }
    return all;
  });
}
