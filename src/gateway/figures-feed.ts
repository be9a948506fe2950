import { GatewayError, inBackground, type Log, nanoToString } from "../kit/index.ts";
import { type FigurePoint, percentile, untilNextSecond } from "../telemetry/figures.ts";
import type { ConfigStatus, ProcessReport } from "./process-report.ts";
import { instancesBody, type Percentiles } from "./operations.ts";

/** One second as it is shown. */
export interface FigureBody {
  readonly at: string;
  readonly requests_per_second: number;
  readonly in_flight: number;
  readonly streams: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly ttft_ms: Percentiles;
  readonly overhead_ms: Percentiles;
  readonly spend_per_second: string;
}

export function figureBody({
  at,
  requests,
  in_flight,
  streams,
  errors,
  ttft,
  overhead,
  spend,
}: FigurePoint): FigureBody {
  return {
    at: new Date(at).toISOString(),
    requests_per_second: requests,
    in_flight,
    streams,
    errors,
    ttft_ms: percentilesOf(ttft),
    overhead_ms: percentilesOf(overhead),
    spend_per_second: nanoToString(BigInt(spend)),
  };
}

function percentilesOf(pairs: readonly number[]): Percentiles {
  return { p50: percentile(pairs, 0.5), p95: percentile(pairs, 0.95) };
}

const SEVERITY = { closed: 0, half_open: 1, open: 2 } as const;

/** What goes with each second: how everything is now. */
export function stateBody(report: ProcessReport) {
  const { status, upstreams, self, others } = report;
  const instances = instancesBody(report);
  const { generation, hash, loaded_at, last_rejection, guard } = status;
  return {
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, { breaker, health, manual }]) => {
        // Breakers are each instance's own: of all the one that is worst off is shown.
        const all = [breaker, ...[self, ...others].map(({ breakers }) => breakers[name] ?? "closed")];
        const state = all.reduce((worst, one) => (SEVERITY[one] > SEVERITY[worst] ? one : worst));
        return [name, { state, health, manual }];
      }),
    ),
    config: { generation, hash, loaded_at, last_rejection: rejectionOf(last_rejection), guard },
    instances: { count: instances.data.length, agree: instances.agree },
  };
}

/** Where and how many: the diagnostics are those of `GET /admin/config`. */
function rejectionOf(rejection: ConfigStatus["last_rejection"]) {
  if (rejection === null) return null;
  const { at, diagnostics } = rejection;
  return { at, errors: diagnostics.filter(({ severity }) => severity === "error").length };
}

export const MAX_LISTENERS = 50;
/** Events that wait for a reader: one that takes longer is dropped, and connects anew. */
const MAX_WAITING = 8;
/** After the second's end: by then every process has ended its own. */
const MARGIN_MS = 100;
const RETRY_MS = 2_000;
const SECOND_MS = 1_000;
/** Seconds told at once after a pause. */
const MAX_CATCH_UP_MS = 3_000;

interface FeedOptions {
  /** Those that ended after a time, of all processes. */
  readonly points: (since: number) => Promise<readonly FigurePoint[]>;
  readonly report: () => Promise<ProcessReport>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "debug">;
}

type Listener = ReadableStreamDefaultController<Uint8Array>;

/** Server-sent events, one `figures` a second, made once for all listeners; without listeners nothing is done. */
export class FiguresFeed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<Listener>();
  readonly #encoder = new TextEncoder();
  #timer: NodeJS.Timeout | null = null;
  #busy = false;
  #toldAt = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** @throws GatewayError OVERLOADED */
  listen(): ReadableStream<Uint8Array> {
    if (this.#listeners.size >= MAX_LISTENERS) {
      throw new GatewayError("OVERLOADED", `At most ${MAX_LISTENERS} listen at a time`, { retryAfter: 5 });
    }
    let own: Listener;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller;
          // At once, so that a page knows that it is connected.
          controller.enqueue(this.#encoder.encode(`retry: ${RETRY_MS}\n\n`));
          this.#add(controller);
        },
        cancel: () => this.#remove(own),
      },
      { highWaterMark: MAX_WAITING },
    );
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Ends all. */
  close(): void {
    for (const listener of this.#listeners) listener.close();
    this.#listeners.clear();
    this.#disarm();
  }

  #add(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#timer !== null) return;
    this.#toldAt = this.#options.now() - SECOND_MS;
    this.#arm();
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#disarm();
  }

  #arm(): void {
    this.#timer = setTimeout(
      () => {
        this.#arm();
        const told = this.#tell().catch((err: unknown) => {
          this.#options.log.debug({ err }, "live figures could not be sent; retrying in a second");
        });
        inBackground({ error: this.#options.log.debug.bind(this.#options.log) }, "telling figures", told);
      },
      untilNextSecond(this.#options.now() - MARGIN_MS),
    ).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #tell(): Promise<void> {
    // Processes that are slower than the interval must not be asked more and more.
    if (this.#busy) return;
    this.#busy = true;
    try {
      const { points, report, now } = this.#options;
      const since = Math.max(this.#toldAt, now() - MAX_CATCH_UP_MS);
      const [ended, state] = await Promise.all([points(since), report()]);
      const shown = stateBody(state);
      for (const point of ended) {
        this.#send(`event: figures\nid: ${point.at}\ndata: ${JSON.stringify({ ...figureBody(point), ...shown })}\n\n`);
        this.#toldAt = point.at;
      }
    } finally {
      this.#busy = false;
    }
  }

  #send(text: string): void {
    const chunk = this.#encoder.encode(text);
    for (const listener of this.#listeners) {
      if ((listener.desiredSize ?? 0) > 0) listener.enqueue(chunk);
      else {
        this.#remove(listener);
        listener.error(new Error("too slow a reader"));
      }
    }
  }
}
