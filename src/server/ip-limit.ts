import {
  type CountWindow,
  GatewayError,
  inBackground,
  isStoreUnavailable,
  type Log,
  type ServerSettings,
  type Store,
} from "../kit/index.ts";
import { limitKey } from "./client-address.ts";

/** Beyond this many addresses in one window the oldest is forgotten: a flood of addresses must not fill the memory. */
const MAX_ADDRESSES = 100_000;

/**
 * Of its limit, an address has a part in each process before the store is asked, rounded down but one request at least:
 * with N processes it is let through N - 1 such parts more than its limit at most.
 */
const LOCAL_PARTS = 50;

type Verdict = GatewayError | null;

export interface IpLimit {
  /**
   * Counts one request. @returns the refusal when its address has none left; a promise where the store is asked, which
   * settles soon also when the store does not.
   */
  take(address: string, limit: ServerSettings["ipLimit"], now: number): Verdict | Promise<Verdict>;
}

/** Requests of one address in one window. */
interface Count {
  /** Of all processes, as far as this one knows. */
  known: number;
  /** Those of them that have not been reported to the store. */
  unreported: number;
  query: StoreQuery | null;
}

type Admitted = (is: boolean) => void;

/**
 * Fixed windows, one counter an IPv4 address or IPv6 /64. `now` is Unix milliseconds.
 * @param addCounts of the store that several processes share; null where one process has every request.
 */
export function createIpLimit(addCounts: Store["addCounts"] | null, log: Log): IpLimit {
  const counts = new Map<string, Count>();
  /** An iterator that is kept: a new one would pass over all deleted entries, at every address of a flood. */
  let oldest = counts.keys();
  const batches = addCounts && new CountBatches(addCounts, log);
  let window: CountWindow = { name: "requests of addresses", length: 0, endsAt: 0 };

  const countOf = (key: string): Count => {
    const known = counts.get(key);
    if (known) return known;
    if (counts.size >= MAX_ADDRESSES) counts.delete(oldest.next().value!);
    const count: Count = { known: 0, unreported: 0, query: null };
    counts.set(key, count);
    return count;
  };

  return {
    take(address, limit, now) {
      if (limit === null) return null;
      const { length, endsAt, name } = window;
      if (now >= endsAt || now < endsAt - length || length !== limit.window) {
        counts.clear();
        oldest = counts.keys();
        window = { name, length: limit.window, endsAt: (Math.floor(now / limit.window) + 1) * limit.window };
      }
      const seconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
      const refused = () => refusal(limit.requests, seconds);
      const key = limitKey(address);
      const count = countOf(key);
      const admitted = count.query === null ? admitLocally(count, limit.requests, batches) : null;
      if (admitted !== null) return admitted ? null : refused();
      return new Promise((resolve) => {
        count.query ??= new StoreQuery(window, key, count, limit.requests, batches!);
        count.query.join((is) => resolve(is ? null : refused()));
      });
    },
  };
}

/** Whether a request is admitted; null when the store has to be asked. */
function admitLocally(count: Count, limit: number, batches: CountBatches | null): boolean | null {
  if (count.known >= limit) return false;
  if (batches?.open === true && count.unreported >= Math.max(1, Math.floor(limit / LOCAL_PARTS))) return null;
  count.known += 1;
  count.unreported += 1;
  return true;
}

/**
 * One question to the store about one address. It reports the requests that were let through, and those that wait: each
 * of these then has its place among the requests of all processes.
 */
class StoreQuery implements CountReport {
  readonly window: CountWindow;
  readonly name: string;
  readonly #count: Count;
  readonly #limit: number;
  readonly #batches: CountBatches;
  #reported: Admitted[] = [];
  #waiting: Admitted[] = [];

  constructor(window: CountWindow, name: string, count: Count, limit: number, batches: CountBatches) {
    this.window = window;
    this.name = name;
    this.#count = count;
    this.#limit = limit;
    this.#batches = batches;
    batches.add(this);
  }

  join(request: Admitted): void {
    this.#waiting.push(request);
  }

  uses(): number {
    this.#reported = this.#waiting.splice(0);
    const uses = this.#count.unreported + this.#reported.length;
    this.#count.unreported = 0;
    return uses;
  }

