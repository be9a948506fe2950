// an `admit` in a plugin of stage transform
export default {
  name: "admit-in-transform",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ admit: () => ({ tags: [{ name: "from", value: "transform" }] }) }),
};
// check: hook-stage: setup returns 'admit', a hook of stage admit; the plugin is of stage transform (remove the hook, or write stage: "admit", or add also: ["admit"])
