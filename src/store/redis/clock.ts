/** Milliseconds for which the largest estimate stands: the servers of a Cluster may differ. */
const KEPT = 30_000;

/**
 * What the servers' clock shows, estimated from what they have told, never too low as long as they agree. It lets a
 * script see that it is executed when nobody waits for it any more: after a pause of the server.
 */
export class ServerClock {
  /** Server's milliseconds less the local monotonic ones. */
  #ahead: number | null = null;
  #since = 0;

  /** The server showed `time` at some moment after `sentAt` (local, monotonic). */
  learn(time: number, sentAt: number): void {
    const ahead = time - sentAt;
    if (this.#ahead !== null && ahead <= this.#ahead && sentAt - this.#since < KEPT) return;
    this.correct(time, sentAt);
  }

  /** As `learn`, also when it makes the estimate lower. */
  correct(time: number, sentAt: number): void {
    this.#ahead = time - sentAt;
    this.#since = sentAt;
  }

  /** Server's milliseconds when the local monotonic clock shows `at`; null before anything was told. */
  at(at: number): number | null {
    return this.#ahead === null ? null : Math.ceil(this.#ahead + at);
  }
}
