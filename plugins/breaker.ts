import type { BreakerOptions } from "#schema";
import { defineBuiltin } from "../src/kit/builtin.ts";

/** Skips a target whose circuit is open, and tells the circuit how each attempt ended. */
export default defineBuiltin<BreakerOptions, "guard">({
  name: "breaker",
  stage: "guard",
  schema: new URL("../schemas/plugins/breaker.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      attempt({ upstream, model }) {
        const permit = host.breaker(upstream, model).acquire();
        if (permit === null) return false;
        return {
          answered: () => permit.answered(),
          settle: (result) => permit.end(result),
        };
      },
    };
  },
});
