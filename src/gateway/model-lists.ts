import { same } from "../effects/same.ts";
import {
  inBackground,
  type ListedModel,
  type Log,
  type ModelListing,
  type Snapshot,
  type Upstream,
} from "../kit/index.ts";
import { type KeptList, type KeptLists, listKey } from "./kept-lists.ts";

const HOUR_MS = 3_600_000;
/** After a failure; doubled with each further one. */
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;
/** A start and a reload wait so long for lists. A slower provider's models come a little later. */
const MAX_WAIT_MS = 3_000;

/** What is known of one upstream's list, as `GET /admin/config` shows it. */
export interface ListStatus {
  /** Models in the last list, published or not; null before the first one. */
  readonly listed: number | null;
  /** ISO 8601: when the provider gave it. */
  readonly listed_at: string | null;
  /** Why the provider gave none when it was asked last; null: it gave one. */
  readonly error: string | null;
}

export interface ModelListsParts {
  readonly ask: (upstream: Upstream, signal: AbortSignal) => Promise<ModelListing>;
  readonly kept: KeptLists;
  /** Whether this process writes the lists to disk: one does for all. */
  readonly writes: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Calls back once about when `at` (Unix milliseconds) is reached; returns what cancels it. */
  readonly schedule: (at: number, callback: () => void) => () => void;
  readonly log: Pick<Log, "info" | "warn" | "error" | "debug">;
}

/**
 * The lists of models of all upstreams that publish them: asked for at a start, at a reload and each hour. The last list
 * stays while a provider gives none.
 */
export class ModelLists {
  readonly #parts: ModelListsParts;
  /** By `listKey`. */
  readonly #inquiries = new Map<string, Inquiry>();
  /** A list has changed; nobody is told before `start`. */
  #onChange: (() => void) | null = null;
  #saving = Promise.resolve();
  #isDirty = false;
  #closed = false;

  constructor(parts: ModelListsParts) {
    this.#parts = parts;
  }

  /** As `KnownLists`. */
  readonly known = (upstream: Upstream): readonly ListedModel[] | null => this.#parts.kept.of(upstream)?.models ?? null;

