// an `event` in a plugin of stage guard
export default {
  name: "event-in-guard",
  stage: "guard",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ event: (event: unknown) => event }),
};
// check: hook-stage: setup returns 'event', a hook of stage transform; the plugin is of stage guard (remove the hook, or write stage: "transform", or add also: ["transform"])
