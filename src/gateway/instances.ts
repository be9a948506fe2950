import { hostname } from "node:os";
import { type BreakerState, inBackground, type Log, type Store, storeUnavailable } from "../kit/index.ts";
import type { Instead, ProcessState } from "./generation.ts";
import type { GuardReport } from "./guard.ts";

/** What every instance publishes about itself for the others. */
export interface InstanceInfo {
  readonly instance: string;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly started_at: string;
  /** Of the configuration in force. */
  readonly hash: string;
  readonly generation: number;
  /** ISO 8601. */
  readonly loaded_at: string;
  readonly draining: boolean;
  /** By upstream. */
  readonly breakers: Readonly<Record<string, BreakerState>>;
  readonly health: Readonly<Record<string, string>>;
  /** Streamed answers under way. */
  readonly streams: number;
  /** Plans of which it refuses requests, being overloaded. */
  readonly shedding: readonly string[];
  /** Of the latest changed files that served a share of the users first. */
  readonly guards?: readonly GuardReport[];
  /** Left out: it serves the file as it is, or the file is bad. */
  readonly instead?: Instead;
}

/** This process as it is now. */
export function instanceInfo(state: ProcessState): InstanceInfo {
  const { instance, startedAt, draining, generation } = state;
  const { reports: guards = [], instead = null } = state.reloads ?? {};
  return {
    instance,
    host: hostname(),
    pid: process.pid,
    started_at: new Date(startedAt).toISOString(),
    hash: generation.snapshot.hash,
    generation: generation.number,
    loaded_at: new Date(generation.loadedAt).toISOString(),
    draining,
    breakers: Object.fromEntries(state.breakers()),
    health: Object.fromEntries(state.health()),
    streams: state.activeStreams(),
    shedding: state.shedder?.refusedTiers ?? [],
    ...(guards.length > 0 && { guards }),
    ...(instead && { instead }),
  };
}

const PUBLISH_INTERVAL_MS = 1_000;
/** An entry expires after this time: a few publications may be lost. */
const TTL_MS = 4_000;
/** The shortest time that the store takes: an instance that leaves is gone at once. */
const LEAVE_TTL_MS = 1;

export interface InstanceRegistryOptions {
  readonly store: Pick<Store, "publishInstance" | "listInstances">;
  readonly self: () => InstanceInfo;
  readonly log: Log;
  readonly intervalMs?: number;
}

/** Publishes this process through the store and reads the others. No request waits for it. */
export class InstanceRegistry {
  readonly #options: InstanceRegistryOptions;
  #timer: NodeJS.Timeout | null = null;
  #publishing: Promise<void> | null = null;
  #warned = false;

  constructor(options: InstanceRegistryOptions) {
    this.#options = options;
  }

  /** Publishes now and every second from now on. */
  start(): void {
    const publish = (): void => inBackground(this.#options.log, "publishing this instance", this.#publishOnce());
    this.#timer = setInterval(publish, this.#options.intervalMs ?? PUBLISH_INTERVAL_MS).unref();
    publish();
  }

  /** Publishes now what would be published within a second. */
  async publish(): Promise<void> {
    // The publication under way may have been made before the change that this one is for.
    await this.#publishing;
    await this.#publishOnce();
  }

  /** Every other instance of the store; null while it does not answer. */
  async others(): Promise<readonly InstanceInfo[] | null> {
    try {
      const own = this.#options.self().instance;
      return (await this.all()).filter(({ instance }) => instance !== own);
    } catch {
      return null;
    }
  }

  /** Every instance of the store, this one too once it is published. @throws what the store throws. */
  async all(): Promise<readonly InstanceInfo[]> {
    return [...(await this.#options.store.listInstances()).values()].flatMap(parseInstance);
  }

  /** What the others have reported of their guards, by instance. @throws what the store throws. */
  async guards(): Promise<ReadonlyMap<string, readonly GuardReport[]>> {
    const others = await this.others();
    if (others === null) throw storeUnavailable(new Error("the other instances are not known"));
    return new Map(
      others.map(({ instance, guards }) => [instance, Array.isArray(guards) ? guards.filter(isReport) : []]),
    );
  }

  /** Leaves the list and stops. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    // Without waiting for a publication under way: a store that hangs must not hold the stop, and it keeps the order.
    await this.#send(LEAVE_TTL_MS);
  }

  /** One at a time: a store that is slower than the interval must not be sent more and more. */
  #publishOnce(): Promise<void> {
    return (this.#publishing ??= this.#send(TTL_MS).finally(() => (this.#publishing = null)));
  }

  async #send(ttlMs: number): Promise<void> {
    const { store, self, log } = this.#options;
    try {
      const info = self();
      await store.publishInstance(info.instance, JSON.stringify(info), ttlMs);
      this.#warned = false;
    } catch (error) {
      if (!this.#warned) log.warn({ err: error }, "instance could not be announced; other instances do not see it");
      this.#warned = true;
    }
  }
}

/** One of another shape cannot be added up. */
function isReport(value: unknown): value is GuardReport {
  const { base, candidate, decision, counts } = (value ?? {}) as Partial<GuardReport>;
  const isWhole = typeof counts?.base === "object" && typeof counts.candidate === "object";
  return isWhole && typeof base === "string" && typeof candidate === "string" && decision !== undefined;
}

/** Another version of the gateway may publish another shape: an entry without the main fields is left out. */
function parseInstance(text: string): readonly InstanceInfo[] {
  try {
    const value = JSON.parse(text) as Partial<InstanceInfo> | null;
    if (typeof value?.instance !== "string" || typeof value.hash !== "string") return [];
    const { breakers = {}, health = {}, draining = false, shedding = [] } = value;
    return [{ ...(value as InstanceInfo), breakers, health, draining, shedding }];
  } catch {
    return [];
  }
}
