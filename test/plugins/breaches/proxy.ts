// a proxy, which could change after it was checked
const plugin = {
  name: "proxy",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({}),
};
export default new Proxy(plugin, {});
// check: plugin-contract: the plugin must be a plain object, not a proxy (export default definePlugin({ name, stage, schema, setup }))
