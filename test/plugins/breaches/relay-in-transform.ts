// a `relay` in a plugin of stage transform
export default {
  name: "relay-in-transform",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({
    relay() {
      throw new Error("taken over");
    },
  }),
};
// check: hook-stage: setup returns 'relay', a hook of stage relay; the plugin is of stage transform (remove the hook, or write stage: "relay", or add also: ["relay"])
