// a class with a helper method that is not private
class Hooks {
  transform(call: unknown): unknown {
    return this.masked(call);
  }

  masked(call: unknown): unknown {
    return call;
  }
}

export default {
  name: "helper-method",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => new Hooks(),
};
// check: unknown-hook: setup returns 'masked', which is not a hook (make a method that is not a hook private: #masked; hooks of stage transform: transform, answer, event, stream, response, dispose)
