import { existsSync } from "node:fs";
import { setTimeout as sleepFor } from "node:timers/promises";
import { inBackground, type Log, storeUnavailable } from "../../kit/index.ts";
import { type Entry, Journal, MemoryQueue, type Rejection } from "./journal.ts";
import { Replay, type ReplayOptions } from "./replay.ts";

/** Milliseconds between tries. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** Milliseconds that an answer waits for a settlement that cannot be written down, and a shutdown for all of them. */
const WAIT_MS = 5_000;
const HURRIED_WAIT_MS = 500;
/** Milliseconds between checks for what a process that died has left. */
const POLL_INTERVAL_MS = 5_000;
/** Settlements in memory beyond which no more requests are admitted without the store. */
const MAX_IN_MEMORY_COUNT = 10_000;

/** Rejected settlements that are shown, and kept in memory when they cannot be written down. */
const MAX_REJECTIONS = 1_000;
/** Milliseconds for which a rejected settlement is kept. */
const REJECTED_TTL_MS = 90 * 86_400_000;

/** Resolves after the milliseconds, or sooner when the signal is aborted. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const sleep: Sleep = (milliseconds, signal) => sleepFor(milliseconds, undefined, { signal }).catch(() => {});

export interface SettlementsOptions extends Omit<ReplayOptions, "onRejected"> {
  /** Path of the journal's file; null: memory only. */
  readonly journal: string | null;
  /** Whether only what the store rejects goes there: for a store on the same disk, which it cannot outlive. */
  readonly onlyRejected?: boolean;
  readonly log: Log;
  readonly sleep: Sleep;
  /** Called when a number has changed. */
  readonly onChange: () => void;
}

