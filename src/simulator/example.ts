import { type Json, isJson } from "../kit/index.ts";
import { asNumber, asText } from "./fields.ts";

/** Beyond it only the smallest value is made, so that a schema that contains itself ends. */
const SMALLEST_VALUE_DEPTH = 5;
const MAXIMUM_DEPTH = 12;
const MAXIMUM_ITEMS = 64;
const MAXIMUM_CHARACTERS = 65_536;
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "simulated@example.com",
  "idn-email": "simulated@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  "uri-reference": "/simulated",
  iri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  "json-pointer": "/simulated",
  regex: "simulated",
  byte: "c2ltdWxhdGVk",
};

/** A value that fits a JSON Schema: required properties, or every property when none is required. `pattern` is ignored. */
export function example(schema: unknown): unknown {
  return new Maker(schema).make(schema, 0, 0);
}

class Maker {
  readonly #root: unknown;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** @param nth tells the members of a list apart whose items are to be unique */
  make(given: unknown, depth: number, nth: number): unknown {
    if (!isJson(given) || depth > MAXIMUM_DEPTH) return {};
    if ("const" in given) return given["const"];
    for (const list of [given["enum"], given["examples"]])
      if (Array.isArray(list) && list.length > 0) return list[nth % list.length];
    if ("default" in given) return given["default"];
    if (typeof given["$ref"] === "string") {
      const { $ref, ...siblings } = given;
      const target = resolve($ref, this.#root);
      return this.make(isJson(target) ? merged(target, siblings) : siblings, depth + 1, nth);
    }
    for (const choices of [given["anyOf"], given["oneOf"]]) {
      if (!Array.isArray(choices) || choices.length === 0) continue;
      const { anyOf: _any, oneOf: _one, ...siblings } = given;
      return this.make(merged(siblings, choose(choices, depth)), depth + 1, nth);
    }
    if (Array.isArray(given["allOf"])) {
      const { allOf, ...siblings } = given;
      const parts = (allOf as readonly unknown[]).map((part) => this.#resolved(part));
      return this.make(parts.reduce<Json>(merged, siblings), depth + 1, nth);
    }
    return this.#typed(given, depth, nth);
  }

  #typed(schema: Json, depth: number, nth: number): unknown {
    switch (typeOf(schema, depth)) {
      case "string":
        return text(schema, nth);
      case "integer":
        return number(schema, 1, nth);
      case "number":
        return number(schema, 0.5, nth);
      case "boolean":
        return nth % 2 === 0;
      case "null":
        return null;
      case "array":
        return this.#list(schema, depth);
      default:
        return this.#object(schema, depth);
    }
  }

  #list(schema: Json, depth: number): readonly unknown[] {
    const { items, prefixItems, uniqueItems: unique } = schema;
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const min = asNumber(schema["minItems"], depth >= SMALLEST_VALUE_DEPTH ? 0 : Math.max(1, first.length));
    const size = Math.min(min, asNumber(schema["maxItems"], MAXIMUM_ITEMS), MAXIMUM_ITEMS);
    const others = isJson(items) ? items : {};
    return Array.from({ length: size }, (_, at) => this.make(first[at] ?? others, depth + 1, unique === true ? at : 0));
  }

  #object(schema: Json, depth: number): Json {
    const properties = isJson(schema["properties"]) ? schema["properties"] : {};
    const required: unknown = schema["required"];
    const demanded = Array.isArray(required) && required.length > 0;
    const names = demanded ? required.map(asText) : depth >= SMALLEST_VALUE_DEPTH ? [] : Object.keys(properties);
    const other = isJson(schema["additionalProperties"]) ? schema["additionalProperties"] : { type: "string" };
    for (let at = 0; names.length < Math.min(asNumber(schema["minProperties"]), MAXIMUM_ITEMS); at++) {
      const name = Object.keys(properties).find((one) => !names.includes(one)) ?? `simulated${at}`;
      if (!names.includes(name)) names.push(name);
    }
    return Object.fromEntries(names.map((name) => [name, this.make(properties[name] ?? other, depth + 1, 0)]));
  }

  #resolved(part: unknown): Json {
    const target: unknown = isJson(part) && typeof part["$ref"] === "string" ? resolve(part["$ref"], this.#root) : part;
    return isJson(target) ? target : {};
  }
}

const isNull = (choice: unknown): boolean => isJson(choice) && choice["type"] === "null";

/** The first that is not only null; deep down null, which ends a schema that contains itself. */
function choose(choices: readonly unknown[], depth: number): Json {
  const nothing = depth >= SMALLEST_VALUE_DEPTH ? choices.find(isNull) : undefined;
  const chosen = nothing ?? choices.find((choice) => !isNull(choice)) ?? choices[0];
  return isJson(chosen) ? chosen : {};
}

/** Both at once: what `more` says too decides, but properties and required names add up. */
function merged(schema: Json, more: Json): Json {
  const properties = [schema, more].map((one) => one["properties"]).filter(isJson);
  const required = [schema, more].flatMap((one) => (Array.isArray(one["required"]) ? one["required"] : []));
  return {
    ...schema,
    ...more,
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) as Json }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function typeOf(schema: Json, depth: number): unknown {
  const { type } = schema;
  if (Array.isArray(type)) {
    if (depth >= SMALLEST_VALUE_DEPTH && type.includes("null")) return "null";
    return type.find((one) => one !== "null") ?? "null";
  }
  if (type !== undefined) return type;
  if ("items" in schema || "prefixItems" in schema) return "array";
  if ("minLength" in schema || "maxLength" in schema || "format" in schema) return "string";
  return "minimum" in schema || "maximum" in schema || "multipleOf" in schema ? "number" : "object";
}

function text(schema: Json, nth: number): string {
  const formatted = FORMATS[asText(schema["format"])];
  if (formatted !== undefined) return formatted;
  const made = nth === 0 ? "simulated" : `${nth} simulated`;
  return made
    .padEnd(Math.min(asNumber(schema["minLength"]), MAXIMUM_CHARACTERS), "x")
    .slice(0, asNumber(schema["maxLength"], Infinity));
}

/** The smallest number the bounds allow, at least 0 where they do; `nth` such numbers further on. */
function number(schema: Json, step: number, nth: number): number {
  const multiple = asNumber(schema["multipleOf"], step);
  const above = schema["exclusiveMinimum"];
  const below = asNumber(schema["maximum"] ?? schema["exclusiveMaximum"]);
  const min = asNumber(schema["minimum"] ?? above, Math.min(0, below));
  const rounded = Math.ceil(min / multiple) * multiple + nth * multiple;
  if (typeof above === "number" && rounded <= above) return rounded + multiple;
  return schema["exclusiveMaximum"] === rounded ? rounded - multiple : rounded;
}

/** A reference inside the same schema, `#/$defs/x`; anything else fits every value. */
function resolve(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return {};
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce<unknown>(
    (at, step) => (isJson(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
    root,
  );
}
