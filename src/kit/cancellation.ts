export type AbortReason = "client_gone" | "killed" | "shutdown";

/** Told once that a request is given up. */
export type CancellationListener = (() => void) | { handleEvent(): void };

/** What of an AbortSignal the gateway's own code needs: what it waits with asks for no signal. */
export interface Cancellation {
  readonly aborted: boolean;
  /** An AbortReason, once it is aborted. */
  readonly reason: unknown;
  addEventListener(type: "abort", listener: CancellationListener): void;
  removeEventListener(type: "abort", listener: CancellationListener): void;
}

/**
 * As an AbortController, but its signal is made when it is first asked for: to make one and to listen to it takes 1.1 KB
 * and half a microsecond, and nearly no plugin looks at it.
 */
export class CancellationSource implements Cancellation {
  #reason: AbortReason | undefined = undefined;
  #controller: AbortController | null = null;
  /** Nearly always there is one at a time. */
  #listener: CancellationListener | null = null;
  #others: Set<CancellationListener> | null = null;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): AbortReason | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason: AbortReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    for (let listener = this.#take(); listener !== null; listener = this.#take()) {
      try {
        if (typeof listener === "function") listener();
        else listener.handleEvent();
      } catch (error) {
        // As of a signal's: the others are told all the same.
        process.nextTick(() => {
          throw error;
        });
      }
    }
    this.#controller?.abort(reason);
  }

  addEventListener(_type: "abort", listener: CancellationListener): void {
    if (this.aborted || this.#listener === listener) return;
    if (this.#listener === null && this.#others === null) this.#listener = listener;
    else (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: "abort", listener: CancellationListener): void {
    if (this.#listener === listener) this.#listener = null;
    else this.#others?.delete(listener);
  }

  #take(): CancellationListener | null {
    const listener = this.#listener ?? this.#others?.values().next().value ?? null;
    if (listener !== null) this.removeEventListener("abort", listener);
    return listener;
  }
}
