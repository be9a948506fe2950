import type { Host, Observer } from "../kit/index.ts";

const SLOW_REPORT_INTERVAL_MS = 60_000;

/** A hook has not returned in its time. */
export class HookTimeout extends Error {
  override readonly name = "HookTimeout";
  /** The call, which goes on. */
  readonly late: Promise<unknown>;

  constructor(hook: string, timeoutMs: number, late: Promise<unknown>) {
    super(`hook ${hook} did not return within ${timeoutMs} ms`);
    this.late = late;
  }
}

interface Timing {
  readonly plugin: string;
  readonly hook: string;
  /** null: without a limit. */
  readonly timeoutMs: number | null;
  readonly host: Pick<Host, "now" | "schedule">;
  readonly observer: Pick<Observer, "hookTimer" | "pluginSlow">;
}

/**
 * A hook whose calls are measured. Beyond its time an asynchronous one is given up with HookTimeout; a synchronous one
 * cannot be, and is told of.
 */
export function timed<Args extends unknown[], Result>(
  call: (...args: Args) => Result,
  { plugin, hook, timeoutMs, host, observer }: Timing,
): (...args: Args) => Result {
  const record = observer.hookTimer?.(plugin, hook) ?? null;
  if (record === null && timeoutMs === null) return call;
  let reportedAt = -Infinity;

  const ended = (startedAt: number): number => {
    const endedAt = performance.now();
    record?.(endedAt - startedAt);
    return endedAt;
  };
  const returned = (startedAt: number): void => {
    const endedAt = ended(startedAt);
    if (timeoutMs === null || endedAt - startedAt <= timeoutMs) return;
    if (endedAt - reportedAt < SLOW_REPORT_INTERVAL_MS) return;
    reportedAt = endedAt;
    observer.pluginSlow?.(plugin, hook, endedAt - startedAt);
  };

  const waitedFor = (result: Promise<unknown>, startedAt: number): Promise<unknown> => {
    const over = (): void => {
      ended(startedAt);
    };
    result.then(over, over);
    return timeoutMs === null ? result : within(result, hook, timeoutMs, host);
  };

  return (...args) => {
    const startedAt = performance.now();
    let result: Result;
    try {
      result = call(...args);
    } catch (error) {
      returned(startedAt);
      throw error;
    }
    if (!(result instanceof Promise)) {
      returned(startedAt);
      return result;
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a promise of the same
    return waitedFor(result, startedAt) as Result;
  };
}

/** @throws HookTimeout */
function within<Value>(work: Promise<Value>, hook: string, timeoutMs: number, host: Timing["host"]): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = host.schedule(host.now() + timeoutMs, () => reject(new HookTimeout(hook, timeoutMs, work)));
  return Promise.race([work, late]).finally(cancel);
}
