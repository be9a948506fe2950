import { AttemptError, DenseSet, type Indexed, type Timeouts } from "../../kit/index.ts";

/** What a try is at. */
type Phase = "connect" | "send" | "head" | "body";

const TIMEOUT_MESSAGES: Readonly<Record<Phase, string>> = {
  connect: "upstream timed out while connecting",
  send: "upstream timed out while the request was sent",
  head: "upstream timed out waiting for the first byte",
  body: "upstream timed out in the middle of its answer",
};

/** By when one try must get on, and what it means when it has not. Times are Unix milliseconds. */
export class Deadlines {
  readonly startedAt: number;
  readonly #timeouts: Timeouts;
  readonly #deadline: number;
  readonly #stream: boolean;
  #phaseDue: number;
  /** Until when the upstream may take to be connected, and then to begin. */
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

  /** The upstream has a piece of the request: its time to take the next one, or to begin, runs from now. */
  partSent(now: number): void {
    this.#answerDue = now + this.#timeouts.firstByte;
    this.#phaseDue = this.#answerDue;
  }

  /**
   * The upstream has the whole request. `first_byte` bounds the head of a stream only: a whole answer may take as long
   * as it needs, for nothing of it comes before it is made (decisions 5.1b).
   */
  requestSent(now: number): void {
    this.partSent(now);
    if (!this.#stream) this.#phaseDue = Infinity;
  }

  /** A byte of the answer, or the head of a stream or of a refusal. */
  received(now: number): void {
    this.#phaseDue = now + this.#timeouts.idle;
  }

  /** An upstream that is not read cannot be blamed for its silence. */
  paused(): void {
    this.#phaseDue = Infinity;
  }

  /** The answer has begun: the request's own deadline no longer applies. */
  answerBegun(): void {
    this.#begun = true;
  }

  /** @param saturated whether it is our own connections that were waited for. */
  timeoutAt(phase: Phase, saturated: boolean, now: number): AttemptError {
    if (!this.#begun && this.#deadline <= now) {
      // A whole answer that took longer than a head may is slow enough to count: else one that hangs never would.
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

/** Something that must happen by `due` (Unix milliseconds), which may be moved while it is watched. */
export interface SweptEntry extends Indexed {
  due: number;
  /** Called on every tick from `due` on until the entry is unwatched or `due` has moved. */
  expire(now: number): void;
}

const SWEEP_INTERVAL_MS = 50;

/** One coarse timer for every deadline of the process: a timer per request costs more than the check of all of them. */
export class DeadlineSweeper {
  readonly #now: () => number;
  readonly #watched = new DenseSet<SweptEntry>();
  #interval: NodeJS.Timeout | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  watch(entry: SweptEntry): void {
    this.#watched.add(entry);
    // Sweeping after the poll phase: bytes that arrived while the loop was blocked move a deadline before it is judged.
    this.#interval ??= setInterval(() => setImmediate(() => this.#sweep()), SWEEP_INTERVAL_MS).unref();
  }

  unwatch(entry: SweptEntry): void {
    this.#watched.delete(entry);
  }

  /** `Host.schedule`: calls back once about when `at` (Unix milliseconds) is reached; returns what cancels it. */
  schedule(at: number, callback: () => void): () => void {
    const cancel = (): void => this.unwatch(entry);
    const entry: SweptEntry = {
      due: at,
      index: -1,
      expire() {
        cancel();
        callback();
      },
    };
    this.watch(entry);
    return cancel;
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
