import { definePlugin, GatewayError } from "#kit";

/** Refuses all but the first request since its setup, whoever asks. */
export default definePlugin<object>({
  name: "once",
  stage: "admit",
  schema: new URL("once.schema.json", import.meta.url),
  setup() {
    let count = 0;
    return {
      admit() {
        count += 1;
        if (count > 1) throw new GatewayError("MODEL_NOT_ALLOWED", "once is enough");
      },
    };
  },
});
