export default {
  name: "also-relay",
  also: ["relay"],
  stage: "transform",
  schema: new URL("./empty.schema.json", import.meta.url),
  setup: () => ({ relay: () => Promise.reject(new Error("unused")) }),
};
