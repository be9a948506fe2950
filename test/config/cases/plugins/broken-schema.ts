import { definePlugin } from "#kit";

export default definePlugin({
  name: "broken-schema",
  stage: "transform",
  schema: new URL("./broken.schema.json", import.meta.url),
  setup: () => ({}),
});
