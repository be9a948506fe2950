import { definePlugin, GatewayError, mayCall } from "#kit";
import type { PlanCheckOptions } from "#schema";

/** Refuses models that the caller's plan may not call. */
export default definePlugin<PlanCheckOptions>({
  name: "plan-check",
  stage: "admit",
  schema: new URL("../schemas/plugins/plan-check.schema.json", import.meta.url),
  setup() {
    return {
      admit({ tier, model }) {
        if (mayCall(tier, model)) return;
        throw new GatewayError("MODEL_NOT_ALLOWED", `Model '${model.id}' is not available on your plan`);
      },
    };
  },
});
