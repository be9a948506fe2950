import type { Log } from "../kit/index.ts";

/** After an uncaught exception: time for requests in flight, and until the process exits whatever happens. */
const FAULT_DRAIN_MS = 5_000;
const FAULT_EXIT_MS = 12_000;

export interface SignalHandlers {
  /** See `Gateway.drain`. */
  readonly drain: (maxMs?: number) => Promise<void>;
  readonly reload: () => void;
  /** Ends at once, at a second signal. */
  readonly force: () => void;
  /** @param code 0 drained, 1 uncaught exception, 3 the drain failed. */
  readonly exit: (code: number) => void;
  readonly log: Log;
}

/**
 * The first SIGTERM or SIGINT drains the process, the second ends it at once, SIGHUP reloads the configuration. An uncaught
 * exception drains it for a few seconds and ends it: the state that it left behind cannot be trusted.
 */
export function handleSignals({ drain, reload, force, exit, log }: SignalHandlers): void {
  let stopping = false;
  let faulty = false;
  const stop = (): void => {
    if (stopping) return force();
    stopping = true;
    drain().then(
      () => exit(faulty ? 1 : 0),
      (err: unknown) => {
        log.error({ err }, "the drain failed");
        exit(3);
      },
    );
  };
  const drainAndFail = (): void => {
    drain(FAULT_DRAIN_MS)
      .catch((err: unknown) => log.error({ err }, "the drain failed"))
      .finally(() => exit(1));
  };
  const fault = (err: unknown): void => {
    log.error({ err }, faulty ? "another uncaught exception" : "uncaught exception: draining, then ending");
    if (faulty) return;
    faulty = true;
    setTimeout(() => exit(1), FAULT_EXIT_MS).unref();
    drainAndFail();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", reload);
  // Unhandled rejections arrive here as well.
  process.on("uncaughtException", fault);
}
