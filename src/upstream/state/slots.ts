import type { Snapshot, Upstream } from "../../kit/index.ts";

/** A request that waits for a slot. One of the two is called, once, unless it leaves before. */
export interface Waiter {
  readonly userId: string;
  /** The slot is taken. */
  granted(): void;
  /** Another user's request takes its place in the queue. */
  displaced(): void;
}

const MEAN_WEIGHT = 0.2;
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Requests in flight to one upstream, and the queue in front of it. The queue serves users in turn, and each user's
 * requests in order. It belongs to the process: configurations that serve at the same time share it.
 */
export class Slots {
  #requests = Infinity;
  #places = 0;
  #maxWait = 0;
  #taken = 0;
  #waiting = 0;
  /** By user; the user whose turn it is comes first. */
  readonly #queues = new Map<string, Waiter[]>();
  /** Milliseconds that a request holds its slot. */
  #meanHold = 0;

  get inFlight(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Milliseconds that a request may wait. */
  get maxWait(): number {
    return this.#maxWait;
  }

  /** Bounds from now on. What waits already keeps its place. */
  configure({ connections, http2, concurrency }: Pick<Upstream, "connections" | "http2" | "concurrency">): void {
    // A connection of HTTP/2 carries many requests at a time.
    const carried = http2 ? Infinity : (connections ?? Infinity);
    this.#requests = Math.min(carried, concurrency?.requests ?? Infinity);
    this.#places = concurrency?.queue ?? 0;
    this.#maxWait = concurrency?.maxWait ?? 0;
    this.#grant();
  }

  /** Whether requests wait at all when every slot is taken. */
  get hasQueue(): boolean {
    return this.#places > 0;
  }

  /** Takes a slot if one is free. @returns whether one was */
  takeNow(): boolean {
    if (this.#taken >= this.#requests) return false;
    this.#taken += 1;
    return true;
  }

  /** Takes a place in the queue. @returns false: it is full */
  join(waiter: Waiter): boolean {
    if (!this.#makeRoom(waiter.userId)) return false;
    const queue = this.#queues.get(waiter.userId);
    if (queue === undefined) this.#queues.set(waiter.userId, [waiter]);
    else queue.push(waiter);
    this.#waiting += 1;
    return true;
  }

  /** Gives up a place in the queue. */
  leave(waiter: Waiter): void {
    const { userId } = waiter;
    const queue = this.#queues.get(userId);
    const index = queue?.indexOf(waiter) ?? -1;
    if (queue === undefined || index < 0) return;
    queue.splice(index, 1);
    this.#waiting -= 1;
    if (queue.length === 0) this.#queues.delete(userId);
  }

  /** Gives a slot back. @param held milliseconds */
  release(held: number): void {
    this.#taken -= 1;
    this.#meanHold = this.#meanHold === 0 ? held : this.#meanHold + MEAN_WEIGHT * (held - this.#meanHold);
    this.#grant();
  }

  /** Milliseconds until a request that comes back can expect a slot. */
  retryAfter(): number {
    const expected = (this.#meanHold * (this.#waiting + 1)) / Math.max(1, this.#requests);
    return Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, expected));
  }

  #grant(): void {
    while (this.#waiting > 0 && this.#taken < this.#requests) {
      const waiter = this.#next();
      this.#taken += 1;
      waiter.granted();
    }
  }

  /** Takes the first one of the user whose turn it is; that user's next turn comes after everybody else's. */
  #next(): Waiter {
    const [userId, queue] = this.#queues.entries().next().value!;
    const waiter = queue.shift()!;
    this.#queues.delete(userId);
    if (queue.length > 0) this.#queues.set(userId, queue);
    this.#waiting -= 1;
    return waiter;
  }

  /**
   * Without a free place, the user who waits with the most requests gives up the newest one. Otherwise one user's flood
   * would keep everybody else out of the queue.
   */
  #makeRoom(userId: string): boolean {
    if (this.#waiting < this.#places) return true;
    let most: readonly Waiter[] = [];
    for (const queue of this.#queues.values()) if (queue.length > most.length) most = queue;
    const own = this.#queues.get(userId)?.length ?? 0;
    const newest = most.at(-1);
    if (newest === undefined || most.length <= own + 1) return false;
    this.leave(newest);
    newest.displaced();
    return true;
  }
}

/** The slots of every upstream, whatever configurations name it: what is in flight is the process's. */
export class SlotsByUpstream {
  readonly #slots = new Map<string, Slots>();
  /** In order of leasing, on probation or not: the last one that names an upstream bounds it. */
  readonly #leased: Snapshot[] = [];

  /** Made on first use. */
  of(name: string): Slots {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const made = new Slots();
    this.#slots.set(name, made);
    return made;
  }

  leased(snapshot: Snapshot): void {
    this.#leased.push(snapshot);
    this.#configure();
  }

  released(snapshot: Snapshot): void {
    this.#leased.splice(this.#leased.indexOf(snapshot), 1);
    this.#configure();
  }

  /** Requests under way keep the slots of an upstream that is gone. */
  #configure(): void {
    if (this.#leased.length === 0) return;
    for (const [name, slots] of this.#slots) {
      const newest = this.#leased.findLast(({ upstreams }) => Object.hasOwn(upstreams, name));
      if (newest === undefined) this.#slots.delete(name);
      else slots.configure(newest.upstreams[name]!);
    }
  }
}
