import { type CountWindow, GatewayError, type Log, type ServerSettings, type Store } from "../kit/index.ts";
import { CountBatches, type CountReport } from "./count-batches.ts";
import { limitKey } from "./ip-address.ts";

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
  /** Those of them that the store has not been told of. */
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