  /**
   * Asks for the lists of a configuration that may serve next, and waits for them for a while; those that come later are
   * told to `onChange`. Never rejects.
   */
  async refresh(snapshot: Snapshot): Promise<void> {
    const asked = publishers(snapshot).map((upstream) => this.#inquiry(upstream).ask());
    if (asked.length === 0 || this.#closed) return;
    const { now, schedule } = this.#parts;
    const late = Promise.withResolvers<void>();
    const cancel = schedule(now() + MAX_WAIT_MS, late.resolve);
    await Promise.race([Promise.all(asked), late.promise]);
    cancel();
  }

  /** Tells of lists that change from now on. */
  start(onChange: () => void): void {
    this.#onChange = onChange;
    // What has come between the first generation and now.
    onChange();
  }

  /** Asks each hour for the lists of these configurations, and for no others. */
  follow(...snapshots: readonly Snapshot[]): void {
    if (this.#closed) return;
    const followed = new Map(snapshots.flatMap(publishers).map((upstream) => [listKey(upstream), upstream]));
    for (const [key, inquiry] of this.#inquiries) {
      if (followed.has(key)) continue;
      inquiry.close();
      this.#inquiries.delete(key);
    }
    for (const upstream of followed.values()) this.#inquiry(upstream).plan();
  }

  /** By upstream, of those that publish. */
  status(snapshot: Snapshot): Readonly<Record<string, ListStatus>> {
    const shown = publishers(snapshot).map((upstream) => {
      const list = this.#parts.kept.of(upstream);
      const error = this.#inquiries.get(listKey(upstream))?.failure ?? null;
      const at = list && new Date(list.at).toISOString();
      return [upstream.name, { listed: list?.models.length ?? null, listed_at: at, error }] as const;
    });
    return Object.fromEntries(shown);
  }

  /** Gives up what is being asked. Resolves when the lists are written. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const inquiry of this.#inquiries.values()) inquiry.close();
    await this.#saving;
  }

  #inquiry(upstream: Upstream): Inquiry {
    const key = listKey(upstream);
    const known = this.#inquiries.get(key);
    if (known?.isFor(upstream) === true) return known;
    known?.close();
    const made = new Inquiry(upstream, this.#parts, (list) => this.#learned(upstream, list));
    this.#inquiries.set(key, made);
    return made;
  }

  #learned(upstream: Upstream, list: KeptList): void {
    const { kept } = this.#parts;
    const before = kept.of(upstream);
    kept.keep(upstream, list);
    this.#save();
    const isNews = before === null || JSON.stringify(before.models) !== JSON.stringify(list.models);
    if (isNews && !this.#closed) this.#onChange?.();
  }

  /** What comes while a file is written is written with the next one. */
  #save(): void {
    const { writes, kept, log } = this.#parts;
    if (!writes || this.#isDirty) return;
    this.#isDirty = true;
    this.#saving = this.#saving.then(() => {
      this.#isDirty = false;
      return kept.write(
        [...this.#inquiries.values()].map(({ upstream }) => upstream),
        log,
      );
    });
  }
}

function publishers({ upstreams }: Snapshot): readonly Upstream[] {
  return Object.values(upstreams).filter(({ publishes }) => publishes !== undefined);
}

/** Asks one provider again and again. */
class Inquiry {
  readonly upstream: Upstream;
  /** Why the list is not newer. Null if the provider has no list. */
  failure: string | null = null;
  readonly #parts: ModelListsParts;
  readonly #onList: (list: KeptList) => void;
  readonly #abort = new AbortController();
  #asking: Promise<void> | null = null;
  #cancelNext: (() => void) | null = null;
  #failures = 0;
  #isPlanned = false;

  constructor(upstream: Upstream, parts: ModelListsParts, onList: (list: KeptList) => void) {
    this.upstream = upstream;
    this.#parts = parts;
    this.#onList = onList;
  }

  /** Whether it asks as this upstream would: with its keys, headers and connections. */
  isFor(upstream: Upstream): boolean {
    return same(asked(this.upstream), asked(upstream));
  }

  /** Asks now, unless it is asking. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
      if (this.#isPlanned) this.#schedule();
    });
    return this.#asking;
  }

  /** Asks by itself from now on. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    if (this.#asking === null) this.#schedule();
  }

  close(): void {
    this.#isPlanned = false;
    this.#cancelNext?.();
    this.#abort.abort();
  }

  async #ask(): Promise<void> {
    this.#cancelNext?.();
    const { ask, now } = this.#parts;
    const listing = await ask(this.upstream, this.#abort.signal).catch((error: unknown): ModelListing => {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    });
    if (this.#abort.signal.aborted) return;
    if (listing.ok && listing.models.length > 0) {
      this.#recovered();
      this.#onList({ upstream: this.upstream.name, models: listing.models, at: now() });
    } else this.#failed(listing.ok ? "its list is empty" : listing.reason);
  }

  #recovered(): void {
    const { log } = this.#parts;
    if (this.failure !== null) log.info({ upstream: this.upstream.name }, "the provider lists its models again");
    this.failure = null;
    this.#failures = 0;
  }

  /** Told once: a server that is switched off for a night is no news each minute. */
  #failed(reason: string): void {
    const { log, kept } = this.#parts;
    const { name } = this.upstream;
    this.#failures += 1;
    const isNews = this.failure !== reason;
    this.failure = reason;
    const list = kept.of(this.upstream);
    const message =
      list === null
        ? `no list of models from ${name}, none of its models is published: ${reason}`
        : `no new list of models from ${name}, the one of ${new Date(list.at).toISOString()} stays: ${reason}`;
    if (isNews) log.warn({ upstream: name }, message);
    else log.debug({ upstream: name }, message);
  }

  #schedule(): void {
    const { now, schedule } = this.#parts;
    this.#cancelNext?.();
    const at = this.#failures === 0 ? this.#nextHour() : now() + retryAfter(this.#failures);
    this.#cancelNext = schedule(at, () => {
      inBackground(this.#parts.log, "asking for a list of models", this.ask());
    });
  }

  /**
   * The same moment of each hour for one provider, in every process: instances that share a store learn of a change
   * together, and two providers are not asked at once.
   */
  #nextHour(): number {
    const offset = Number.parseInt(listKey(this.upstream).slice(0, 8), 16) % HOUR_MS;
    return Math.floor((this.#parts.now() - offset) / HOUR_MS + 1) * HOUR_MS + offset;
  }
}

function retryAfter(failures: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}

/** All that a question is asked with. */
function asked({ publishes: _published, ...settings }: Upstream): Omit<Upstream, "publishes"> {
  return settings;
}
