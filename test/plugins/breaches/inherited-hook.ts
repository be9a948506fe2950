// a hook of another stage that the hooks object inherits
const base = { admit: () => undefined };

export default {
  name: "inherited-hook",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => Object.create(base) as object,
};
// check: hook-stage: setup returns 'admit', a hook of stage admit; the plugin is of stage transform (remove the hook, or write stage: "admit", or add also: ["admit"])