/** Settlements that the store has not acknowledged: kept on the disk and replayed to the store once it answers. */
export class Settlements {
  readonly #options: SettlementsOptions;
  readonly #memory = new MemoryQueue();
  readonly #fromMemory: Replay;
  readonly #fromJournal: Replay;
  #journal: Journal | null = null;
  /** What cannot be written down. */
  readonly #rejectedInMemory: Rejection[] = [];
  /** Whether the log says so already. */
  #brokenLogged = false;
  #working: Promise<void> | null = null;
  #pause = new AbortController();
  /** Nothing is replayed any more; what comes is still written down. */
  #over = false;
  #timeout = WAIT_MS;
  #closed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SettlementsOptions) {
    this.#options = options;
    this.#fromMemory = new Replay({
      ...options,
      onRejected: ({ entry }, error) => {
        if (entry instanceof Error) return;
        inBackground(options.log, "a settlement that is set aside", this.reject(entry, error));
      },
    });
    this.#fromJournal = new Replay({ ...options, onRejected: ({ id }, error) => this.#logRejected(id, error) });
  }

  /** Begins with what former processes have left. */
  start(): void {
    if (this.#options.journal !== null) this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS).unref();
    this.#retry();
    this.#poll();
  }

  get pending(): number {
    return this.#memory.size + (this.#journal?.size ?? 0);
  }

  get rejected(): number {
    return (this.#journal?.rejected ?? 0) + this.#rejectedInMemory.length;
  }

  /** The newest of what the store rejected. */
  rejections(): readonly Rejection[] {
    return [...this.#rejectedInMemory, ...(this.#journal?.rejections(MAX_REJECTIONS) ?? [])].slice(0, MAX_REJECTIONS);
  }

  /** Keeps aside what the store will not take. */
  async reject(entry: Entry, error: unknown): Promise<void> {
    const { id } = entry.settlement;
    this.#logRejected(id, error);
    const [reason, at] = [error instanceof Error ? error.message : String(error), this.#options.now()];
    try {
      const journal = this.#open(true);
      if (journal === null) throw new Error("no journal");
      await journal.reject(entry, reason, at);
    } catch {
      this.#rejectedInMemory.unshift({ id, settlement: entry.settlement, reason, at });
      this.#rejectedInMemory.length = Math.min(this.#rejectedInMemory.length, MAX_REJECTIONS);
    }
    this.#options.onChange();
  }

  /** A later version may be able to settle what this one's predecessor was not. */
  #retry(): void {
    const { now, log } = this.#options;
    try {
      const dropped = this.#open()?.retry(now() - REJECTED_TTL_MS) ?? 0;
      if (dropped > 0) log.error({ requests: dropped }, "settlements rejected 90 days ago were dropped");
    } catch (error) {
      this.#onBroken(error);
    }
  }

  /** Whether more could be lost than memory should hold. */
  get full(): boolean {
    return this.#memory.size >= MAX_IN_MEMORY_COUNT;
  }

  /** Resolves when the entry is on the disk; without a disk when the store has it. */
  async add(entry: Entry): Promise<void> {
    if (this.#closed) throw storeUnavailable(new Error("the store is closed"));
    if (await this.#write(entry)) return this.#work();
    const settled = this.#memory.write(entry);
    this.#work();
    return this.#withTimeout(settled);
  }

  /** Of a settlement that is repeated while it waits in memory, as `add` for the first; null when there is none. */
  repeated(id: string): Promise<void> | null {
    const settled = this.#memory.settled(id);
    return settled && this.#withTimeout(settled);
  }

  async #withTimeout(settled: Promise<void>): Promise<void> {
    const answered = new AbortController();
    const timeout = this.#options.sleep(this.#timeout, answered.signal).then(() => {
      throw storeUnavailable(new Error("the settlement goes on when the store answers"));
    });
    await Promise.race([settled, timeout]).finally(() => answered.abort());
  }

  /** The store answers: what waits need not wait longer. */
  wake(): void {
    this.#pause.abort();
  }

  /** The process is about to end: an answer waits half a second for a settlement that cannot be written down. */
  hurry(): void {
    this.#timeout = HURRIED_WAIT_MS;
  }

  /** Waits for what is pending, so many milliseconds at most; what only memory has always gets half a second. */
  async done(maximum = WAIT_MS): Promise<void> {
    const timeout = Math.min(maximum, WAIT_MS);
    this.#poll();
    this.wake();
    const settled = new AbortController();
    const wait = this.#memory.size > 0 ? Math.max(timeout, HURRIED_WAIT_MS) : timeout;
    if (this.#working && wait > 0) await Promise.race([this.#working, this.#options.sleep(wait, settled.signal)]);
    settled.abort();
    this.#end();
    const { log, journal } = this.#options;
    const onDisk = this.#journal?.size ?? 0;
    if (onDisk > 0) log.warn({ requests: onDisk, journal }, "settlements kept in the journal for the next start");
    if (this.#memory.size > 0) log.error({ requests: this.#memory.size }, "store does not answer; settlements lost");
  }

  /** At once: what is on the disk stays there. */
  close(): void {
    this.#end();
    this.#closed = true;
    this.#journal?.close();
  }

  #end(): void {
    this.#over = true;
    if (this.#timer) clearInterval(this.#timer);
    this.wake();
  }

  /** @returns whether it is on the disk. */
  async #write(entry: Entry): Promise<boolean> {
    try {
      const journal = this.#options.onlyRejected ? null : this.#open(true);
      if (journal === null) return false;
      await journal.write(entry);
      this.#options.onChange();
      return true;
    } catch (error) {
      this.#onBroken(error);
      return false;
    }
  }

  /** @param makes whether it is made when it is not there and seldom needed. */
  #open(makes = false): Journal | null {
    const { journal, onlyRejected = false } = this.#options;
    if (journal !== null && (makes || !onlyRejected || existsSync(journal))) this.#journal ??= new Journal(journal);
    return this.#journal;
  }

  /** For what others have left. */
  #poll(): void {
    try {
      this.#open()?.refresh();
    } catch (error) {
      this.#onBroken(error);
    }
    this.#options.onChange();
    this.#work();
  }

  #work(): void {
    if (this.#over || this.pending === 0) return;
    this.#working ??= this.#run()
      .catch((err: unknown) => this.#options.log.error({ err }, "settling from the journal failed; retrying"))
      .finally(() => {
        this.#working = null;
      });
  }

  async #run(): Promise<void> {
    const { log, onChange } = this.#options;
    let waited = false;
    for (let wait = 0; this.pending > 0 && !this.#over;) {
      const before = this.pending;
      await this.#pass();
      onChange();
      wait = this.pending < before ? 0 : Math.min(Math.max(MIN_PAUSE_MS, 2 * wait), MAX_PAUSE_MS);
      if (wait === 0 || this.pending === 0) continue;
      if (!waited) log.warn({ requests: this.pending }, "store does not answer; settlements are waiting");
      waited = true;
      await this.#wait(wait);
    }
    if (waited && this.pending === 0) log.info({}, "store answers; all settlements done");
  }

  async #pass(): Promise<void> {
    try {
      await this.#fromMemory.drain(this.#memory);
      await this.#spill();
      const journal = this.#journal;
      if (journal === null || this.#over) return;
      journal.refresh();
      if (journal.size > 0) await journal.alone(() => this.#fromJournal.drain(journal));
      if (this.#memory.size === 0) this.#brokenLogged = false;
    } catch (error) {
      if (!this.#over) this.#onBroken(error);
    }
  }

  /** The journal may be writable again. */
  async #spill(): Promise<void> {
    for (const { seq, entry } of this.#memory.oldest(Infinity, 0)) {
      if (entry instanceof Error || this.#over || !(await this.#write(entry))) return;
      this.#memory.remove([{ seq, rejected: null }]);
    }
  }

  /** Half to whole of `wait`, so that processes do not come all at once. */
  async #wait(wait: number): Promise<void> {
    if (this.#over) return;
    this.#pause = new AbortController();
    await this.#options.sleep((wait * (1 + Math.random())) / 2, this.#pause.signal);
  }

  #logRejected(id: string, error: unknown): void {
    this.#options.log.error({ err: error, id }, "store refused a settlement; kept aside, see GET /admin/settlements");
  }

  #onBroken(error: unknown): void {
    if (this.#brokenLogged) return;
    this.#brokenLogged = true;
    const { log, journal } = this.#options;
    log.error(
      { err: error, journal },
      "journal not writable; settlements wait in memory (free disk space, or make the file and its folder writable)",
    );
  }
}
