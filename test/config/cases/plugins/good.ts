import { definePlugin } from "#kit";

export default definePlugin({
  name: "good",
  stage: "transform",
  schema: new URL("./good.schema.json", import.meta.url),
  setup: () => ({}),
});
