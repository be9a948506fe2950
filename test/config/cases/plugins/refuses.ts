export default {
  name: "refuses",
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup() {
    throw new Error("no region has this name");
  },
};
