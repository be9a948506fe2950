import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { classesOf, type Log, ShedRefusal, type ShedSettings, type Snapshot } from "../kit/index.ts";

/** How a process does. */
export interface Load {
  /** Milliseconds by which the event loop was late: the 99th percentile of the last second. */
  readonly loopDelay: number;
  /** Bytes. */
  readonly heapUsed: number;
  /** Bytes at which V8 ends the process. */
  readonly heapLimit: number;
}

/** How much of a bound may be used when requests are let in again; in between nothing changes. */
const CALM = { loopDelay: 0.5, heap: 0.9 };
/** A class is let in again in so many parts, one each calm second. */
const PARTS = 10;
/** Seconds that the requests of a refused class have to end, before a late loop makes the next class be refused. */
const PATIENCE_SECONDS = 3;
/** What makes refusing the next class worth it: so many requests a second, and this many for each one refused already. */
const WORTH = { requests: 100, each: 0.5 };
/** Share of V8's heap limit beyond which the process is about to die, and with it every request. */
const LAST_RESORT = 0.95;
/** Seconds after which clients come back. They are spread, or all clients would come back together. */
const RETRY_AFTER = [2, 3, 4, 5, 6, 7, 8, 9, 10].map((seconds) => new ShedRefusal(seconds));

interface PlanClass {
  readonly tiers: readonly string[];
  /** Parts of a request that add up, request by request: a whole one is refused. */
  debt: number;
  /** Requests of this second. */
  admitted: number;
  refused: number;
}

export interface ShedderOptions {
  /** The configuration in force. */
  readonly snapshot: () => Pick<Snapshot, "tiers"> & { readonly server: Pick<Snapshot["server"], "shed"> };
  readonly log: Log;
}

/**
 * Decides which new requests an overloaded process refuses. The lowest class of plans is refused first, and whole; then a
 * tenth more of it is let in each second in which the process is calm.
 *
 * A further class is refused if that can help. When the loop is late because it refuses so many requests, refusing the
 * few of a higher class would only harm those. A full heap makes the classes be refused one by one between its bound and
 * the last resort. The highest of several classes is refused only then.
 */
export class Shedder {
  readonly #snapshot: ShedderOptions["snapshot"];
  readonly #log: Log;
  #tiers: Snapshot["tiers"] | null = null;
  #classes: readonly PlanClass[] = [];
  #byTier = new Map<string, PlanClass>();
  /** Parts that are refused, those of the lowest class first. */
  #level = 0;
  /** Seconds since a further class is refused. */
  #age = 0;
  #turn = 0;
  readonly #totals = new Map<string, number>();
  #shown = "";
  #refusedSince = 0;

  constructor({ snapshot, log }: ShedderOptions) {
    this.#snapshot = snapshot;
    this.#log = log;
  }

