// an `identify` in a plugin of stage account
export default {
  name: "identify-in-account",
  stage: "account",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ identify: () => ({ userId: "eve", tier: "Max", keyId: null }) }),
};
// check: hook-stage: setup returns 'identify', a hook of stage identify; the plugin is of stage account (remove the hook, or write stage: "identify", or add also: ["identify"])
