import {
  type GuardSettings,
  inBackground,
  isStoreUnavailable,
  type Log,
  type Snapshot,
  type Store,
} from "../kit/index.ts";
import { uniform } from "../upstream/state/balance.ts";
import { addUp, type Comparison, compare, type RequestCounts, type Tallies } from "./comparison.ts";

/** Between looks at the counts: a twentieth of the guard's time, within these bounds. */
const MIN_TICK_MS = 20;
const MAX_TICK_MS = 1_000;
/** For every so many peers another tick is left out: each of them reads what all have counted. */
const PEERS_PER_TICK = 20;
/** Instances read a changed file within this time of each other. */
const JOIN_WITHIN_MS = 60_000;
const MAX_ATTEMPTS = 100;

/** `replaced`: the file changed again, or somebody chose another generation. */
export type GuardResult = "promoted" | "rolled_back" | "replaced";

export interface GuardDecision {
  readonly result: GuardResult;
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
}

/** What an instance tells the others of its latest guard. */
export interface GuardReport {
  /** null while the store has not answered which try it is. */
  readonly id: string | null;
  /** Hashes. */
  readonly base: string;
  readonly candidate: string;
  readonly decision: GuardDecision | null;
  /** Empty once it is decided. */
  readonly counts: { readonly base: Tallies; readonly candidate: Tallies };
}

/** What `GET /admin/config` shows of the latest guard. */
export interface GuardStatus {
  readonly state: "running" | GuardResult;
  readonly base: string;
  readonly candidate: string;
  readonly share: number;
  /** ISO 8601; null before it has begun. */
  readonly started_at: string | null;
  readonly ends_at: string | null;
  readonly decided_at: string | null;
  readonly reason: string | null;
  /** Of all instances, as far as they are known. */
  readonly requests: { readonly base: number; readonly candidate: number };
  readonly failures: { readonly base: number; readonly candidate: number };
  readonly ttft_ratio: number | null;
}

/** How the instances of a store come to one decision. Each method throws when the store does not answer. */
export interface Agreement {
  /**
   * @param ended tries that are over as far as this instance is concerned.
   * @param underWay the one that another instance makes just now, if any.
   * @returns the try that the instances make together, and when its first one began, in Unix milliseconds.
   */
  join(
    ended: ReadonlySet<string>,
    underWay: string | null,
  ): Promise<{ readonly id: string; readonly startedAt: number }>;
  /** @returns the decision in force: the first one of all instances. */
  decide(id: string, decision: GuardDecision): Promise<GuardDecision>;
  /** The latest guards of the other instances, by instance. */
  peers(): Promise<ReadonlyMap<string, readonly GuardReport[]>>;
}

export interface GuardParts {
  readonly settings: GuardSettings;
  /** Hashes. */
  readonly base: string;
  readonly candidate: string;
  readonly counts: { readonly base: RequestCounts; readonly candidate: RequestCounts };
  /** Of the guards before it: what was decided about the same change then says nothing about this try. */
  readonly earlier: readonly GuardReport[];
  readonly agreement: Agreement;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "error" | "warn">;
  /** Once, unless it is closed before. */
  readonly onDecision: (decision: GuardDecision) => void;
}

/**
 * Whether a generation on probation serves a user: by a hash of both, so that every instance says the same, one user
 * always meets the same side, and each new generation meets other users first.
 */
export function isInShare(userId: string, candidate: string, share: number): boolean {
  return uniform(`${candidate}\n${userId}`) < share;
}

interface PeerReport {
  readonly instance: string;
  readonly report: GuardReport;
}

