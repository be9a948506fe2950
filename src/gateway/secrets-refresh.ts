import { inBackground, type Log } from "../kit/index.ts";
import type { Reloader } from "./reloader.ts";

const LOOK_MS = 1_000;

interface RefreshOptions {
  readonly reloader: Pick<Reloader, "refresh">;
  /** Milliseconds between two runs, in the configuration in force; null: never. */
  readonly every: () => number | null;
  /** Unix milliseconds at which the configuration in force was loaded: its commands ran then. */
  readonly loadedAt: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "error">;
  /** Milliseconds between looks at the time; a second unless given. */
  readonly lookMs?: number;
}

/** Runs the commands of the configuration in force again, as often as `secrets.refresh` says. @returns stops it */
export function refreshSecrets({ reloader, every, loadedAt, now, log, lookMs = LOOK_MS }: RefreshOptions): () => void {
  let triedAt = 0;
  const timer = setInterval(() => {
    const interval = every();
    if (interval === null || now() - Math.max(triedAt, loadedAt()) < interval) return;
    triedAt = now();
    inBackground(log, "a refresh of secrets", reloader.refresh());
  }, lookMs).unref();
  return () => clearInterval(timer);
}
