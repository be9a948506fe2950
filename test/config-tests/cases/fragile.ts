import { definePlugin } from "#kit";

/** Cannot be set up where it serves; a check sets it up at no time. */
export default definePlugin<object>({
  name: "fragile",
  stage: "admit",
  schema: new URL("once.schema.json", import.meta.url),
  setup(_options, host) {
    if (host.now() > 0) throw new Error("the time is not right");
    return {};
  },
});
