import type { Entry } from "./entry.ts";
import type { Kept, Queue, Replayed } from "./queue.ts";

interface Waiting {
  entry: Entry;
  readonly settled: PromiseWithResolvers<void>;
}

/** What could not be written down; it ends with the process. */
export class MemoryQueue implements Queue {
  readonly #waiting = new Map<number, Waiting>();
  readonly #seqs = new Map<string, number>();
  #last = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when the entry is removed. */
  write(entry: Entry): Promise<void> {
    const settled = Promise.withResolvers<void>();
    this.#waiting.set(++this.#last, { entry, settled });
    this.#seqs.set(entry.settlement.id, this.#last);
    return settled.promise;
  }

  /** What `write` gave for this id, while the entry is here. */
  settled(id: string): Promise<void> | null {
    return this.#waiting.get(this.#seqs.get(id) ?? 0)?.settled.promise ?? null;
  }

  oldest(limit: number, after: number): Kept[] {
    const later = [...this.#waiting].filter(([seq]) => seq > after);
    return later.slice(0, limit).map(([seq, { entry }]) => ({ seq, id: entry.settlement.id, entry }));
  }

  mark(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const waiting = this.#waiting.get(seq);
      if (waiting) waiting.entry = { ...waiting.entry, tried: true };
    }
  }

  remove(replayed: readonly Replayed[]): void {
    for (const { seq, rejected } of replayed) {
      const waiting = this.#waiting.get(seq);
      if (!waiting) continue;
      this.#waiting.delete(seq);
      this.#seqs.delete(waiting.entry.settlement.id);
      if (rejected === null) waiting.settled.resolve();
      else waiting.settled.reject(new Error(rejected));
    }
  }
}
