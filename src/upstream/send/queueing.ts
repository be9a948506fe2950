import { AttemptError, type Cancellation } from "../../kit/index.ts";
import type { Slots, Waiter } from "../state/slots.ts";
import type { Sweeper } from "./deadlines.ts";

interface QueueingOptions {
  readonly slots: Slots;
  readonly userId: string;
  readonly signal: Cancellation;
  /** Unix milliseconds of the request's own deadline. */
  readonly deadline: number;
  readonly sweeper: Sweeper;
  readonly now: () => number;
  /** Told how long it waited, in milliseconds, however the wait ended. */
  readonly onQueued: ((waited: number) => void) | undefined;
}

/** One request in the queue of its upstream. It leaves at once when nobody waits for it any longer. */
class Queued implements Waiter {
  readonly userId: string;
  readonly #options: QueueingOptions;
  readonly #since: number;
  readonly #granted: () => void;
  readonly #failed: (error: AttemptError) => void;
  #cancelTimer = (): void => undefined;

  constructor(options: QueueingOptions, granted: () => void, failed: (error: AttemptError) => void) {
    this.userId = options.userId;
    this.#options = options;
    this.#since = options.now();
    this.#granted = granted;
    this.#failed = failed;
  }

  begin(): void {
    const { slots, signal, deadline, sweeper } = this.#options;
    signal.addEventListener("abort", this);
    const until = Math.min(this.#since + slots.maxWait, deadline);
    this.#cancelTimer = sweeper.schedule(until, () => this.#giveUp("no place with the upstream came free in time"));
  }

  granted(): void {
    this.#end();
    // The slot comes free within undici's callback of another response, where no request may begin.
    queueMicrotask(this.#granted);
  }

  displaced(): void {
    this.#end();
    this.#failed(saturated(this.#options.slots, QUEUE_FULL));
  }

  /** The exchange was aborted. */
  handleEvent(): void {
    this.#options.slots.leave(this);
    this.#end();
    this.#failed(new AttemptError("aborted", "the request was given up"));
  }

  #giveUp(message: string): void {
    const { slots } = this.#options;
    slots.leave(this);
    this.#end();
    this.#failed(saturated(slots, message));
  }

  #end(): void {
    const { signal, now, onQueued } = this.#options;
    this.#cancelTimer();
    signal.removeEventListener("abort", this);
    onQueued?.(Math.max(0, now() - this.#since));
  }
}

const QUEUE_FULL = "the queue for the upstream is full";

/**
 * Waits for a slot. Exactly one of the two callbacks is called; whoever is `granted` a slot has to release it.
 */
export function waitForSlot(
  options: QueueingOptions,
  granted: () => void,
  failed: (error: AttemptError) => void,
): void {
  const { slots, signal } = options;
  if (signal.aborted) return failed(new AttemptError("aborted", "the request was given up"));
  const queued = new Queued(options, granted, failed);
  if (slots.join(queued)) return queued.begin();
  failed(saturated(slots, slots.hasQueue ? QUEUE_FULL : "every connection to the upstream is in use"));
}

function saturated(slots: Slots, message: string): AttemptError {
  return new AttemptError("saturated", message, { retryAfter: slots.retryAfter() });
}
