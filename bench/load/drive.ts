/**
 * The load: keep-alive connections, each with a request at a time. A connection sends its next request when its answer has
 * come, or when one is due at a fixed rate; or it has one stream. Every answer is checked. The proxy's CPU time is read in
 * the same instant as the counters.
 * `node drive.ts '{"port":…,"pid":…,"key":…,"mode":"json"|"sse","connections":64,"warmup":1,"seconds":3}'` prints a Result as JSON.
 */
import { cpuTime, residentMemory } from "./cpu.ts";
import { Caller } from "./caller.ts";
import { type Format, RATE } from "./wire.ts";

export interface Load {
  readonly port: number;
  /** The proxy whose CPU time is read. */
  readonly pid: number;
  /** The server of its store, whose CPU time is read too. */
  readonly storePid?: number;
  readonly key: string;
  readonly mode: "json" | "sse";
  readonly connections: number;
  /** Seconds before measuring. */
  readonly warmup: number;
  /** JSON answers before it, or three times as many seconds: on a busy machine compiling takes longer. */
  readonly warmupAnswers?: number;
  readonly seconds: number;
  /** Of the requests and of the events that come back. "openai" unless given. */
  readonly format?: Format;
  readonly model?: string;
  readonly requestBytes?: number;
  /** Besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON requests a second, of all connections together; each when its answer has come unless given. */
  readonly rate?: number;
  /** Events of content a second that the upstream sends in each stream. */
  readonly eventRate?: number;
  /** Streams are closed after the measured time, in place of running to their end. */
  readonly breakOff?: boolean;
  /** Requests take turns with so many keys and models in place of `key` and `model`. */
  readonly turns?: { readonly keys: number; readonly models: number };
}

/** Milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Result {
  /** Answers, or events of content, within the measured time. */
  readonly count: number;
  readonly seconds: number;
  /** Microseconds of the proxy's CPU for each. */
  readonly cpu: number;
  /** Which part of one CPU the proxy used. */
  readonly busy: number;
  /** Microseconds of the store's server; null without one. */
  readonly storeCpu: number | null;
  readonly residentBytes: number;
  /** From a request to the end of its answer, or from the writing of an event to its reading; null when there was none. */
  readonly delay: Quantiles | null;
  /** Whole answers, warm-up included. */
  readonly answers: number;
  /** Answers that were not what they had to be, warm-up included. */
  readonly bad: number;
  /** The first of them. */
  readonly sample: string;
}

/** Connections are opened so many at a time. */
const OPENED_TOGETHER = 50;
const OPENING_PAUSE_MS = 5;
const MAX_LONGER_MS = 10_000;

/** Puts the load on a proxy and measures. */
export async function drive(load: Load): Promise<Result> {
  const { mode, pid, storePid, warmup, seconds, rate } = load;
  const opening = (load.connections / OPENED_TOGETHER) * OPENING_PAUSE_MS * 2;
  const total = warmup + seconds + 1 + opening / 1_000;
  const length = mode === "sse" ? Math.ceil(total * (load.eventRate ?? RATE)) : null;
  const delays: number[] = [];
  const pace = rate === undefined || length !== null ? null : new Pace(rate);
  const callers: Caller[] = [];
  while (callers.length < load.connections) {
    callers.push(new Caller(load, callers.length, { length, delays, onFree: pace && ((caller) => pace.free(caller)) }));
    if (callers.length % OPENED_TOGETHER === 0) await sleep(OPENING_PAUSE_MS);
  }
  const sum = (of: "count" | "answers" | "bad") => callers.reduce((total, caller) => total + caller[of], 0);
  const read = () => ({
    count: sum("count"),
    cpu: cpuTime(pid),
    storeCpu: storePid === undefined ? 0 : cpuTime(storePid),
    at: performance.now(),
  });
  await sleep(warmup * 1_000);
  const enough = length === null && pace === null ? (load.warmupAnswers ?? 0) : 0;
  const most = performance.now() + warmup * 2_000;
  while (sum("answers") < enough && performance.now() < most) await sleep(50);
  const before = read();
  delays.length = 0;
  await sleep(seconds * 1_000);
  // On a busy machine nothing may have come yet.
  for (let left = MAX_LONGER_MS; left > 0 && sum("count") === before.count; left -= 50) await sleep(50);
  const after = read();
  const delay = quantilesOf(delays);
  const residentBytes = residentMemory(pid);
  pace?.end();
  // Streams run to their end, so that each can be checked whole; the others have no end of their own.
  if (length === null || load.breakOff === true) for (const caller of callers) caller.stop();
  await Promise.all(callers.map((caller) => caller.over));
  const count = after.count - before.count;
  return {
    count,
    seconds: (after.at - before.at) / 1_000,
    cpu: (after.cpu - before.cpu) / 1_000 / count,
    busy: (after.cpu - before.cpu) / 1e6 / (after.at - before.at),
    storeCpu: storePid === undefined ? null : (after.storeCpu - before.storeCpu) / 1_000 / count,
    residentBytes,
    delay,
    answers: sum("answers"),
    bad: sum("bad"),
    sample: callers.find((caller) => caller.sample !== "")?.sample ?? "",
  };
}

/** Sends requests as they are due, over connections that are free. */
class Pace {
  readonly #rate: number;
  readonly #free: Caller[] = [];
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  constructor(rate: number) {
    this.#rate = rate;
    this.#timer = setInterval(() => this.#send(), 1);
  }

  free(caller: Caller): void {
    this.#free.push(caller);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    const due = Math.floor(((performance.now() - this.#begun) / 1_000) * this.#rate);
    // What finds no connection free is sent when one is.
    for (; this.#sent < due && this.#free.length > 0; this.#sent++) this.#free.shift()?.ask();
  }
}

/** @param microseconds sorted by this. */
export function quantilesOf(microseconds: number[]): Quantiles | null {
  if (microseconds.length === 0) return null;
  const sorted = microseconds.sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1_000;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

if (import.meta.main) {
  const result = await drive(JSON.parse(process.argv[2] ?? "{}") as Load);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
