export default {
  name: "two-stages",
  also: ["admit"],
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({ admit: () => undefined, transform: (call: unknown) => call, settle: () => undefined }),
};
