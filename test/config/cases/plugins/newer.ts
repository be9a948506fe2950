export default {
  name: "newer",
  apiVersion: 2,
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({}),
};
