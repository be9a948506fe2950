import { createKey } from "../../src/accounts/api-keys.ts";
import { isStoreUnavailable, type Store } from "../../src/kit/index.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Disturbance, DisturbanceKind } from "./disturbances.ts";
import type { Period, Pricing } from "./evidence.ts";
import type { Fleet } from "./fleet.ts";
import { Mutex } from "./mutex.ts";
import type { Site, SiteUser } from "./site.ts";

/** Milliseconds in which every process has heard of a file that was written. */
const HEARD = 5_000;
/** Milliseconds between tries, and how many: a worker that has just been killed takes nothing over. */
const TRY_AGAIN = 500;
const MOST_TRIES = 10;
const GIFT = 2_000_000n;

/** What a user did, as far as it bears on what others see. */
export interface Doings {
  readonly revoked: (Period | null)[];
  readonly stops: Period[];
  readonly gifts: { least: bigint; most: bigint };
}

/** Does what the plan says goes wrong, and keeps when. */
export class Disturber {
  readonly done = new Map<DisturbanceKind, number>();
  readonly disturbed: Period[] = [];
  readonly pricings: Pricing[];
  readonly doings: readonly Doings[];
  readonly #site: Site;
  readonly #fleet: Fleet;
  readonly #users: readonly SiteUser[];
  /** One thing after the other, of the store and of the files. */
  readonly #store = new Mutex();
  readonly #files = new Mutex();
  readonly #under = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];

  /** @param multiplier that the gateways were started with, in hundredths. */
  constructor(site: Site, fleet: Fleet, users: readonly SiteUser[], credits: readonly bigint[], multiplier: number) {
    this.#site = site;
    this.#fleet = fleet;
    this.#users = users;
    this.pricings = [{ from: 0, until: Infinity, multiplier }];
    this.doings = credits.map((amount) => ({ revoked: [null], stops: [], gifts: { least: amount, most: amount } }));
  }

  /** Begins it; `settled` waits for its end. */
  begin(disturbance: Disturbance): void {
    const doing = this.#do(disturbance)
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#under.delete(doing));
    this.#under.add(doing);
  }

