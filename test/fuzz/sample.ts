import { readFileSync } from "node:fs";
import { isJson, type Json } from "../../src/kit/index.ts";
import type { Random } from "../chaos/random.ts";

const DEEPEST = 6;
const documents = new Map<string, Json>();

/** A document of schemas/api, by the name of its file. */
export function schemaOf(name: string): Json {
  let document = documents.get(name);
  if (document === undefined) {
    document = JSON.parse(readFileSync(new URL(`../../schemas/api/${name}`, import.meta.url), "utf8")) as Json;
    documents.set(name, document);
  }
  return document;
}

/** One of the values. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.between(0, values.length - 1)]!;
}

/** Letters of every kind, and what breaks texts: quotes, controls, half a pair. */
export function text(random: Random, most = 24): string {
  const units = ["a", "Z", "7", " ", "\n", '"', "\\", "\u0000", "é", "漢", "😀", "\ud800", "\u202e", "/", "%", "{"];
  return Array.from({ length: random.between(0, most) }, () => pick(random, units)).join("");
}

/** A value as the schema describes it, more or less: bounds of numbers and lengths are met by accident. */
export function sample(random: Random, schema: Json, document: Json, depth = 0): unknown {
  const { $ref, const: constant, enum: choices, type, default: usual } = schema;
  if (typeof $ref === "string") {
    const [file = "", pointer = ""] = $ref.split("#");
    const home = file === "" ? document : schemaOf(file.split("/").at(-1)!);
    return sample(random, at(home, pointer), home, depth + 1);
  }
  if (constant !== undefined) return constant;
  if (Array.isArray(choices)) return pick(random, choices);
  if (usual !== undefined && random.chance(0.3)) return usual;
  for (const union of [schema["oneOf"], schema["anyOf"]])
    if (Array.isArray(union)) return sample(random, pick(random, union as Json[]), document, depth + 1);
  const kind = Array.isArray(type) ? (pick(random, type) as unknown) : type;
  if (kind === "object" || schema["properties"] !== undefined) return object(random, schema, document, depth);
  if (kind === "array") {
    const items = isJson(schema["items"]) ? schema["items"] : {};
    const length = depth > DEEPEST ? 0 : random.between(0, 3);
    return Array.from({ length }, () => sample(random, items, document, depth + 1));
  }
  if (kind === "integer") return random.between(-1, 5);
  if (kind === "number") return random.fraction() * 4 - 1;
  if (kind === "boolean") return random.chance(0.5);
  if (kind === "null") return null;
  return text(random);
}

function object(random: Random, schema: Json, document: Json, depth: number): Json {
  const properties = isJson(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const likely = depth > DEEPEST ? 0 : 3 / (Object.keys(properties).length + 1);
  const entries = Object.entries(properties).filter(([name]) => required.has(name) || random.chance(likely));
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, sample(random, isJson(inner) ? inner : {}, document, depth + 1)]),
  );
}

function at(document: Json, pointer: string): Json {
  const found = pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, segment) => (isJson(value) ? value[segment] : undefined), document);
  return isJson(found) ? found : {};
}
