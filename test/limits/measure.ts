import { GCProfiler } from "node:v8";

export interface Measured {
  /** CPU of the longest turn of the event loop; waiting for a processor is not in it. */
  readonly turnMs: number;
  /** Turns of more than 10 ms. */
  readonly longTurns: number;
  /** What lived at most beyond what lived before. */
  readonly grownBytes: number;
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Turns that took this long are worth a look at the heap. */
const LOOK_AFTER_MS = 4;

/**
 * Measures this process until told to stop. With `collect` (needs `--expose-gc`) garbage is collected after every longer
 * turn, which shows what lives and spoils the times; without it the times are right and the heap is as V8 leaves it.
 */
export function measure(collect: boolean): () => Measured {
  const gc = (globalThis as { readonly gc?: () => void }).gc;
  if (collect && gc === undefined) throw new Error("needs --expose-gc");
  gc?.();
  gc?.();
  const before = heldBytes();
  let peak = before;
  let longest = 0;
  let longTurns = 0;
  let running = true;
  let since = process.threadCpuUsage();
  const profiler = new GCProfiler();
  profiler.start();
  const look = (): void => {
    if (!running) return;
    const { user, system } = process.threadCpuUsage(since);
    const ms = (user + system) / 1000;
    if (ms > longest) longest = ms;
    if (ms > 10) longTurns += 1;
    if (collect && ms > LOOK_AFTER_MS) {
      gc!();
      peak = Math.max(peak, heldBytes());
    }
    since = process.threadCpuUsage();
    setImmediate(look);
  };
  setImmediate(look);
  return () => {
    running = false;
    for (const { afterGC } of profiler.stop().statistics) {
      const { usedHeapSize, externalMemory } = afterGC.heapStatistics;
      if (collect) peak = Math.max(peak, usedHeapSize + externalMemory);
    }
    return { turnMs: longest, longTurns, grownBytes: peak - before };
  };
}
