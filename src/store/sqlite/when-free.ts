import { BUSY, sqliteCode } from "./failures.ts";

/**
 * Tries again while another process has the file, for `wait` milliseconds, in which the event loop stands still. SQLite
 * itself does not wait for the lock that a change of mode takes: two processes making one file would collide.
 */
export function whenFree(wait: number, work: () => void): void {
  const until = performance.now() + wait;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (sqliteCode(error) !== BUSY || performance.now() > until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}
