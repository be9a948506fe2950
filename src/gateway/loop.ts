import { monitorEventLoopDelay } from "node:perf_hooks";

/** Milliseconds that the event loop may stand still, and for how long afterwards a process does not count as ready. */
const BLOCKED = 5_000;
const RECOVERY = 5_000;

export interface LoopWatch {
  /** Whether the event loop stood still just now. */
  blocked(): boolean;
  close(): void;
}

/** Notices an event loop that was blocked, for example by a plugin: while it is, nothing of the process can answer. */
export function watchLoop({ longest = BLOCKED, recovery = RECOVERY } = {}): LoopWatch {
  const delays = monitorEventLoopDelay({ resolution: 50 });
  delays.enable();
  let until = 0;
  const look = (): void => {
    if (delays.max < longest * 1e6) return;
    until = performance.now() + recovery;
    // Only now: a reset also forgets when the delay under way began.
    delays.reset();
  };
  const timer = setInterval(look, 1_000).unref();
  return {
    blocked() {
      look();
      return performance.now() < until;
    },
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
