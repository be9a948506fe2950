// the name of a built-in plugin, with whose storage it could change budgets
export default {
  name: "budget",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({}),
};
// check: plugin-contract: the plugin has the name of the built-in plugin 'budget' (give the plugin another name)
