/** What instances say of themselves, where all of them are this process. */
export class Instances {
  readonly #now: () => number;
  readonly #said = new Map<string, { readonly state: string; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  announce(instance: string, state: string, ttl: number): void {
    this.#said.set(instance, { state, until: this.#now() + ttl });
  }

  announced(): Map<string, string> {
    const now = this.#now();
    const live = new Map<string, string>();
    for (const [instance, { state, until }] of this.#said) {
      if (until > now) live.set(instance, state);
      else this.#said.delete(instance);
    }
    return live;
  }
}
