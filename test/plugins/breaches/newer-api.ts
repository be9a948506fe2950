// a plugin for a newer plugin API
export default {
  name: "newer-api",
  apiVersion: 2,
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({}),
};
// check: plugin-api-version: the plugin is for version 2 of the plugin API; this gateway has version 1 (upgrade the gateway, or use a version of the plugin with apiVersion: 1)
