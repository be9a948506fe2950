export default {
  name: "misspelt",
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({ transfrom: (call: unknown) => call, on_event: () => undefined }),
};
