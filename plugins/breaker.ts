import { definePlugin } from "#kit";
import type { BreakerOptions } from "#schema";

/** Skips an upstream whose circuit is open, and tells the circuit how each attempt ended. */
export default definePlugin<BreakerOptions>({
  name: "breaker",
  stage: "guard",
  schema: new URL("../schemas/plugins/breaker.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      attempt({ upstream }) {
        const permit = host.breaker(upstream).acquire();
        if (permit === null) return false;
        return { answered: () => permit.answered(), settle: (result) => permit.end(result) };
      },
    };
  },
});