  /** The refusal of a request by a user of the plan; null: it is served. */
  refusal(tier: string): ShedRefusal | null {
    const snapshot = this.#snapshot();
    if (snapshot.server.shed === null) return null;
    if (snapshot.tiers !== this.#tiers) this.#classify(snapshot.tiers);
    // A plan that the configuration no longer has may call nothing anyway.
    const own = this.#byTier.get(tier) ?? this.#classes[0]!;
    own.debt += this.#partsOf(own);
    if (own.debt < PARTS) {
      own.admitted += 1;
      return null;
    }
    own.debt -= PARTS;
    own.refused += 1;
    this.#refusedSince += 1;
    const name = this.#byTier.has(tier) ? tier : own.tiers[0]!;
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + 1);
    this.#turn = (this.#turn + 1) % RETRY_AFTER.length;
    return RETRY_AFTER[this.#turn]!;
  }

  /** Once a second. */
  observe(load: Load): void {
    const { server, tiers } = this.#snapshot();
    if (tiers !== this.#tiers) this.#classify(tiers);
    if (server.shed === null) this.#level = 0;
    else this.#decide(server.shed, load);
    this.#tell(load);
    for (const one of this.#classes) one.admitted = one.refused = 0;
  }

  /** Plans of which requests are refused, the first refused first. */
  get refusedTiers(): readonly string[] {
    return this.#classes.filter((one) => this.#partsOf(one) > 0).flatMap(({ tiers }) => tiers);
  }

  /** By plan: the share of its requests that is refused, and how many were since the start. */
  *counts(): Iterable<readonly [tier: string, share: number, refused: number]> {
    const isOn = this.#snapshot().server.shed !== null;
    for (const one of this.#classes) {
      for (const tier of one.tiers) {
        const refused = this.#totals.get(tier) ?? 0;
        if (isOn || refused > 0) yield [tier, this.#partsOf(one) / PARTS, refused];
      }
    }
  }

  #classify(tiers: Snapshot["tiers"]): void {
    this.#tiers = tiers;
    const byClass = Map.groupBy(classesOf(tiers), ([, number]) => number);
    this.#classes = [...byClass]
      .toSorted(([a], [b]) => a - b)
      .map(([, members]) => ({ tiers: members.map(([name]) => name), debt: 0, admitted: 0, refused: 0 }));
    this.#byTier = new Map(this.#classes.flatMap((one) => one.tiers.map((tier) => [tier, one])));
    this.#level = Math.min(this.#level, this.#classes.length * PARTS);
  }

  #partsOf(one: PlanClass): number {
    return Math.min(PARTS, Math.max(0, this.#level - this.#classes.indexOf(one) * PARTS));
  }

  #decide(shed: ShedSettings, load: Load): void {
    const { loopDelay, heapUsed, heapLimit } = load;
    const [late, full] = [shed.loopDelay ?? Infinity, heapBound(shed, heapLimit)];
    this.#age += 1;
    if (loopDelay > late || heapUsed > full) {
      const refused = Math.ceil(this.#level / PARTS);
      const isNext = this.#level === refused * PARTS && this.#mayRefuse(refused, { full, late, load });
      if (isNext) this.#age = 0;
      this.#level = (isNext ? refused + 1 : refused) * PARTS;
    } else if (loopDelay <= late * CALM.loopDelay && heapUsed <= full * CALM.heap) {
      this.#level = Math.max(0, this.#level - 1);
    }
  }

  /** Whether the class behind those that are refused is to be refused too. */
  #mayRefuse(
    index: number,
    { full, late, load }: { readonly full: number; readonly late: number; readonly load: Load },
  ): boolean {
    const next = this.#classes[index];
    if (next === undefined) return false;
    if (index === 0) return true;
    const last = this.#classes.length - 1;
    const step = (Math.max(full, load.heapLimit * LAST_RESORT) - full) / last;
    if (load.heapUsed > full + step * index) return true;
    if (index === last || load.loopDelay <= late) return false;
    const refused = this.#classes.reduce((sum, one) => sum + one.refused, 0);
    // If nobody was refused, there is nothing to wait for.
    if (refused > 0 && this.#age < PATIENCE_SECONDS) return false;
    return next.admitted >= WORTH.requests && next.admitted >= refused * WORTH.each;
  }

  #tell({ loopDelay, heapUsed, heapLimit }: Load): void {
    const tiers = this.refusedTiers;
    const shown = tiers.join(", ");
    if (shown === this.#shown) return;
    this.#shown = shown;
    const load = {
      loop_delay_ms: Math.round(loopDelay),
      heap_bytes: heapUsed,
      heap_limit_bytes: heapLimit,
      refused: this.#refusedSince,
    };
    if (tiers.length > 0) this.#log.warn({ tiers, ...load }, "overloaded: new requests of these tiers are refused");
    else {
      this.#log.info(load, "no longer overloaded: requests of all tiers are served");
      this.#refusedSince = 0;
    }
  }
}

function heapBound({ heap }: ShedSettings, limit: number): number {
  if (heap === null) return Infinity;
  return "share" in heap ? heap.share * limit : heap.bytes;
}

const RESOLUTION_MS = 10;
const INTERVAL_MS = 1_000;
const NANOSECONDS_PER_MS = 1e6;

/** Measures the process each second while shedding is on. @returns ends it. */
export function shedBy(shedder: Shedder, isOn: () => boolean, measured?: () => Load): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const measure = (): Load => {
    const between = delays.count > 0 ? delays.percentile(99) / NANOSECONDS_PER_MS : 0;
    delays.reset();
    const { used_heap_size: heapUsed, heap_size_limit: heapLimit } = getHeapStatistics();
    // What is measured is the time between two looks: the resolution is no delay.
    return { loopDelay: Math.max(0, between - RESOLUTION_MS), heapUsed, heapLimit };
  };
  const timer = setInterval(() => {
    if (isOn()) delays.enable();
    else delays.disable();
    shedder.observe(measured?.() ?? measure());
  }, INTERVAL_MS).unref();
  return () => {
    clearInterval(timer);
    delays.disable();
  };
}
