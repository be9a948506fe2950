// storage used in `setup`
import { definePlugin } from "#kit";

export default definePlugin<object>({
  name: "store-in-setup",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  async setup(_options, { storage }) {
    await storage.get("words");
    return {};
  },
});
// check: plugin-setup: setup failed: it cannot use the store (use storage in hooks alone)
