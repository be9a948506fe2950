import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { isStoreUnavailable, type Log } from "../kit/index.ts";
import type { Listening } from "../server/listen.ts";
import type { PublicServer } from "../server/public.ts";

const POLL_MS = 20;
/** Time to settle requests that were aborted. The store's own deadlines are shorter; a charge not settled by then is lost. */
const SETTLE_TIMEOUT_MS = 5_000;
/** Requests still running this long before the timeout are expected to be aborted. */
const LATE_MS = 2_000;
/** Time for answers to reach their clients before connections are cut: finished ones, and aborted ones. */
const FLUSH_FINISHED_MS = 50;
const FLUSH_ABORTED_MS = 250;
/** Time that each step of closing gets, even when the deadline has passed because the process was busy. */
const MIN_STEP_MS = 50;

interface DrainParts {
  readonly server: PublicServer;
  readonly listening: Listening;
  /** New requests are still served for this long: load balancers have not noticed yet. */
  readonly delayMs: number;
  /** Time for requests in flight after that. */
  readonly timeoutMs: number;
  /** Called `LATE_MS` before the timeout if requests still run: their tokens will have to be counted. */
  readonly onLate: () => void;
  /** Called after requests were aborted: from now on nothing may wait long for the store. */
  readonly onTimeout: () => void;
  readonly log: Log;
}

/** Stops serving without losing a request that can finish in time. Resolves when everything is settled. */
export async function drain(parts: DrainParts): Promise<void> {
  const { server, listening, delayMs, timeoutMs, onLate, onTimeout, log } = parts;
  server.setDraining(true);
  if (delayMs > 0) await sleep(delayMs);
  const until = performance.now() + timeoutMs;
  /** @returns whether requests had to be aborted. */
  const finish = async (): Promise<boolean> => {
    await untilIdle(server, until);
    const left = server.inFlight();
    if (left === 0) return false;
    log.warn({ requests: left }, "drain timed out; ending the remaining requests");
    server.abortAll("shutdown");
    onTimeout();
    await untilIdle(server, until + SETTLE_TIMEOUT_MS);
    return true;
  };
  await readPending();
  const closed = listening.close();
  await untilIdle(server, until - LATE_MS);
  if (server.inFlight() > 0) onLate();
  const aborted = await finish();
  await Promise.race([closed, sleep(aborted ? FLUSH_ABORTED_MS : FLUSH_FINISHED_MS)]);
  await readPending();
  // Requests that arrived while the last answers were written.
  if (await finish()) await sleep(FLUSH_FINISHED_MS);
  listening.closeAll();
  await closed;
}

/** A connection whose request a busy process has not read yet would count as idle and be cut: lets it be read first. */
async function readPending(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/** Resolves when no request is in flight, and at the latest at `until` (as `performance.now()`). */
async function untilIdle(server: PublicServer, until: number): Promise<void> {
  while (server.inFlight() > 0 && performance.now() < until) await sleep(POLL_MS);
}

/** One moment by which several steps must be over: time that one step uses is missing for the next. */
export class Deadline {
  readonly #at: number;

  constructor(milliseconds: number) {
    this.#at = performance.now() + milliseconds;
  }

  get leftMs(): number {
    return Math.max(MIN_STEP_MS, this.#at - performance.now());
  }

  /** @returns whether `work` ended in time; it is not cancelled otherwise. @throws what it throws in time. */
  async bounds(work: Promise<unknown>): Promise<boolean> {
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), this.leftMs);
    try {
      return await Promise.race([work.then(() => true), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Closes one thing. @param deadline of all closing; null for none. */
type Closer = (deadline: Deadline | null) => void | Promise<void>;

/** What a start has opened, closed in reverse order: at a stop, and after a start that failed half-way. */
export class Closing {
  readonly #log: Log;
  #closers: Closer[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(close: Closer): void {
    this.#closers.push(close);
  }

  /** A closer that throws or is late does not keep the others from running. @param deadline null: each takes what it needs. */
  async all(deadline: Deadline | null): Promise<void> {
    const closers = this.#closers.toReversed();
    this.#closers = [];
    let late = 0;
    for (const close of closers) {
      try {
        const closed = Promise.resolve(close(deadline));
        if (deadline === null) await closed;
        else if (!(await deadline.bounds(closed))) late++;
      } catch (err) {
        // What is lost then are last uses of keys and unconfirmed reservations, never a charge.
        if (isStoreUnavailable(err)) this.#log.warn({}, "store is down; shutdown not recorded there");
        else this.#log.error({ err }, "close failed");
      }
    }
    if (late > 0) this.#log.warn({ late }, "close timed out");
  }
}

/** After an uncaught exception: time for requests in flight, and until the process exits whatever happens. */
const FAULT_DRAIN_MS = 5_000;
const FAULT_EXIT_MS = 12_000;

interface SignalHandlers {
  /** See `Gateway.drain`. */
  readonly drain: (maxMs?: number) => Promise<void>;
  readonly reload: () => void;
  /** Ends at once, at a second signal. */
  readonly force: () => void;
  /** @param code 0 drained, 1 uncaught exception, 3 the drain failed. */
  readonly exit: (code: number) => void;
  readonly log: Log;
}

/**
 * The first SIGTERM or SIGINT drains the process, the second ends it at once, SIGHUP reloads the configuration. An uncaught
 * exception drains it for a few seconds and ends it: the state that it left behind cannot be trusted.
 */
export function handleSignals({ drain, reload, force, exit, log }: SignalHandlers): void {
  let stopping = false;
  let faulty = false;
  const stop = (): void => {
    if (stopping) return force();
    stopping = true;
    drain().then(
      () => exit(faulty ? 1 : 0),
      (err: unknown) => {
        log.error({ err }, "drain failed");
        exit(3);
      },
    );
  };
  const drainAndFail = (): void => {
    drain(FAULT_DRAIN_MS)
      .catch((err: unknown) => log.error({ err }, "drain failed"))
      .finally(() => exit(1));
  };
  const fault = (err: unknown): void => {
    log.error({ err }, faulty ? "another uncaught exception" : "uncaught exception: draining, then ending");
    if (faulty) return;
    faulty = true;
    setTimeout(() => exit(1), FAULT_EXIT_MS).unref();
    drainAndFail();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", reload);
  // Unhandled rejections arrive here as well.
  process.on("uncaughtException", fault);
}
