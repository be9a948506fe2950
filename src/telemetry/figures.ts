import { type Exchange, type Outcome, upstreamTime } from "../kit/index.ts";

/** What one second brought, as processes tell each other: JSON. */
export interface FigurePoint {
  /** Unix milliseconds of its end, a whole second. */
  readonly at: number;
  readonly requests: number;
  /** At its end, this and the next. */
  readonly in_flight: number;
  readonly streams: number;
  /** By code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Pairs of bucket and count, in order. */
  readonly ttft: readonly number[];
  readonly overhead: readonly number[];
  /** Nano-units. */
  readonly spend: string;
}

/** 15 minutes. */
export const MAX_POINTS = 900;
const SECOND_MS = 1_000;

/** Four buckets to each doubling, from 1/256 ms on: what is read from them is 9 % off at most. */
const BUCKETS_PER_OCTAVE = 4;
const LOWEST_OCTAVE = -8;
const BUCKET_COUNT = 112;

const NOTHING: readonly number[] = [];
const NO_ERRORS: FigurePoint["errors"] = Object.freeze({});

interface FiguresOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly inFlight: () => number;
  readonly streams: () => number;
}

/** Counts what each second brings, and keeps the last 15 minutes of it. */
export class Figures {
  readonly #options: FiguresOptions;
  /** The latest ones, oldest first. */
  readonly #points: FigurePoint[] = [];
  readonly #ttft = new Buckets();
  readonly #overhead = new Buckets();
  readonly #errors = new Map<string, number>();
  #requests = 0;
  #spend = 0n;

  constructor(options: FiguresOptions) {
    this.#options = options;
  }

  finished({ receivedAt }: Pick<Exchange, "receivedAt">, outcome: Outcome): void {
    const { firstEventAt, timeline, bill, code, target } = outcome;
    this.#requests += 1;
    if (code !== null) this.#count(code);
    if (firstEventAt !== null && target !== null) this.#ttft.add(firstEventAt - receivedAt);
    // What answered by itself has no upstream's time to take off: its own would hide that of the others.
    if (timeline !== undefined && target !== null) {
      const { end, waited, attempts } = timeline;
      this.#overhead.add(end - waited - upstreamTime(attempts, end));
    }
    if (bill.charge > 0n) this.#spend += bill.charge;
  }

  /** A request that did not reach an upstream. */
  refused(code: string | null): void {
    this.#requests += 1;
    if (code !== null) this.#count(code);
  }

  /** To be called just after each whole second. Ends it, or the few that the event loop was held up for. */
  tick(): void {
    const at = Math.floor(this.#options.now() / SECOND_MS) * SECOND_MS;
    // A timer may be early: the second is not over then.
    if (at <= (this.#points.at(-1)?.at ?? 0) && at > (this.#points.at(-1)?.at ?? 0) - SECOND_MS) return;
    this.#points.push({
      at,
      requests: this.#requests,
      in_flight: this.#options.inFlight(),
      streams: this.#options.streams(),
      errors: this.#errors.size === 0 ? NO_ERRORS : Object.fromEntries(this.#errors),
      ttft: this.#ttft.take(),
      overhead: this.#overhead.take(),
      spend: this.#spend === 0n ? "0" : String(this.#spend),
    });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#requests = 0;
    this.#spend = 0n;
    this.#errors.clear();
  }

  /** The seconds that ended after this time, oldest first. */
  since(at: number): readonly FigurePoint[] {
    const first = this.#points.findIndex((point) => point.at > at);
    return first < 0 ? [] : this.#points.slice(first);
  }

  #count(code: string): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }
}

/** Milliseconds to just after the next whole second. */
export function untilNextSecond(now: number): number {
  return SECOND_MS - (now % SECOND_MS) + 1;
}

class Buckets {
  readonly #counts = new Uint32Array(BUCKET_COUNT);
  #isEmpty = true;

  add(milliseconds: number): void {
    const octaves = Math.log2(Math.max(milliseconds, Number.MIN_VALUE)) - LOWEST_OCTAVE;
    const bucket = Math.min(BUCKET_COUNT - 1, Math.max(0, Math.ceil(octaves * BUCKETS_PER_OCTAVE)));
    this.#counts[bucket]! += 1;
    this.#isEmpty = false;
  }

  take(): readonly number[] {
    if (this.#isEmpty) return NOTHING;
    const pairs: number[] = [];
    for (const [bucket, count] of this.#counts.entries()) if (count > 0) pairs.push(bucket, count);
    this.#counts.fill(0);
    this.#isEmpty = true;
    return pairs;
  }
}

/** What several processes counted, as one: second by second, the latest 15 minutes. */
export function mergePoints(all: readonly (readonly FigurePoint[])[]): readonly FigurePoint[] {
  if (all.length === 1) return all[0]!;
  const merged = new Map<number, FigurePoint>();
  for (const point of all.flat()) {
    const known = merged.get(point.at);
    merged.set(point.at, known === undefined ? point : sumOf(known, point));
  }
  return [...merged.values()].toSorted((a, b) => a.at - b.at).slice(-MAX_POINTS);
}

function sumOf(a: FigurePoint, b: FigurePoint): FigurePoint {
  const errors = { ...a.errors };
  for (const [code, count] of Object.entries(b.errors)) errors[code] = (errors[code] ?? 0) + count;
  return {
    at: a.at,
    requests: a.requests + b.requests,
    in_flight: a.in_flight + b.in_flight,
    streams: a.streams + b.streams,
    errors,
    ttft: sumOfPairs(a.ttft, b.ttft),
    overhead: sumOfPairs(a.overhead, b.overhead),
    spend: String(BigInt(a.spend) + BigInt(b.spend)),
  };
}

function sumOfPairs(a: readonly number[], b: readonly number[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const pairs of [a, b]) {
    for (let at = 0; at < pairs.length; at += 2) {
      counts.set(pairs[at]!, (counts.get(pairs[at]!) ?? 0) + pairs[at + 1]!);
    }
  }
  return [...counts].toSorted(([one], [other]) => one - other).flat();
}

/** Milliseconds that this share took at most; null where nothing was measured. */
export function percentile(pairs: readonly number[], share: number): number | null {
  let total = 0;
  for (let at = 1; at < pairs.length; at += 2) total += pairs[at]!;
  if (total === 0) return null;
  let left = Math.ceil(share * total);
  for (let at = 0; at < pairs.length; at += 2) {
    left -= pairs[at + 1]!;
    if (left <= 0) return middleOf(pairs[at]!);
  }
  return middleOf(pairs.at(-2)!);
}

/** Three digits: no more is known. */
function middleOf(bucket: number): number {
  return Number((2 ** (LOWEST_OCTAVE + (bucket - 0.5) / BUCKETS_PER_OCTAVE)).toPrecision(3));
}
