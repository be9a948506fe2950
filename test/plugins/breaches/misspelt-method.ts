// a misspelt method of a class
class Hooks {
  transfrom(call: unknown): unknown {
    return call;
  }
}

export default {
  name: "misspelt-method",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => new Hooks(),
};
// check: unknown-hook: setup returns 'transfrom', which is not a hook (did you mean 'transform'?)
