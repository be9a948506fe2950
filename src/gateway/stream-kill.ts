import { inBackground, type Log, type Store, type StreamStops } from "../kit/index.ts";

/** Milliseconds between looks at the store: while pushes may be lost, and, as a net, while they are sure to come. */
const POLL_MS = 1_000;
const POLL_SURE_MS = 15_000;

interface Watched {
  readonly token: number;
  readonly stop: () => void;
}

export interface StopsOptions {
  readonly store: Pick<Store, "stopStreams" | "stopTokens" | "onStop">;
  readonly log: Log;
  /** Milliseconds between looks at the store while pushes may be lost. */
  readonly every?: number;
  /** While they are sure to come. */
  readonly everySure?: number;
}

export interface Stops extends StreamStops {
  /** Ends the user's running streams. @returns how many there were, in every process. */
  kill(userId: string): Promise<number>;
  close(): void;
}

/** Ends streams whose user's stop token has been raised: pushed by the store, and polled: every second while a push may be lost. */
export function createStops({ store, log, every = POLL_MS, everySure = POLL_SURE_MS }: StopsOptions): Stops {
  const watched = new Map<string, Set<Watched>>();
  let timer: NodeJS.Timeout | null = null;
  let polling = false;
  let sure = false;
  let askedAt = -Infinity;

  const raised = (userId: string, token: number): void => {
    for (const entry of watched.get(userId) ?? []) {
      if (entry.token >= token) continue;
      forget(userId, entry);
      entry.stop();
    }
  };

  const forget = (userId: string, entry: Watched): void => {
    const entries = watched.get(userId);
    entries?.delete(entry);
    if (entries?.size === 0) watched.delete(userId);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  const poll = async (): Promise<void> => {
    // A store that is slower than the clock must not be asked more and more.
    if (polling) return;
    polling = true;
    askedAt = performance.now();
    try {
      for (const [userId, token] of await store.stopTokens([...watched.keys()])) raised(userId, token);
    } catch (error) {
      log.debug({ err: error }, "stop tokens cannot be read; the next look is in a second");
    } finally {
      polling = false;
    }
  };

  const look = (): void => {
    if (!sure || performance.now() - askedAt >= everySure) inBackground(log, "a look for stop tokens", poll());
  };

  const deaf = store.onStop(raised, (is) => {
    sure = is;
    // What was pushed meanwhile may have been missed.
    if (watched.size > 0) inBackground(log, "a look for stop tokens", poll());
  });

  return {
    watch(userId, token, stop) {
      const entry = { token, stop };
      const entries = watched.get(userId);
      if (entries === undefined) watched.set(userId, new Set([entry]));
      else entries.add(entry);
      timer ??= setInterval(look, every).unref();
      return () => forget(userId, entry);
    },
    async kill(userId) {
      const { token, streams } = await store.stopStreams(userId);
      raised(userId, token);
      return streams;
    },
    close() {
      deaf();
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
