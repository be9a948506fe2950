import type { Entry } from "./entry.ts";

export interface Kept {
  /** From 1, in the order of arrival; never used again. */
  readonly seq: number;
  readonly id: string;
  /** An Error when what is there cannot be read. */
  readonly entry: Entry | Error;
}

export interface Replayed {
  readonly seq: number;
  /** Why the store will never take it; null: it has. */
  readonly rejected: string | null;
}

/** Entries that wait for the store. */
export interface Queue {
  readonly size: number;
  /** @param after beyond this number. */
  oldest(limit: number, after: number): Kept[];
  /** The store is about to hear of these entries' admissions. */
  mark(seqs: readonly number[]): void;
  /** @param at Unix milliseconds. */
  remove(replayed: readonly Replayed[], at: number): void;
}
