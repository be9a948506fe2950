// an `apiVersion` that is not a whole number
export default {
  name: "api-as-text",
  apiVersion: "1.0",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({}),
};
// check: plugin-contract: the plugin's apiVersion must be a whole number, at least 1 (export default definePlugin({ name, stage, schema, setup }))
