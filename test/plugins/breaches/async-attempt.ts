// an `attempt` that is async: no target would be skipped
export default {
  name: "async-attempt",
  stage: "guard",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ attempt: async () => false }),
};
// check: plugin-contract: hook 'attempt' is async, but its result is needed at once (write it without async and await)
