import { inBackground, type Log } from "../../kit/index.ts";

/** The first probes of all upstreams are spread over this time. */
const FIRST_WITHIN_MS = 1_000;
/** Node's timers take no longer delay. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds that a probe took; null when it failed. */
export type ProbeResult = number | null | "inconclusive";

export interface ProbeSubject {
  /** Differs when the probe or its interval differs. */
  readonly fingerprint: string;
  /** Milliseconds from the beginning of one probe to that of the next. */
  readonly every: number;
  /** Does not throw. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
}

export interface ProberOptions {
  readonly upstream: string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onResult: (latency: number | null) => void;
  readonly log: Log;
}

/** Probes one upstream at its interval, one probe at a time; its timers do not keep the process alive. */
export class Prober {
  readonly #options: ProberOptions;
  #subject: ProbeSubject | null = null;
  #timer: NodeJS.Timeout | undefined;
  #running: AbortController | null = null;
  #failing = false;
  #closed = false;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** What is probed from now on: the same as before keeps its interval running, null stops. */
  setSubject(subject: ProbeSubject | null): void {
    if (this.#closed) return;
    const same = subject !== null && subject.fingerprint === this.#subject?.fingerprint;
    this.#subject = subject;
    if (same) return;
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    if (subject !== null) this.#schedule(this.#options.random() * Math.min(subject.every, FIRST_WITHIN_MS));
  }

  /** Stops for good. */
  close(): void {
    this.setSubject(null);
    this.#closed = true;
  }

  #schedule(delay: number): void {
    this.#timer = setTimeout(
      () => inBackground(this.#options.log, "a probe", this.#probe()),
      Math.min(delay, MAX_TIMER_MS),
    ).unref();
  }

  async #probe(): Promise<void> {
    const subject = this.#subject;
    if (subject === null) return;
    const running = new AbortController();
    this.#running = running;
    const startedAt = performance.now();
    const result = await subject.probe(running.signal);
    // Another subject was set meanwhile: the result is about the old one.
    if (this.#running !== running) return;
    this.#running = null;
    if (result !== "inconclusive") this.#report(result);
    this.#schedule(Math.max(0, startedAt + subject.every - performance.now()));
  }

  #report(latency: number | null): void {
    const { upstream, log, onResult } = this.#options;
    onResult(latency);
    const failed = latency === null;
    if (failed === this.#failing) return;
    this.#failing = failed;
    if (failed) log.warn({ upstream }, "probe failed: the upstream is not reachable with any of its keys");
    else log.info({ upstream }, "probe succeeded again");
  }
}
