// a `setup` that returns a function
export default {
  name: "hook-as-setup",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => (call: unknown) => call,
};
// check: plugin-setup: setup failed: setup must return the plugin's hooks in an object
