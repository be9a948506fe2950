export default {
  name: "good",
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({}),
};
