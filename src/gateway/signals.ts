import type { Log } from "../kit/index.ts";

/** Milliseconds for what is in flight after a fault of the process's own, and for all of its end. */
const FAULTY_DRAIN = 5_000;
const FAULTY = 12_000;

export interface LifetimeParts {
  /** @param most milliseconds, see `Gateway.drain`. */
  readonly drain: (most?: number) => Promise<void>;
  readonly reload: () => void;
  /** Ends at once, for a second signal. */
  readonly force: () => void;
  /** 0 drained, 1 a fault, 3 the drain failed. */
  readonly exit: (code: number) => void;
  readonly log: Log;
}

/**
 * What signals and faults make of this process: the first SIGTERM or SIGINT drains it, the second ends it at once, SIGHUP
 * reads the configuration again; a fault that nothing has caught drains it for a few seconds, because what it left
 * behind cannot be trusted.
 */
export function watchLifetime({ drain, reload, force, exit, log }: LifetimeParts): void {
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
  const fault = (err: unknown): void => {
    log.error({ err }, faulty ? "another uncaught exception" : "uncaught exception: draining, then ending");
    if (faulty) return;
    faulty = true;
    setTimeout(() => exit(1), FAULTY).unref();
    end();
  };
  const end = (): void => {
    drain(FAULTY_DRAIN)
      .catch((err: unknown) => log.error({ err }, "the drain failed"))
      .finally(() => exit(1));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", reload);
  // Rejections that nobody handles arrive here as well.
  process.on("uncaughtException", fault);
}