  answered(total: number | null): void {
    const count = this.#count;
    const reported = this.#reported.splice(0);
    // Never below what this process has let through: the store may have lost or never kept it.
    const last = Math.max(total ?? 0, count.known + reported.length);
    const first = last - reported.length + 1;
    count.known = last;
    for (const [index, request] of reported.entries()) request(first + index <= this.#limit);
    if (count.query !== this) return;
    count.query = null;
    // Those that came after the batch was sent.
    for (const request of this.#waiting.splice(0)) this.#decide(request);
  }

  #decide(request: Admitted): void {
    const count = this.#count;
    const admitted = count.query === null ? admitLocally(count, this.#limit, this.#batches) : null;
    if (admitted !== null) return request(admitted);
    count.query ??= new StoreQuery(this.window, this.name, count, this.#limit, this.#batches);
    count.query.join(request);
  }
}

function refusal(requests: number, seconds: number): GatewayError {
  return new GatewayError("IP_RATE_LIMIT", "Rate limit exceeded. Please try again later.", {
    retryAfter: seconds,
    fields: { retry_after: seconds },
    headers: {
      "X-RateLimit-Limit": String(requests),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(seconds),
    },
  });
}

/** From the start of one batch to the start of the next: a flood of addresses costs the store 100 calls a second from a process. */
const MIN_INTERVAL_MS = 10;
/** Of one batch: bounds the time for which a batch keeps the store busy. */
const MAX_BATCH_COUNT = 500;
/** Reports that wait for a batch. */
const MAX_WAITING_COUNT = 10_000;
/** Requests wait for a batch no longer than this, which a store that answers is far from. */
const ANSWER_TIMEOUT_MS = 250;
/** After a batch that failed, none is sent for so long. */
const FAILURE_PAUSE_MS = 1_000;

/** What a batch reports to the store of one counter. */
interface CountReport {
  readonly window: CountWindow;
  readonly name: string;
  /** Called as the batch begins. @returns what is added to the counter. */
  uses(): number;
  /**
   * The counter afterwards, or null when it cannot be had in time; a batch whose answer is late is
   * reported after all, by a second call.
   */
  answered(total: number | null): void;
}

/** Adds to counters that processes share, many at a time: one call of the store after the other. */
class CountBatches {
  readonly #addCounts: Store["addCounts"];
  readonly #log: Log;
  readonly #waiting: CountReport[] = [];
  #beganAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #underWay = false;
  #failing = false;

  constructor(addCounts: Store["addCounts"], log: Log) {
    this.#addCounts = addCounts;
    this.#log = log;
  }

  /** Whether the store is to be asked: not while it does not answer, nor when too many wait already. */
  get open(): boolean {
    return !this.#failing && this.#waiting.length < MAX_WAITING_COUNT;
  }

  add(report: CountReport): void {
    this.#waiting.push(report);
    this.#next();
  }

  #next(): void {
    if (this.#underWay || this.#timer !== null || this.#waiting.length === 0) return;
    // A batch takes along what comes in the same turn of the event loop.
    const wait = Math.max(0, MIN_INTERVAL_MS - (performance.now() - this.#beganAt));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      inBackground(this.#log, "counting for all processes", this.#send());
    }, wait).unref();
  }

  async #send(): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#beganAt = performance.now();
    this.#underWay = true;
    const batch = this.#take(first.window);
    const late = setTimeout(() => this.#fail(batch), ANSWER_TIMEOUT_MS).unref();
    const totals = await this.#ask(first.window, batch);
    clearTimeout(late);
    if (totals === null) {
      this.#fail(batch);
      setTimeout(() => {
        this.#failing = false;
      }, FAILURE_PAUSE_MS).unref();
    } else {
      this.#failing = false;
      for (const [index, report] of batch.entries()) report.answered(totals[index] ?? null);
    }
    this.#underWay = false;
    this.#next();
  }

  /** @returns null when the store does not answer. */
  async #ask(window: CountWindow, batch: readonly CountReport[]): Promise<readonly (number | null)[] | null> {
    try {
      return await this.#addCounts(
        window,
        batch.map((report) => ({ name: report.name, uses: report.uses() })),
      );
    } catch (error) {
      // That it is away is in the log already.
      if (!isStoreUnavailable(error))
        this.#log.error({ err: error }, "shared IP limit unavailable; each process counts alone");
      return null;
    }
  }

  /** The first of those that wait, as far as they are of the same window. */
  #take({ name, length, endsAt }: CountWindow): CountReport[] {
    const isOther = ({ window }: CountReport): boolean =>
      window.endsAt !== endsAt || window.length !== length || window.name !== name;
    const other = this.#waiting.slice(0, MAX_BATCH_COUNT).findIndex(isOther);
    return this.#waiting.splice(0, other < 0 ? MAX_BATCH_COUNT : other);
  }

  /** Nobody waits any longer, whether or not their batch has begun. */
  #fail(batch: readonly CountReport[]): void {
    this.#failing = true;
    for (const report of [...batch, ...this.#waiting.splice(0)]) report.answered(null);
  }
}
