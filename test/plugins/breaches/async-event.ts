// an `event` that is async
export default {
  name: "async-event",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ event: async (event: unknown) => event }),
};
// check: plugin-contract: hook 'event' is async, but its result is needed at once (write it without async and await)
