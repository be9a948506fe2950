export default {
  name: "meter",
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({}),
};
