import { definePlugin } from "#kit";

export default definePlugin({
  name: "no-schema",
  stage: "transform",
  schema: new URL("./nowhere.schema.json", import.meta.url),
  setup: () => ({}),
});
