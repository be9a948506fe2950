// a plugin of stage relay without a `relay`
export default {
  name: "relay-without-hook",
  stage: "relay",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({}),
};
// check: plugin-contract: setup returns no hook 'relay', which a plugin of stage relay is for (add relay())
