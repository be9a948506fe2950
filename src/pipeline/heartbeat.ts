import type { Host } from "../kit/index.ts";

/** Calls `beat` whenever nothing has been written for `every` milliseconds. */
export class Heartbeat {
  #last: number;
  #cancel: () => void;
  readonly #host: Pick<Host, "now" | "schedule">;
  readonly #every: number;
  readonly #beat: () => void;

  constructor(host: Pick<Host, "now" | "schedule">, every: number, beat: () => void) {
    this.#host = host;
    this.#every = every;
    this.#beat = beat;
    this.#last = host.now();
    this.#cancel = host.schedule(this.#last + every, this.#check);
  }

  touch(): void {
    this.#last = this.#host.now();
  }

  stop(): void {
    this.#cancel();
  }

  readonly #check = (): void => {
    if (this.#host.now() - this.#last >= this.#every) {
      this.#last = this.#host.now();
      this.#beat();
    }
    this.#cancel = this.#host.schedule(this.#last + this.#every, this.#check);
  };
}
