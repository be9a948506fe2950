import { isJson, type Json } from "../../kit/index.ts";

/** "Property keys should match pattern" (https://github.com/anthropics/claude-code/issues/40075). */
const NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** What is nested deeper than anybody's tools is left to the API. */
const MAX_LEVELS = 32;

/** Keywords whose values are schemas, or lists of them. */
const INNER: ReadonlySet<string> = new Set(["items", "additionalProperties", "anyOf", "oneOf", "allOf", "not"]);
/** Keywords whose values are schemas by name. */
const NAMED: ReadonlySet<string> = new Set(["$defs", "definitions"]);

/**
 * The input schema of a tool without properties that Claude refuses the names of; the very same without any.
 * @param drop is told where such a property is, from the schema on.
 */
export function withFitNames(schema: Json, drop: (pointer: string) => void): Json {
  return fitted(schema, "", MAX_LEVELS, drop) as Json;
}

function fitted(value: unknown, at: string, levels: number, drop: (pointer: string) => void): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return each(value, (item, index) => fitted(item, `${at}/${index}`, levels - 1, drop));
  if (!isJson(value)) return value;
  const { properties, required } = value;
  const bad = isJson(properties) ? Object.keys(properties).filter((name) => !NAME.test(name)) : [];
  for (const name of bad) drop(`${at}/properties/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  let isChanged = bad.length > 0;
  const fields = Object.entries(value).map(([name, inner]) => {
    const now = fieldOf(name, inner);
    isChanged ||= now !== inner;
    return [name, now] as const;
  });
  return isChanged ? Object.fromEntries(fields) : value;

  function fieldOf(name: string, inner: unknown): unknown {
    if (name === "properties" && isJson(properties)) return byName(properties, "properties", bad);
    if (NAMED.has(name) && isJson(inner)) return byName(inner, name, []);
    if (name === "required" && Array.isArray(required) && bad.length > 0)
      return required.filter((one) => !bad.includes(String(one)));
    return INNER.has(name) ? fitted(inner, `${at}/${name}`, levels - 1, drop) : inner;
  }

  function byName(schemas: Json, keyword: string, without: readonly string[]): Json {
    let isSame = without.length === 0;
    const kept = Object.entries(schemas)
      .filter(([name]) => !without.includes(name))
      .map(([name, schema]) => {
        const now = fitted(schema, `${at}/${keyword}/${name}`, levels - 1, drop);
        isSame &&= now === schema;
        return [name, now] as const;
      });
    return isSame ? schemas : Object.fromEntries(kept);
  }
}

function each(list: readonly unknown[], change: (item: unknown, index: number) => unknown): readonly unknown[] {
  const now = list.map(change);
  return now.every((item, index) => item === list[index]) ? list : now;
}
