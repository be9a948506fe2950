import { AttemptError, DenseSet, type Indexed, type Timeouts } from "../../kit/index.ts";

/** What a request is waiting for. */
type Phase = "connect" | "send" | "head" | "body";

const TIMEOUT_MESSAGES: Readonly<Record<Phase, string>> = {
  connect: "upstream timed out while connecting",
  send: "upstream timed out while the request was sent",
  head: "upstream timed out waiting for the first byte",
  body: "upstream stream timed out in the middle of its answer",
};

/** The deadlines of one upstream request, per phase, and the error when one passes. Times are Unix milliseconds. */
export class Deadlines {
  readonly startedAt: number;
  readonly #timeouts: Timeouts;
  readonly #deadline: number;
  readonly #stream: boolean;
  #phaseDue: number;
  /** End of the connect timeout, then of the first-byte timeout. */
  #answerDue: number;
  #begun = false;

  /** @param deadline by which the answer must have begun (a stream) or ended (any other). */
  constructor(timeouts: Timeouts, stream: boolean, deadline: number, now: number) {
    this.startedAt = now;
    this.#stream = stream;
    this.#timeouts = timeouts;
    this.#deadline = deadline;
    this.#answerDue = now + timeouts.connect;
    this.#phaseDue = this.#answerDue;
  }

  get due(): number {
    return Math.min(this.#phaseDue, this.startedAt + this.#timeouts.total, this.#begun ? Infinity : this.#deadline);
  }

  /** Part of the request was written: the time for the next part, or for the answer to begin, starts again. */
  partSent(now: number): void {
    this.#answerDue = now + this.#timeouts.firstByte;
    this.#phaseDue = this.#answerDue;
  }

  /**
   * The whole request was written. `first_byte` bounds the head of a stream only: an upstream sends nothing of an
   * answer that is not streamed before it has made all of it.
   */
  requestSent(now: number): void {
    this.partSent(now);
    if (!this.#stream) this.#phaseDue = Infinity;
  }

  /** Bytes of the answer came, or the head of a stream or of an error response. */
  received(now: number): void {
    this.#phaseDue = now + this.#timeouts.idle;
  }

  /** While the gateway does not read, the upstream's silence is not its fault: no idle timeout. */
  paused(): void {
    this.#phaseDue = Infinity;
  }

  /** The answer has begun: the request's own deadline no longer applies. */
  answerBegun(): void {
    this.#begun = true;
  }

  /** @param saturated whether the request waits for one of the pool's own connections. */
  timeoutAt(phase: Phase, saturated: boolean, now: number): AttemptError {
    if (!this.#begun && this.#deadline <= now) {
      // Past the first-byte timeout it counts against the upstream: otherwise one that hangs on whole answers never
      // would.
      const notUpstreamFault = saturated || now < this.#answerDue;
      return new AttemptError("timeout", "the request's deadline passed before the answer", { notUpstreamFault });
    }
    if (saturated) return new AttemptError("saturated", "every connection to the upstream is in use");
    const total = this.startedAt + this.#timeouts.total <= now && phase !== "head";
    return new AttemptError(
      "timeout",
      total ? "upstream timed out before the end of its answer" : TIMEOUT_MESSAGES[phase],
    );
  }
}

/** Is called once `due` (Unix milliseconds) has passed; `due` may be moved while it is watched. */
export interface SweptEntry extends Indexed {
  due: number;
  /** Called on every sweep from `due` on, until the entry is unwatched or `due` has moved. */
  expire(now: number): void;
}

/** Calls deadlines back: of a process, one timer for all of them; offline, a clock that is advanced. */
export interface Sweeper {
  watch(entry: SweptEntry): void;
  unwatch(entry: SweptEntry): void;
  /** As `Host.schedule`. */
  schedule(at: number, callback: () => void): () => void;
}

const SWEEP_INTERVAL_MS = 50;

/** One coarse timer for every deadline of the process: a timer per request costs more than checking all of them. */
export class DeadlineSweeper implements Sweeper {
  readonly #now: () => number;
  readonly #watched = new DenseSet<SweptEntry>();
  #interval: NodeJS.Timeout | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  watch(entry: SweptEntry): void {
    this.#watched.add(entry);
    // After the poll phase: bytes that arrived while the event loop was blocked move a deadline before it is checked.
    this.#interval ??= setInterval(() => setImmediate(() => this.#sweep()), SWEEP_INTERVAL_MS).unref();
  }

  unwatch(entry: SweptEntry): void {
    this.#watched.delete(entry);
  }

  /** `Host.schedule`: calls back once about when `at` (Unix milliseconds) is reached; returns what cancels it. */
  schedule(at: number, callback: () => void): () => void {
    const entry = new ScheduledCall(at, callback, this);
    this.watch(entry);
    return () => this.unwatch(entry);
  }

  #sweep(): void {
    const now = this.#now();
    this.#watched.each((entry) => {
      if (entry.due <= now) entry.expire(now);
    });
    if (this.#watched.size > 0 || this.#interval === null) return;
    clearInterval(this.#interval);
    this.#interval = null;
  }
}

/** Smaller than an object literal with closures, of which every open stream would have one. */
class ScheduledCall implements SweptEntry {
  index = -1;
  readonly due: number;
  readonly #callback: () => void;
  readonly #sweeper: Sweeper;

  constructor(due: number, callback: () => void, sweeper: Sweeper) {
    this.due = due;
    this.#callback = callback;
    this.#sweeper = sweeper;
  }

  expire(): void {
    this.#sweeper.unwatch(this);
    this.#callback();
  }
}
