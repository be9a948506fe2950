// the store that `quota` has
import { defineBuiltin } from "../../../src/kit/builtin.ts";

export default defineBuiltin<object, "admit">({
  name: "takes-the-store",
  stage: "admit",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: (_options, { store }) => ({ windows: store.windows.bind(store) as never }),
});
// check: plugin-contract: the file uses defineBuiltin, which only the gateway's own plugins may use (use definePlugin, or name a built-in plugin without a path)
