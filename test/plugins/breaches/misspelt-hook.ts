// a misspelt hook
export default {
  name: "misspelt-hook",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ transfrom: (call: unknown) => call }),
};
// check: unknown-hook: setup returns 'transfrom', which is not a hook (did you mean 'transform'?)
