import { inBackground, type Log, type Store, type StreamKills } from "../kit/index.ts";

/** Between looks at the store while pushes may be lost: a kill must reach every process within a second. */
const POLL_INTERVAL_MS = 1_000;
/** The same while the store guarantees its pushes: a safety net. */
const SAFETY_NET_INTERVAL_MS = 15_000;

interface WatchedStream {
  readonly token: number;
  readonly stop: () => void;
}

export interface KillSwitchOptions {
  readonly store: Pick<Store, "stopStreams" | "stopTokens" | "onStop">;
  readonly log: Log;
  readonly pollIntervalMs?: number;
}

/** Ends streams whose user's stop token was raised: pushed by the store, and polled in case a push is lost. */
export class KillSwitch implements StreamKills {
  readonly #options: KillSwitchOptions;
  readonly #unsubscribe: () => void;
  readonly #watched = new Map<string, Set<WatchedStream>>();
  #timer: NodeJS.Timeout | null = null;
  #polling = false;
  #pushesGuaranteed = false;
  #polledAt = -Infinity;

  constructor(options: KillSwitchOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.onStop(
      (userId, token) => this.#raise(userId, token),
      (guaranteed) => {
        this.#pushesGuaranteed = guaranteed;
        // A push may have been lost before this change.
        if (this.#watched.size > 0) this.#pollInBackground();
      },
    );
  }

  watch(userId: string, token: number, stop: () => void): () => void {
    const stream = { token, stop };
    const streams = this.#watched.get(userId);
    if (streams === undefined) this.#watched.set(userId, new Set([stream]));
    else streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), this.#options.pollIntervalMs ?? POLL_INTERVAL_MS).unref();
    return () => this.#forget(userId, stream);
  }

  /** Ends the user's running streams. @returns how many there were, in every process. */
  async kill(userId: string): Promise<number> {
    const { token, streams } = await this.#options.store.stopStreams(userId);
    this.#raise(userId, token);
    return streams;
  }

  close(): void {
    this.#unsubscribe();
    this.#stopTimer();
  }

  #raise(userId: string, token: number): void {
    for (const stream of this.#watched.get(userId) ?? []) {
      if (stream.token >= token) continue;
      this.#forget(userId, stream);
      stream.stop();
    }
  }

  #forget(userId: string, stream: WatchedStream): void {
    const streams = this.#watched.get(userId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#watched.delete(userId);
    if (this.#watched.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    if (!this.#pushesGuaranteed || performance.now() - this.#polledAt >= SAFETY_NET_INTERVAL_MS)
      this.#pollInBackground();
  }

  #pollInBackground(): void {
    inBackground(this.#options.log, "polling stop tokens", this.#poll());
  }

  async #poll(): Promise<void> {
    // A store that is slower than the interval must not be asked more and more.
    if (this.#polling) return;
    this.#polling = true;
    this.#polledAt = performance.now();
    try {
      const tokens = await this.#options.store.stopTokens([...this.#watched.keys()]);
      for (const [userId, token] of tokens) this.#raise(userId, token);
    } catch (error) {
      this.#options.log.debug({ err: error }, "stop requests could not be read; retrying in a second");
    } finally {
      this.#polling = false;
    }
  }
}
