import { type AttemptResult, definePlugin, type Guarded, type Permit } from "#kit";
import type { BreakerOptions } from "#schema";

/** Skips a target whose circuit is open, and tells the circuit how each attempt ended. */
export default definePlugin<BreakerOptions>({
  name: "breaker",
  stage: "guard",
  schema: new URL("../schemas/plugins/breaker.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      attempt({ upstream, model }) {
        const permit = host.breaker(upstream, model).acquire();
        if (permit === null) return false;
        return new BreakerGuard(permit);
      },
    };
  },
});

/** A class: two functions made for each attempt would take five times its memory. */
class BreakerGuard implements Guarded {
  readonly #permit: Permit;

  constructor(permit: Permit) {
    this.#permit = permit;
  }

  answered(): void {
    this.#permit.answered();
  }

  settle(result: AttemptResult): void {
    this.#permit.end(result);
  }
}
