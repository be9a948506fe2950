import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { BreakerState, Snapshot } from "../kit/index.ts";
import type { UpstreamHealth } from "../upstream/state/health.ts";
import type { Generation } from "./generation.ts";

/** An upstream as `GET /admin/upstreams` shows it. */
export interface UpstreamState {
  readonly breaker: BreakerState;
  readonly health: UpstreamHealth["state"];
  readonly latency_ms: number;
  readonly can_serve: boolean;
}

export interface ProcessStateOptions {
  /** Of the start; serves as the settings in force until the first generation is built from it. */
  readonly snapshot: Snapshot;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** What this process serves and does. Parts that outlive a reload read it at each use; a reload and a stop change it. */
export class ProcessState {
  /** Names this process among all that share a store, for as long as it lives: `<host>-<pid>-<random>`. */
  readonly instance = `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
  readonly startedAt: number;
  draining = false;
  /** Streamed answers under way; set by the listener, which is opened last. */
  activeStreams: () => number = () => 0;
  readonly #first: Snapshot;
  #generation: Generation | null = null;

  constructor({ snapshot, startedAt }: ProcessStateOptions) {
    this.#first = snapshot;
    this.startedAt = startedAt;
  }

  /** The settings in force. */
  get snapshot(): Snapshot {
    return this.#generation?.snapshot ?? this.#first;
  }

  /** @throws Error before the first one. */
  get generation(): Generation {
    if (this.#generation === null) throw new Error("no generation serves yet");
    return this.#generation;
  }

  /** Requests that arrive from now on are served by it. */
  activate(generation: Generation): void {
    this.#generation = generation;
  }

  /** Every upstream of the configuration in force, by name. */
  upstreams(): Readonly<Record<string, UpstreamState>> {
    return Object.fromEntries(this.#upstreams());
  }

  *breakers(): Iterable<readonly [string, BreakerState]> {
    for (const [name, { breaker }] of this.#upstreams()) yield [name, breaker];
  }

  *health(): Iterable<readonly [string, UpstreamHealth["state"]]> {
    for (const [name, { health }] of this.#upstreams()) yield [name, health];
  }

  *#upstreams(): Iterable<readonly [string, UpstreamState]> {
    const { snapshot, host, health } = this.generation;
    for (const name of Object.keys(snapshot.upstreams)) {
      const { state, latencyMs, canServe } = health(name);
      const breaker = host.breaker(name).state;
      yield [name, { breaker, health: state, latency_ms: latencyMs, can_serve: canServe }];
    }
  }
}
