// a `settle` beside `admit`, and not in what `admit` returns
export default {
  name: "settle-in-admit",
  stage: "admit",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ admit: () => undefined, settle: () => undefined }),
};
// check: hook-stage: setup returns 'settle', a hook of stage account; the plugin is of stage admit (remove the hook, or write stage: "account", or add also: ["account"])
