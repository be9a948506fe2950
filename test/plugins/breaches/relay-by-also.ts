// a second relay, by `also`
export default {
  name: "relay-by-also",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  also: ["relay"],
  setup: () => ({ relay: () => Promise.reject(new Error("taken over")) }),
};
// check: duplicate-plugin: duplicate relay (remove one of the two)
