import type { Part } from "./part.ts";

/** What one request really got, for tests to compare a gateway's books with. Times are Unix milliseconds. */
export interface LedgerEntry {
  /** The request's `x-request-id`; empty without one. Retries of one request are entries of their own. */
  readonly requestId: string;
  readonly path: string;
  readonly startedAt: number;
  model: string;
  stream: boolean;
  /** 0 when no status line was sent. */
  status: number;
  /** Events written, `[DONE]` not counted; a JSON body is one. */
  events: number;
  /** Bytes of body written. */
  bytes: number;
  /** Answer tokens in the events written, whether or not they were claimed. */
  tokens: number;
  /** The token counts that went out; null when none did. */
  claimed: Part["claims"] | null;
  /** How the simulator ended the body: properly, by FIN or by RST; null when it did not. */
  ending: "end" | "fin" | "reset" | null;
  /** The client went away before the simulator had ended. */
  aborted: boolean;
  closedAt: number | null;
}

const KEPT = 20_000;

/** The newest entries, oldest first. Bounded, for a simulator can run for days. */
export class Ledger {
  #entries: LedgerEntry[] = [];
  readonly #live = new Set<LedgerEntry>();

  /** Streams that have begun and not yet closed. */
  get open(): number {
    return [...this.#live].filter((entry) => entry.stream).length;
  }

  get entries(): readonly LedgerEntry[] {
    return this.#entries;
  }

  begin(requestId: string, path: string): LedgerEntry {
    const entry: LedgerEntry = {
      requestId,
      path,
      startedAt: Date.now(),
      model: "",
      stream: false,
      status: 0,
      events: 0,
      bytes: 0,
      tokens: 0,
      claimed: null,
      ending: null,
      aborted: false,
      closedAt: null,
    };
    this.#live.add(entry);
    this.#entries.push(entry);
    // Halved at double size: dropping one from the front of an array each time would cost a copy a request.
    if (this.#entries.length >= 2 * KEPT) this.#entries = this.#entries.slice(-KEPT);
    return entry;
  }

  /** `flushed`: all that was written has left for the client. */
  close(entry: LedgerEntry, flushed: boolean): void {
    this.#live.delete(entry);
    entry.closedAt = Date.now();
    entry.aborted = entry.ending === null || (entry.ending === "end" && !flushed);
  }

  clear(): void {
    this.#entries = [];
  }
}

/** Enters a part that has been written. */
export function note(entry: Pick<LedgerEntry, "events" | "tokens" | "claimed">, part: Part): void {
  if (!part.uncounted) entry.events++;
  entry.tokens += part.tokens;
  if (part.claims) entry.claimed = part.claims;
}
