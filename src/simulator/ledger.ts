/** What a request has really used: tokens of its prompt, code points spoken, milliseconds transcribed, images made. */
export interface Units {
  readonly prompt: number;
  readonly characters: number;
  readonly milliseconds: number;
  readonly images: number;
}

/** Counts as they went out, sense or not; those of tokens in OpenAI's sense, whatever the dialect makes of them. */
export interface Claims {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly cached?: unknown;
  readonly cacheWrite?: unknown;
  readonly seconds?: unknown;
}

/** What one request really got, for tests to compare a gateway's books with. Times are Unix milliseconds. */
export interface LedgerEntry {
  /** The request's `x-request-id`; empty without one. Retries of one request are entries of their own. */
  readonly requestId: string;
  readonly path: string;
  readonly startedAt: number;
  /** Bytes of the request's body. */
  requestBytes: number;
  /** The body itself, where the script says `record`. */
  body: string | null;
  model: string;
  /** What was wrong with the request; null when nothing was. */
  refusal: string | null;
  /** The file of a transcription as it arrived, with the form's other fields. */
  upload: ReceivedFile | null;
  /** Sent in parts: events, or audio. */
  stream: boolean;
  /** 0 when no status line was sent. */
  status: number;
  /** Events or parts of audio written, `[DONE]` not counted; a JSON body is one. */
  events: number;
  /** Bytes of body written. */
  bytes: number;
  /** Answer tokens in the events written, whether or not they were claimed. */
  tokens: number;
  /** What was used, whether or not it was claimed; nothing until the first event, or a whole body, is written. */
  units: Units;
  /** The counts that went out; null when none did. */
  claimed: Claims | null;
  /** How the simulator ended the body: properly, by FIN or by RST; null when it did not. */
  ending: "end" | "fin" | "reset" | null;
  /** The client went away before the simulator had ended. */
  aborted: boolean;
  closedAt: number | null;
}

export interface ReceivedFile {
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Every value of a field, in the order of the form. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

export const NO_UNITS: Units = Object.freeze({ prompt: 0, characters: 0, milliseconds: 0, images: 0 });

const MIN_KEPT_COUNT = 20_000;

/** The newest entries, oldest first. Bounded, for a simulator can run for days. */
export class Ledger {
  #entries: LedgerEntry[] = [];
  readonly #live = new Set<LedgerEntry>();

  /** Streams, of events or audio, that have begun and not yet closed. */
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
      requestBytes: 0,
      body: null,
      model: "",
      refusal: null,
      upload: null,
      stream: false,
      status: 0,
      events: 0,
      bytes: 0,
      tokens: 0,
      units: NO_UNITS,
      claimed: null,
      ending: null,
      aborted: false,
      closedAt: null,
    };
    this.#live.add(entry);
    this.#entries.push(entry);
    // Halved at double size: dropping one from the front of an array each time would cost a copy a request.
    if (this.#entries.length >= 2 * MIN_KEPT_COUNT) this.#entries = this.#entries.slice(-MIN_KEPT_COUNT);
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
