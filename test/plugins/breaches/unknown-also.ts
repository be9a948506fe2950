// an `also` that is not a list of stages
export default {
  name: "unknown-also",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  also: "admit",
  setup: () => ({}),
};
// check: plugin-contract: the plugin's also must be a list of stages: identify, admit, guard, transform, relay, account (export default definePlugin({ name, stage, schema, setup }))
