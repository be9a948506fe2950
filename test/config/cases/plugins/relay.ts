import { definePlugin } from "#kit";

export default definePlugin({
  name: "relay",
  stage: "relay",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({}),
});
