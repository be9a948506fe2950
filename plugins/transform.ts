import { type Call, definePlugin, isJson, type Json } from "#kit";
import type { TransformOptions } from "#schema";

type Path = readonly string[];
type Edit = (body: Json) => Json;

/** Sets and removes fields of the request by JSON pointer. */
export default definePlugin<TransformOptions>({
  name: "transform",
  stage: "transform",
  schema: new URL("../schemas/plugins/transform.schema.json", import.meta.url),
  setup(options) {
    const edits: Edit[] = [
      ...(options.remove ?? []).map((pointer) => removal(parsePointer(pointer))),
      ...Object.entries(options.set ?? {}).map(([pointer, value]) => assignment(parsePointer(pointer), value)),
    ];
    return {
      transform: (call: Call): Call => ({ ...call, body: edits.reduce((body, edit) => edit(body), call.body) }),
    };
  },
});

/** @throws Error for a pointer that would change what the request is: its model and whether it streams are routed on. */
function parsePointer(pointer: string): Path {
  const path = pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [first] = path;
  if (first === undefined || first === "model" || first === "stream") {
    throw new Error(`transform cannot change "${pointer}"; use the model's chain for that`);
  }
  return path;
}

function assignment(path: Path, value: unknown): Edit {
  return (body) => write(body, path, value) as Json;
}

function removal(path: Path): Edit {
  return (body) => erase(body, path) as Json;
}

/** A copy of `node` with `value` at `path`; what is not an object on the way is replaced by one. */
function write(node: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(node)) {
    const at = key === "-" ? node.length : indexOf(key);
    if (at > node.length) return node;
    return node.toSpliced(at, 1, write(node[at], rest, value));
  }
  const object = isJson(node) ? node : {};
  return copy(object, key, write(own(object, key), rest, value));
}

function erase(node: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return node;
  if (Array.isArray(node)) {
    const at = indexOf(key);
    if (at >= node.length) return node;
    return rest.length === 0 ? node.toSpliced(at, 1) : node.toSpliced(at, 1, erase(node[at], rest));
  }
  if (!isJson(node) || !Object.hasOwn(node, key)) return node;
  if (rest.length > 0) return copy(node, key, erase(node[key], rest));
  const { [key]: _removed, ...others } = node;
  return others;
}

/** The place that a pointer's part names in a list; beyond every list when it names none (RFC 6901: no "01", no ""). */
function indexOf(key: string): number {
  return /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : Infinity;
}

/** A computed key, not an assignment: `__proto__` must become a plain field. */
function copy(object: Json, key: string, value: unknown): Json {
  return { ...object, [key]: value };
}

function own(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
