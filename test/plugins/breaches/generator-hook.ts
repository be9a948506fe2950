// a hook that is a generator
export default {
  name: "generator-hook",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({
    *transform(call: unknown) {
      yield call;
    },
  }),
};
// check: plugin-contract: hook 'transform' is a generator (write a plain function)
