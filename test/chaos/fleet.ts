import type { Agent } from "node:http";
import { type GatewayProcess, ready } from "../e2e/support/process.ts";
import { createAgent } from "./client.ts";
import type { Life } from "./evidence.ts";
import { ADMIN_TOKEN, type Site } from "./site.ts";

/** Milliseconds for a start: of several workers, one after the other, on a machine that is at its limit. */
const START_PATIENCE = 180_000;
/** Milliseconds for an answer of an admin listener. */
const PATIENCE = 30_000;

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
  readonly killings: number[];
  signalledAt: number | null;
  outlived: number;
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

  /** Nothing when one is there already: what was killed may have been replaced by another disturbance. */
  async start(slot: number): Promise<void> {
    if (this.#up[slot]) return;
    const startedAt = Date.now();
    const gateway = await ready(this.#site.gateway("serve"), START_PATIENCE);
    const none = { killings: [], signalledAt: null, outlived: 0, end: null };
    const member = { gateway, slot, startedAt, agent: createAgent(), ...none };
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

  /** SIGKILL, to workers too. @returns the names by which the store knows it; null when the slot is empty. */
  async kill(slot: number): Promise<readonly string[] | null> {
    const member = this.#take(slot);
    if (!member) return null;
    const workers = workersOf(member.gateway);
    const ended = end(member, "SIGKILL");
    for (const pid of workers) killProcess(pid);
    await ended;
    return instancesOf(member.gateway);
  }

  /** SIGKILL to the supervisor alone: what its workers run ends first. @returns as `kill`. */
  async killSupervisor(slot: number): Promise<readonly string[] | null> {
    const member = this.#take(slot);
    if (!member) return null;
    await end(member, "SIGKILL");
    return instancesOf(member.gateway);
  }

  /** SIGKILL to one worker of an instance, or to all of them at once. */
  killWorkers(slot: number, place: number | "all"): void {
    const member = this.#up[slot];
    if (!member) return;
    const workers = workersOf(member.gateway);
    for (const pid of place === "all" ? workers : workers.slice(place, place + 1)) {
      member.killings.push(Date.now());
      killProcess(pid);
    }
  }

  /** SIGTERM: what runs there ends first. */
  async stop(slot: number): Promise<void> {
    const member = this.#take(slot);
    if (!member) return;
    await end(member, "SIGTERM");
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
      this.#all.map(async ({ gateway, slot, startedAt, killings, signalledAt, outlived, end }) => {
        const { code, signal, stdout, stderr } = await gateway.child.exited;
        return {
          slot,
          startedAt,
          killings,
          signalledAt,
          outlived,
          end,
          exit: { code, signal },
          log: `${stdout}${stderr}`,
        };
      }),
    );
  }

  /** The store's names of those that have ended. */
  ended(): readonly string[] {
    return this.#all.flatMap(({ end, gateway }) => (end === null ? [] : instancesOf(gateway)));
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
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return fetch(`${admin}${path}`, { method, headers, signal: AbortSignal.timeout(PATIENCE) });
}

/** Signals it and waits until all of it has ended: workers have the same stderr as their supervisor. */
async function end(member: Member, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const at = Date.now();
  member.signalledAt = at;
  member.end = signal === "SIGKILL" ? "killed" : "stopped";
  await member.gateway.stop(signal);
  member.outlived = Date.now() - at;
}

/** The store's names of all processes that served: each says its own. */
export function instancesOf({ child }: Pick<GatewayProcess, "child">): readonly string[] {
  return [...new Set([...child.stderr.matchAll(/"instance":"([^"]+)"/g)].map(([, name = ""]) => name))];
}

/** Of a supervisor, those that live; an instance's name has its pid. */
function workersOf({ child }: GatewayProcess): readonly number[] {
  const pids = instancesOf({ child }).map((name) => Number(/-(\d+)-[0-9a-f]+$/.exec(name)?.[1]));
  return pids.filter((pid) => pid !== child.pid && isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function killProcess(pid: number): void {
  // It may have ended a moment ago.
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
}