/** Lets a generation serve a share of the users, compares it with the one in force, and decides between them. */
export class Guard {
  readonly #parts: GuardParts;
  readonly #timer: NodeJS.Timeout;
  readonly #ended: ReadonlySet<string>;
  readonly #peers = new Map<string, GuardReport>();
  #attempt: { readonly id: string; readonly startedAt: number } | null = null;
  /** It serves nobody: before the others have been asked, and with evidence that the store could not be told yet. */
  #suspended = true;
  #decision: GuardDecision | null = null;
  #comparison: Comparison | null = null;
  #busy = false;
  #hasFailed = false;
  #ticksToSkip = 0;
  #closed = false;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.#ended = new Set(parts.earlier.filter((report) => this.#isOfSame(report)).flatMap(({ id }) => id ?? []));
    const tickMs = Math.min(MAX_TICK_MS, Math.max(MIN_TICK_MS, parts.settings.for / 20));
    this.#timer = setInterval(() => this.#tickInBackground(), tickMs).unref();
  }

  get decision(): GuardDecision | null {
    return this.#decision;
  }

  get candidate(): string {
    return this.#parts.candidate;
  }

  /** @throws never: with a store that is away it begins later. */
  async start(): Promise<void> {
    await this.#tick();
  }

  takes(userId: string): boolean {
    const { candidate, settings } = this.#parts;
    return !this.#suspended && this.#attempt !== null && isInShare(userId, candidate, settings.share);
  }

  /**
   * Decides, whatever the counts say. @returns the decision in force; `onDecision` is not called. A store that does not
   * answer decides nothing: this instance does by itself.
   */
  async conclude(result: GuardResult, reason: string): Promise<GuardDecision> {
    const { agreement, log } = this.#parts;
    const own = this.#decisionOf(result, reason);
    this.close();
    try {
      this.#decision ??= this.#attempt === null ? own : await agreement.decide(this.#attempt.id, own);
    } catch (error) {
      log.warn({ err: error }, "guard result not shared with other instances: the store does not answer");
      this.#decision ??= own;
    }
    return this.#decision;
  }

  /** Looks at nothing any more. */
  close(): void {
    clearInterval(this.#timer);
    this.#closed = true;
  }

  get report(): GuardReport {
    const { base, candidate, counts } = this.#parts;
    const decided = this.#decision !== null;
    return {
      id: this.#attempt?.id ?? null,
      base,
      candidate,
      decision: this.#decision,
      counts: { base: decided ? {} : counts.base.tallies, candidate: decided ? {} : counts.candidate.tallies },
    };
  }

  get status(): GuardStatus {
    const { base, candidate, settings } = this.#parts;
    const startedAt = this.#attempt?.startedAt ?? null;
    const found = this.#decision === null ? this.#compare(false) : this.#comparison;
    return {
      state: this.#decision?.result ?? "running",
      base,
      candidate,
      share: settings.share,
      started_at: startedAt === null ? null : new Date(startedAt).toISOString(),
      ends_at: startedAt === null ? null : new Date(startedAt + settings.for).toISOString(),
      decided_at: this.#decision?.at ?? null,
      reason: this.#decision?.reason ?? null,
      requests: { base: found?.baseRequests ?? 0, candidate: found?.requests ?? 0 },
      failures: { base: found?.baseFailures ?? 0, candidate: found?.failures ?? 0 },
      ttft_ratio: found?.ttftRatio ?? null,
    };
  }

  #tickInBackground(): void {
    inBackground(this.#parts.log, "comparing two configurations", this.#tick());
  }

  /** One at a time: a store that is slower than the interval must not be asked more and more. */
  async #tick(): Promise<void> {
    if (this.#busy || this.#closed) return;
    if (this.#ticksToSkip > 0) {
      this.#ticksToSkip -= 1;
      return;
    }
    this.#busy = true;
    try {
      const decision = await this.#look();
      if (decision === null || this.#closed) return;
      this.#decision = decision;
      this.close();
      this.#parts.onDecision(decision);
    } catch (err) {
      // It is asked again with the next tick.
      if (isStoreUnavailable(err) || this.#hasFailed) return;
      this.#hasFailed = true;
      this.#parts.log.error({ err }, "configurations could not be compared");
    } finally {
      this.#busy = false;
    }
  }

  /** @returns the decision in force, null while there is none. @throws what the store throws. */
  async #look(): Promise<GuardDecision | null> {
    const { agreement, settings, now } = this.#parts;
    const ended = this.#ended;
    // First: a store that is away, or slow to answer, must not keep a candidate serving that fails.
    if (this.#compare(false).against !== null) this.#suspended = true;
    const reports = await this.#askPeers();
    const isRunning = ({ report: { id, decision } }: PeerReport): boolean =>
      decision === null && id !== null && !ended.has(id);
    this.#attempt ??= await agreement.join(ended, reports.find(isRunning)?.report.id ?? null);
    const { id, startedAt } = this.#attempt;
    const known = this.#decisionIn(reports, id, ended.size > 0 || reports.some(isRunning));
    if (known !== null) return known;
    const isOver = now() >= startedAt + settings.for;
    this.#comparison = this.#compare(isOver);
    const { against } = this.#comparison;
    this.#suspended = against !== null;
    if (against !== null) return agreement.decide(id, this.#decisionOf("rolled_back", against));
    return isOver ? agreement.decide(id, this.#decisionOf("promoted", this.#noEvidence())) : null;
  }

  /** @returns what the others report of the same change. */
  async #askPeers(): Promise<readonly PeerReport[]> {
    const peers = await this.#parts.agreement.peers();
    this.#ticksToSkip = Math.floor(peers.size / PEERS_PER_TICK);
    return [...peers]
      .flatMap(([instance, reports]) => reports.map((report) => ({ instance, report })))
      .filter(({ report }) => this.#isOfSame(report));
  }

  #isOfSame({ base, candidate }: GuardReport): boolean {
    return base === this.#parts.base && candidate === this.#parts.candidate;
  }

  /**
   * Takes over what the others have counted. @returns what one of them has decided.
   * @param isAnother whether the change has been tried before: then only this try's decision is one.
   */
  #decisionIn(reports: readonly PeerReport[], own: string, isAnother: boolean): GuardDecision | null {
    for (const { instance, report } of reports) {
      const { id, decision } = report;
      const isSameAttempt = id === own;
      // A try that was broken off says nothing about this one.
      if (decision !== null && (isSameAttempt || (!isAnother && decision.result !== "replaced"))) return decision;
      if (decision === null && isSameAttempt) this.#peers.set(instance, report);
    }
    return null;
  }

  #compare(isOver: boolean): Comparison {
    const { counts, settings } = this.#parts;
    const peers = [...this.#peers.values()].map((report) => report.counts);
    const base = addUp([counts.base.tallies, ...peers.map((peer) => peer.base)]);
    const candidate = addUp([counts.candidate.tallies, ...peers.map((peer) => peer.candidate)]);
    return compare(base, candidate, settings, isOver);
  }

  #noEvidence(): string {
    const { requests = 0, failures = 0 } = this.#comparison ?? {};
    if (requests === 0) return "nothing speaks against it: it was asked nothing";
    const { minRequests } = this.#parts.settings;
    const few = requests < minRequests ? `, fewer than min_requests (${minRequests})` : "";
    return `nothing speaks against it: ${failures} of ${requests} requests failed${few}`;
  }

  #decisionOf(result: GuardResult, reason: string): GuardDecision {
    return { result, reason, at: new Date(this.#parts.now()).toISOString() };
  }
}

/** For the only process of a store. */
export function ownAgreement(now: () => number): Agreement {
  return {
    join: () => Promise.resolve({ id: "own", startedAt: now() }),
    decide: (_id, decision) => Promise.resolve(decision),
    peers: () => Promise.resolve(new Map()),
  };
}

export interface SharedAgreementParts {
  /** With a guard. */
  readonly base: Snapshot;
  readonly candidate: Snapshot;
  readonly store: Pick<Store, "remember">;
  readonly peers: Agreement["peers"];
  readonly now: () => number;
}

/** Through what a store keeps of the first that says it. */
export function sharedAgreement(parts: SharedAgreementParts): Agreement {
  const { base, candidate, store, peers, now } = parts;
  const pair = `guard:${base.hash.slice(0, 16)}:${candidate.hash.slice(0, 16)}`;
  const lengthMs = base.reload.guard?.for ?? 0;
  return {
    async join(ended, underWay) {
      if (underWay !== null) return { id: underWay, startedAt: Number(await store.remember(underWay, String(now()))) };
      for (let attempt = 1; ; attempt += 1) {
        const id = `${pair}:${attempt}`;
        if (ended.has(id) && attempt < MAX_ATTEMPTS) continue;
        const startedAt = Number(await store.remember(id, String(now())));
        // An older one is over: the same change was tried before, and taken back by hand.
        if (now() - startedAt < lengthMs + JOIN_WITHIN_MS || attempt === MAX_ATTEMPTS) return { id, startedAt };
      }
    },
    async decide(id, decision) {
      return JSON.parse(await store.remember(`${id}:decision`, JSON.stringify(decision))) as GuardDecision;
    },
    peers,
  };
}
