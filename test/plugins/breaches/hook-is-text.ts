// a hook that is not a function
export default {
  name: "hook-is-text",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ transform: "mask" }),
};
// check: plugin-contract: hook 'transform' is not a function (an absent hook is left out, or undefined)
