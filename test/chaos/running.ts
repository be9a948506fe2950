import type { Excess } from "./evidence.ts";

/** Turns of the event loop in which an end that reached this machine before a beginning may be heard after it. */
const TURNS = 3;

/** The streams of every user that are open at the upstream, and each instant at which they were too many. */
export class RunningStreams {
  readonly excesses: Excess[] = [];
  readonly #limitOf: (user: number) => number | null;
  readonly #running = new Map<number, Map<string, number>>();
  /** The most that were open at the same time, by user. */
  readonly most = new Map<number, number>();

  constructor(limitOf: (user: number) => number | null) {
    this.#limitOf = limitOf;
  }

  /** Another attempt of the same request is no other stream. @returns ends it; further calls do nothing. */
  begin(user: number, request: string): () => void {
    const running = this.#running.get(user) ?? new Map<string, number>();
    this.#running.set(user, running);
    running.set(request, (running.get(request) ?? 0) + 1);
    this.#look(user, Date.now(), TURNS);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const attempts = (running.get(request) ?? 1) - 1;
      if (attempts > 0) running.set(request, attempts);
      else running.delete(request);
    };
  }

  #look(user: number, at: number, turns: number): void {
    const streams = this.#running.get(user)?.size ?? 0;
    const limit = this.#limitOf(user);
    if (limit !== null && streams > limit) {
      if (turns > 0) return void setImmediate(() => this.#look(user, at, turns - 1));
      this.excesses.push({ user, at, streams, limit });
    }
    this.most.set(user, Math.max(this.most.get(user) ?? 0, Math.min(streams, limit ?? streams)));
  }
}
