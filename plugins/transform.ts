import { type Call, definePlugin, type Json, type Path, pathOf, withoutValue, withValue } from "#kit";
import type { TransformOptions } from "#schema";

type Edit = (body: Json) => Json;

/** Sets and removes fields of the request by JSON pointer. */
export default definePlugin<TransformOptions>({
  name: "transform",
  stage: "transform",
  schema: new URL("../schemas/plugins/transform.schema.json", import.meta.url),
  setup(options) {
    const edits: Edit[] = [
      ...(options.remove ?? []).map((pointer) => removal(routable(pointer))),
      ...Object.entries(options.set ?? {}).map(([pointer, value]) => assignment(routable(pointer), value)),
    ];
    return {
      transform: (call: Call): Call => ({ ...call, body: edits.reduce((body, edit) => edit(body), call.body) }),
    };
  },
});

/** @throws Error for a pointer that would change what the request is: its model and whether it streams are routed on. */
function routable(pointer: string): Path {
  const path = pathOf(pointer);
  const [first] = path;
  if (first === undefined || first === "model" || first === "stream") {
    throw new Error(`transform cannot change "${pointer}"; use the model's chain for that`);
  }
  return path;
}

function assignment(path: Path, value: unknown): Edit {
  return (body) => withValue(body, path, value) as Json;
}

function removal(path: Path): Edit {
  return (body) => withoutValue(body, path) as Json;
}
