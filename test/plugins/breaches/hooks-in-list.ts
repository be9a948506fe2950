// hooks in a list
export default {
  name: "hooks-in-list",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => [{ transform: (call: unknown) => call }],
};
// check: plugin-setup: setup failed: setup must return the plugin's hooks in an object
