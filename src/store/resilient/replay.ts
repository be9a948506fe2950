import type { Limits, Store } from "../../kit/index.ts";
import { type Entry, type Kept, type Queue, releaseOf, type Replayed } from "./journal.ts";

/** Entries that are replayed at the same time. */
const BATCH_COUNT = 256;
/** Times that a settlement may leave no trace in a store that answers, before it is rejected. */
const MAX_ROUNDS = 10;
/** Milliseconds after which a store's ledger may have been trimmed: what is older is not looked for. */
const LEDGER_SURE_MS = 7 * 86_400_000;

const UNLIMITED: Limits = { day: null, hour: null, minute: null, streams: null };

/** What replaying needs of the store. */
export type Target = Pick<Store, "admit" | "settle" | "recorded">;

export interface ReplayOptions {
  readonly store: Target;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Whether an error means that the store is away: the entry stays. */
  readonly isAway: (error: unknown) => boolean;
  /** Replays of each entry that the store will never take; its slot and hold are free then. */
  readonly onRejected: (kept: Kept, error: unknown) => void;
}

/** Replays to the store what waits for it in one queue. */
export class Replay {
  readonly #options: ReplayOptions;
  /** Entries that the store has taken and the queue could not remove, as on a full disk. */
  readonly #finished = new Map<number, Replayed>();
  readonly #rounds = new Map<string, number>();

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /**
   * Each entry once, or until the store is away: one first, then many at the same time. What has to be looked at again
   * stays, and holds up nobody: of a slow store each round takes seconds.
   * @throws what the queue throws, after everything was replayed that can be.
   */
  async drain(queue: Queue): Promise<void> {
    const trouble: unknown[] = [];
    const attempt = (work: () => void): boolean => {
      try {
        work();
        return true;
      } catch (error) {
        trouble.push(error);
        return false;
      }
    };
    for (let after = 0, limit = 1; ; limit = BATCH_COUNT) {
      const kept = queue.oldest(limit, after);
      after = kept.at(-1)?.seq ?? after;
      const left = kept.filter(({ seq }) => !this.#finished.has(seq));
      const unmarked = left.filter(({ entry }) => hasToBeMarked(entry));
      const isMarked = attempt(() => queue.mark(unmarked.map(({ seq }) => seq)));
      const ready = isMarked ? left : left.filter((one) => !unmarked.includes(one));
      const { finished, isAway } = await this.#replay(ready);
      for (const one of finished) this.#finished.set(one.seq, one);
      if (attempt(() => queue.remove([...this.#finished.values()], this.#options.now()))) this.#finished.clear();
      if (kept.length === 0 || isAway) break;
    }
    if (trouble.length > 0) throw trouble[0];
  }

  /**
   * Exactly once for the user, wherever a former try was broken off, and also when the store has lost the reservation.
   * An admission is not repeated after its settlement: it would count, and could be charged, again.
   * @returns those that need not be repeated, and whether the store was away for any.
   */
  async #replay(ready: readonly Kept[]): Promise<Replays> {
    const { store } = this.#options;
    const all: Replays = { finished: [], isAway: false };
    const unconfirmed: Unconfirmed[] = [];
    const first = async ({ kept, entry }: Unconfirmed): Promise<boolean> => {
      if (isUnheard(entry)) {
        await this.#admitAndSettle(entry);
        return true;
      }
      const changed = await store.settle(entry.settlement);
      const isUnconfirmed = !changed && this.#leavesTrace(entry);
      if (isUnconfirmed) unconfirmed.push({ kept, entry });
      return !isUnconfirmed;
    };
    await Promise.all(ready.map((kept) => this.#attempt(kept, all, first)));
    const ofUser = async (userId: string, ones: readonly Unconfirmed[]): Promise<void> => {
      const recorded = (async () =>
        store.recorded(
          userId,
          ones.map(({ kept }) => kept.id),
        ))();
      const second = async ({ kept, entry }: Unconfirmed): Promise<boolean> => {
        if ((await recorded).has(kept.id)) return true;
        this.#giveUpHopeless(kept.id);
        await this.#admitAndSettle(entry);
        // Who lost the answer to an admission may be giving it back just now: looked for again.
        return false;
      };
      await Promise.all(ones.map(({ kept }) => this.#attempt(kept, all, second)));
    };
    const byUser = Map.groupBy(unconfirmed, ({ entry }) => entry.settlement.userId);
    await Promise.all(Array.from(byUser, ([userId, ones]) => ofUser(userId, ones)));
    return all;
  }

  /** Adds to `all` what `work` has finished, and what the store will never take. */
  async #attempt(kept: Kept, all: Replays, work: (one: Unconfirmed) => Promise<boolean>): Promise<void> {
    const { seq, id, entry } = kept;
    try {
      if (entry instanceof Error) throw entry;
      if (!(await work({ kept, entry }))) return;
      all.finished.push({ seq, rejected: null });
    } catch (error) {
      if (this.#options.isAway(error)) {
        all.isAway = true;
        return;
      }
      // When that fails too, nothing more can be done for it than to say so.
      if (!(entry instanceof Error))
        await Promise.resolve(this.#options.store.settle(releaseOf(entry.settlement))).catch(() => {});
      this.#options.onRejected(kept, error);
      all.finished.push({ seq, rejected: error instanceof Error ? error.message : String(error) });
    }
    this.#rounds.delete(id);
  }

  /** Counts, and neither holds credits nor takes a slot from requests that are running. */
  async #admitAndSettle({ admission, settlement }: Entry): Promise<void> {
    const { id, userId, record } = settlement;
    const { store } = this.#options;
    // What the store admitted itself it has counted, if it has not lost that too.
    const { units, model } = admission ?? { units: 0, model: record?.model ?? "" };
    const common = { limits: UNLIMITED, stream: false, hold: 0n, enforceCredits: false };
    const { ok } = await store.admit({ id, userId, units, model, ...common });
    if (!ok) throw new Error("the store refused an admission without conditions");
    await store.settle(settlement);
  }

  #leavesTrace({ settlement: { record, giveBack } }: Entry): boolean {
    return record !== null && !giveBack && this.#options.now() - record.endedAt < LEDGER_SURE_MS;
  }

  /** @throws Error when it is. */
  #giveUpHopeless(id: string): void {
    const rounds = (this.#rounds.get(id) ?? 0) + 1;
    if (rounds > MAX_ROUNDS) throw new Error(`the store did not record it in ${MAX_ROUNDS} tries`);
    this.#rounds.set(id, rounds);
  }
}

interface Replays {
  readonly finished: Replayed[];
  isAway: boolean;
}

interface Unconfirmed {
  readonly kept: Kept;
  readonly entry: Entry;
}

/** Whether the store cannot have heard of its admission. */
function isUnheard({ admission, tried }: Entry): boolean {
  return admission !== null && !tried;
}

function hasToBeMarked(entry: Entry | Error): boolean {
  return !(entry instanceof Error) && isUnheard(entry);
}