  /** @throws what could not be done. */
  async settled(): Promise<void> {
    while (this.#under.size > 0) await Promise.all(this.#under);
    if (this.#failures.length > 0) throw new AggregateError(this.#failures, "the plan could not be carried out");
  }

  async #do(disturbance: Disturbance): Promise<void> {
    switch (disturbance.kind) {
      case "kill":
        await this.#kill(disturbance.slot, disturbance.down, disturbance.bury);
        break;
      case "roll":
        await this.#files.alone(async () => {
          await this.#fleet.stop(disturbance.slot);
          await this.#fleet.start(disturbance.slot);
        });
        break;
      case "kill_worker":
        this.#fleet.killWorkers(disturbance.slot, disturbance.place);
        break;
      case "kill_workers":
        this.#fleet.killWorkers(disturbance.slot, "all");
        break;
      case "kill_supervisor":
        await this.#killSupervisor(disturbance.slot, disturbance.down);
        break;
      case "redis_pause":
        await this.#disturb(async ({ redis }) => {
          redis.pause();
          await sleep(disturbance.length);
          redis.resume();
        });
        break;
      case "redis_kill":
        await this.#disturb(async ({ redis }) => {
          await redis.kill();
          await sleep(disturbance.down);
          await redis.restart();
        });
        break;
      case "script_flush":
        await this.#disturb(async ({ redis }) => void (await redis.client.call("SCRIPT", "FLUSH")));
        break;
      case "client_kill":
        await this.#disturb(async ({ redis }) => {
          await redis.client.call("CLIENT", "KILL", "TYPE", "normal");
          await redis.client.call("CLIENT", "KILL", "TYPE", "pubsub");
        });
        break;
      case "reload":
        await this.#files.alone(() => this.#reload(disturbance.multiplier, disturbance.bad));
        break;
      case "kill_streams":
        await this.#killStreams(disturbance.user);
        break;
      case "revoke":
        await this.#revoke(disturbance.user);
        break;
      case "change_tier":
        await this.#changeTier(disturbance.user);
        break;
      case "grant":
        await this.#grant(disturbance.user);
        break;
    }
    this.done.set(disturbance.kind, (this.done.get(disturbance.kind) ?? 0) + 1);
  }

  async #kill(slot: number, down: number, bury: boolean): Promise<void> {
    const instances = await this.#fleet.kill(slot);
    if (instances === null) return;
    await sleep(down);
    await this.#files.alone(() => this.#fleet.start(slot));
    for (const instance of bury ? instances : []) await this.#persist((store) => store.markInstanceDead(instance));
  }

  async #killSupervisor(slot: number, down: number): Promise<void> {
    if ((await this.#fleet.killSupervisor(slot)) === null) return;
    await sleep(down);
    await this.#files.alone(() => this.#fleet.start(slot));
  }

  #disturb(work: (site: Site) => Promise<void>): Promise<void> {
    return this.#store.alone(async () => {
      const from = Date.now();
      await work(this.#site);
      this.disturbed.push({ from, until: Date.now() });
    });
  }

  async #reload(multiplier: number, bad: boolean): Promise<void> {
    const last = this.pricings.at(-1)!;
    if (bad) {
      this.#site.replace("gateway.yaml", "version: 1\nmodels: {");
      await this.#fleet.reload();
      this.#site.replace("gateway.yaml", this.#site.configuration(last.multiplier));
      await this.#mustReload();
      return;
    }
    this.pricings.push({ from: Date.now(), until: Infinity, multiplier });
    this.#site.replace("gateway.yaml", this.#site.configuration(multiplier));
    await this.#mustReload();
    this.pricings[this.pricings.length - 2] = { ...last, until: Date.now() + HEARD };
  }

  async #mustReload(): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (await this.#fleet.reload()) return;
      await sleep(TRY_AGAIN);
    }
    throw new Error("a gateway refused a configuration that is good");
  }

  async #killStreams(user: number): Promise<void> {
    const gateway = this.#fleet.pick(user);
    const key = this.#users[user]!.keys.at(-1)!;
    const from = Date.now();
    if (gateway) {
      const headers = { authorization: `Bearer ${key.secret}` };
      await fetch(`${gateway.origin}/v1/user/streams/kill`, { method: "POST", headers }).then(
        (response) => response.text(),
        () => "",
      );
    }
    this.doings[user]!.stops.push({ from, until: Date.now() });
  }

  /** A new key, then the old one goes. */
  async #revoke(user: number): Promise<void> {
    const { id, keys } = this.#users[user]!;
    const { revoked } = this.doings[user]!;
    const { body } = await this.#persist((store) => createKey(store, { userId: id, name: `key ${keys.length}` }));
    revoked.push(null);
    keys.push({ id: body.id, secret: body.key });
    const old = keys.length - 2;
    const from = Date.now();
    revoked[old] = { from, until: Infinity };
    await this.#persist((store) => store.revokeKey(keys[old]!.id));
    revoked[old] = { from, until: Date.now() };
  }

  async #changeTier(user: number): Promise<void> {
    const { id } = this.#users[user]!;
    await this.#persist(async (store) => {
      const { tier } = (await store.findUser(id))!;
      await store.setTier(id, tier === "Open" ? "Other" : "Open");
    });
  }

  /** Not repeated: it may have been done when its answer was lost. */
  async #grant(user: number): Promise<void> {
    const { gifts } = this.doings[user]!;
    gifts.most += GIFT;
    const granted = await this.#site
      .onStore((store) => store.grant(this.#users[user]!.id, GIFT))
      .catch((error: unknown) => {
        if (!isStoreUnavailable(error)) throw error;
        return null;
      });
    if (granted) gifts.least += GIFT;
  }

  /** Until the store has done it. */
  async #persist<T>(work: (store: Store) => T | Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#site.onStore(work);
      } catch (error) {
        if (!isStoreUnavailable(error)) throw error;
      }
      await sleep(100);
    }
  }
}
