// a `setup` that returns nothing
export default {
  name: "no-hooks",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup() {},
};
// check: plugin-setup: setup failed: setup must return the plugin's hooks in an object
