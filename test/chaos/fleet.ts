import type { Agent } from "node:http";
import { type GatewayProcess, ready } from "../e2e/support/process.ts";
import { createAgent } from "./client.ts";
import type { Life } from "./evidence.ts";
import { ADMIN_TOKEN, type Site } from "./site.ts";

/** A gateway process that takes requests, or did. */
export interface Running {
  /** Of `Fleet.lives`. */
  readonly life: number;
  readonly origin: string;
  readonly agent: Agent;
}

interface Member {
  readonly gateway: GatewayProcess;
  readonly slot: number;
  readonly startedAt: number;
  readonly agent: Agent;
  signalledAt: number | null;
  end: Life["end"];
}

/** Several gateways with one configuration and one store, of which some are down at times. */
export class Fleet {
  readonly #site: Site;
  readonly #all: Member[] = [];
  readonly #up: (Member | null)[];

  constructor(site: Site, slots: number) {
    this.#site = site;
    this.#up = Array.from({ length: slots }, () => null);
  }

  async start(slot: number): Promise<void> {
    const startedAt = Date.now();
    const gateway = await ready(this.#site.gateway("serve"));
    const member = { gateway, slot, startedAt, agent: createAgent(), signalledAt: null, end: null };
    this.#all.push(member);
    this.#up[slot] = member;
  }

  startAll(): Promise<unknown> {
    return Promise.all(this.#up.map((_, slot) => this.start(slot)));
  }

  /** The one in a slot, or another one while it is down; null while all are. */
  pick(slot: number): Running | null {
    const order = this.#up.map((_, index) => this.#up[(slot + index) % this.#up.length]);
    const member = order.find((one) => one && !one.gateway.child.ended);
    if (!member) return null;
    return { life: this.#all.indexOf(member), origin: member.gateway.origin, agent: member.agent };
  }

  /** SIGKILL. @returns the name by which the store knows it; null when the slot is empty. */
  async kill(slot: number): Promise<string | null> {
    const member = this.#take(slot);
    if (!member) return null;
    member.signalledAt = Date.now();
    member.end = "killed";
    await member.gateway.stop("SIGKILL");
    return instanceOf(member.gateway);
  }

  /** SIGTERM: what runs there ends first. */
  async stop(slot: number): Promise<void> {
    const member = this.#take(slot);
    if (!member) return;
    member.signalledAt = Date.now();
    member.end = "stopped";
    await member.gateway.stop("SIGTERM");
  }

  stopAll(): Promise<unknown> {
    return Promise.all(this.#up.map((_, slot) => this.stop(slot)));
  }

  /** Has every gateway read its configuration again. @returns whether all took it. */
  async reload(): Promise<boolean> {
    const all = await Promise.all(
      this.#live().map(({ gateway }) =>
        ask(gateway, "/admin/reload", "POST").then(
          ({ status }) => status === 200,
          // Killed meanwhile.
          () => true,
        ),
      ),
    );
    return all.every(Boolean);
  }

  /** A metric of every gateway that is up. */
  async metric(name: string): Promise<readonly number[]> {
    const texts = await Promise.all(this.#live().map(async ({ gateway }) => (await ask(gateway, "/metrics")).text()));
    return texts.map((text) => {
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
    });
  }

  /** All that ever ran here, in the order of `Running.life`, once all have ended. */
  async lives(): Promise<readonly Life[]> {
    return Promise.all(
      this.#all.map(async ({ gateway, slot, startedAt, signalledAt, end }) => {
        const { code, signal, stdout, stderr } = await gateway.child.exited;
        return { slot, startedAt, signalledAt, end, exit: { code, signal }, log: `${stdout}${stderr}` };
      }),
    );
  }

  /** The store's names of those that have ended. */
  ended(): readonly string[] {
    return this.#all.flatMap(({ end, gateway }) => (end === null ? [] : [instanceOf(gateway)]));
  }

  #live(): readonly Member[] {
    return this.#up.filter((member) => member !== null && !member.gateway.child.ended) as Member[];
  }

  #take(slot: number): Member | null {
    const member = this.#up[slot] ?? null;
    this.#up[slot] = null;
    return member;
  }
}

function ask({ admin }: GatewayProcess, path: string, method = "GET"): Promise<Response> {
  return fetch(`${admin}${path}`, { method, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
}

function instanceOf({ child }: GatewayProcess): string {
  return /"instance":"([^"]+)"/.exec(child.stderr)?.[1] ?? "";
}
