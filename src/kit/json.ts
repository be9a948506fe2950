export type Json = Readonly<Record<string, unknown>>;

/** Whether a parsed value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Freezes plain data all the way. What is frozen already is taken to be frozen inside, too. @returns it */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

/** The names on the way of a JSON pointer (RFC 6901), from the outside in. */
export type Path = readonly string[];

/** One name as a part of a JSON pointer. */
export function escapeSegment(segment: string | number): string {
  return String(segment).replaceAll("~", "~0").replaceAll("/", "~1");
}

export function pathOf(pointer: string): Path {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * A copy of `node` with `value` at `path`. What is missing on the way, or is neither object nor list, becomes an object;
 * a list takes a value in the place of an item or behind its last one, and is otherwise left as it is.
 */
export function withValue(node: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(node)) {
    const at = key === "-" ? node.length : indexOf(key);
    if (at > node.length) return node;
    return node.toSpliced(at, 1, withValue(node[at], rest, value));
  }
  const object = isJson(node) ? node : {};
  return copy(object, key, withValue(own(object, key), rest, value));
}

/** A copy of `node` without what is at `path`; `node` itself when nothing is there. */
export function withoutValue(node: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined || !has(node, key)) return node;
  if (Array.isArray(node)) {
    const at = indexOf(key);
    return rest.length === 0 ? node.toSpliced(at, 1) : node.toSpliced(at, 1, withoutValue(node[at], rest));
  }
  if (rest.length > 0) return copy(node, key, withoutValue(node[key], rest));
  const { [key]: _removed, ...others } = node;
  return others;
}

/**
 * A copy of `node` in which the field at `path` is called `name`, in place of another that had the name already; `node`
 * itself when no field is there. Items of a list have no names.
 */
export function withName(node: unknown, [key, ...rest]: Path, name: string): unknown {
  if (key === undefined || !has(node, key)) return node;
  if (Array.isArray(node)) {
    const at = indexOf(key);
    return rest.length === 0 ? node : node.toSpliced(at, 1, withName(node[at], rest, name));
  }
  if (rest.length > 0) return copy(node, key, withName(node[key], rest, name));
  const { [key]: value, ...others } = node;
  return copy(others, name, value);
}

/** Narrowed to what can be walked into. */
function has(node: unknown, key: string): node is Json {
  return Array.isArray(node) ? indexOf(key) < node.length : isJson(node) && Object.hasOwn(node, key);
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
