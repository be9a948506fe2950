import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { isRecord } from "../../src/config/schema.ts";
import { options } from "./support.ts";

/** What an operator is told of every key: purpose, unit, default. The defaults are those that the gateway has. */
const ROOT = resolve(import.meta.dirname, "../..");
const SOURCES = [
  "schemas/gateway.source.schema.json",
  "schemas/config-test.source.schema.json",
  ...globSync("schemas/plugins/*.schema.json", { cwd: ROOT }),
];

type Node = Readonly<Record<string, unknown>>;

const read = (file: string): Node => JSON.parse(readFileSync(resolve(ROOT, file), "utf8")) as Node;

interface Key {
  readonly place: string;
  readonly node: Node;
  readonly isRequired: boolean;
  /** With what a reference leads to. */
  readonly types: readonly string[];
}

/** Expectations and faults of a test: what is absent is not checked, or does not happen. */
const OPTIONAL_BY_NATURE = /^schemas\/config-test\S*#\/definitions\/(?:expect|script|used|left|text)\//;

function keysOf(file: string): Key[] {
  const root = read(file);
  const found: Key[] = [];
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) return value.forEach((one, index) => visit(one, `${path}/${index}`));
    if (!isRecord(value)) return;
    const required = Array.isArray(value.required) ? (value.required as unknown[]) : [];
    if (isRecord(value.properties) && !path.includes("/if")) {
      for (const [key, node] of Object.entries(value.properties)) {
        if (!isRecord(node)) continue;
        const isRequired = required.includes(key);
        found.push({ place: `${file}${path}/${key}`, node, isRequired, types: typesOf(node, root) });
      }
    }
    for (const [key, inner] of Object.entries(value))
      if (!["examples", "default", "defaultSnippets", "required"].includes(key)) visit(inner, `${path}/${key}`);
  };
  visit(root, "#");
  return found;
}

function typesOf(node: unknown, root: Node): string[] {
  if (!isRecord(node)) return [];
  const { $ref, anyOf, oneOf, type } = node;
  if (typeof $ref === "string") {
    if (!$ref.startsWith("#/")) return ["object"];
    const definitions = root.definitions as Readonly<Record<string, unknown>>;
    return typesOf(definitions[$ref.slice("#/definitions/".length)], root);
  }
  const branches = [anyOf, oneOf].flatMap((union) => (Array.isArray(union) ? (union as unknown[]) : []));
  return [...[type].flat().filter((one) => typeof one === "string"), ...branches.flatMap((one) => typesOf(one, root))];
}

/** A number is one of something. */
const UNITS =
  /\b(?:requests?|tokens|characters|bytes|seconds?|connections|attempts|failures|streams?|processes|sequences|files|tools|events|images|credits|price|port|share|factor|weight|number|percentage|many times|TCP|million|currency|version|status|multiplier|limit|window)\b/i;

const KEYS = SOURCES.flatMap(keysOf);

describe("every key", () => {
  test("is described in sentences", () => {
    expect(KEYS.length).toBeGreaterThan(350);
    const unfit = KEYS.filter(({ node: { description } }) => {
      if (typeof description !== "string") return true;
      return (
        !/^[A-Za-z0-9$`{]\S*\s\S.*[.)]$/.test(description) ||
        /^Of |\b(?:is none|what of|when absent|unless given)\b/.test(description)
      );
    });
    expect(unfit.map(({ place, node }) => `${place}: ${String(node.description)}`)).toEqual([]);
  });

  test("that may be absent has a default, or says what happens without it", () => {
    const silent = KEYS.filter(({ node, isRequired, types, place }) => {
      if (isRequired || "default" in node || OPTIONAL_BY_NATURE.test(place)) return false;
      // A map of settings has defaults of its own.
      if (types.includes("object") && !/\bnone\b/.test(JSON.stringify(node))) return false;
      return !/\bwithout (?:it|both)\b/i.test(String(node.description));
    });
    expect(silent.map(({ place, node }) => `${place}: ${String(node.description)}`)).toEqual([]);
  });

  test("that is a number names its unit", () => {
    const bare = KEYS.filter(
      ({ types, node }) =>
        types.some((type) => type === "integer" || type === "number") && !UNITS.test(String(node.description)),
    );
    expect(bare.map(({ place, node }) => `${place}: ${String(node.description)}`)).toEqual([]);
  });

  test("has as many texts as words, where its words have texts", () => {
    const uneven: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (Array.isArray(value)) value.forEach((one, index) => visit(one, `${path}/${index}`));
      if (!isRecord(value)) return;
      const { enum: words, enumDescriptions: texts } = value;
      if (Array.isArray(texts) && (!Array.isArray(words) || words.length !== texts.length)) uneven.push(path);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`);
    };
    for (const file of SOURCES) visit(read(file), file);
    expect(uneven).toEqual([]);
  });
});

const GATEWAY = read("schemas/gateway.source.schema.json");
/** Names for the maps whose keys are names. */
const NAMES: Readonly<Record<string, string>> = {
  tiers: "Free",
  upstreams: "alpha",
  models: "route/one",
  oauth: "corp",
};

interface Default {
  /** Keys and indexes from the root of the configuration. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** The schemas from the root to the map that has the key. */
  readonly parents: readonly Node[];
}

/** Every default of the format, by where its key stands in a configuration. */
function defaultsOf(schema: unknown, path: readonly (string | number)[], parents: readonly Node[]): Default[] {
  if (!isRecord(schema)) return [];
  const node = resolved(schema);
  const { properties, patternProperties, items } = node;
  const last = String(path.at(-1) ?? "");
  // The options of a plugin are its own: its tests have them. A local plugin would have to be there.
  if (last === "options" || (isRecord(properties) && isRecord(properties.use) && !("const" in properties.use)))
    return [];
  const within = [...parents, node];
  const own = isRecord(properties)
    ? Object.entries(properties).flatMap(([key, inner]) => [
        ...(isRecord(inner) && "default" in inner
          ? [{ path: [...path, key], value: inner.default, parents: within }]
          : []),
        ...defaultsOf(inner, [...path, key], within),
      ])
    : [];
  const name = NAMES[last];
  const named = isRecord(patternProperties) && name !== undefined ? Object.values(patternProperties) : [];
  return [
    ...own,
    ...named.flatMap((inner) => defaultsOf(inner, [...path, name!], within)),
    ...defaultsOf(items, [...path, 0], within),
  ];
}

/** Behind references, the first branch that is a map. */
function resolved(node: Node): Node {
  const { $ref, anyOf, oneOf } = node;
  if (typeof $ref === "string") {
    if (!$ref.startsWith("#/definitions/")) return {};
    const definitions = GATEWAY.definitions as Readonly<Record<string, Node>>;
    return resolved(definitions[$ref.slice("#/definitions/".length)]!);
  }
  const branches = (anyOf ?? oneOf) as readonly Node[] | undefined;
  if (branches === undefined) return node;
  const maps = branches.map(resolved).filter(({ type }) => type === "object");
  return (
    maps.find(({ properties }) => !isRecord(properties) || !isRecord(properties.use) || "const" in properties.use) ??
    node
  );
}

/** A whole configuration with every section that has to be there. */
const BASE = {
  version: 1,
  tiers: { Free: { access: "all", limits: { day: "none", hour: "none", minute: "none", streams: "none" } } },
  upstreams: { alpha: { dialect: "openai", base_url: "sim:" } },
  models: {
    "route/one": {
      kind: "chat",
      tier: "Free",
      owned_by: "alpha",
      price: { input_per_million: 1, output_per_million: 1 },
      chain: [{ upstream: "alpha", model: "one" }],
    },
  },
  pipeline: [{ use: "auth" }, "plan-check", "quota", "breaker", "stream-relay", "meter"],
};

/** The configuration with the map that has the key, and there with the key if it is given. */
function configWith({ path, parents }: Default, value: { readonly is: unknown } | null): unknown {
  const config = structuredClone(BASE) as Record<string | number, unknown>;
  let map: Record<string | number, unknown> = config;
  for (const [depth, key] of path.slice(0, -1).entries()) {
    map[key] ??= parents[depth + 1]?.type === "array" ? [] : exampleOf(parents[depth + 1]!);
    map = map[key] as Record<string | number, unknown>;
  }
  if (value === null) delete map[path.at(-1)!];
  else map[path.at(-1)!] = value.is;
  return config;
}

/** A map with the keys that it must have. */
function exampleOf({ required = [], properties }: Node): unknown {
  const keys = isRecord(properties) ? properties : {};
  return Object.fromEntries(
    (required as readonly string[]).map((key) => {
      const site = keys[key] as Node;
      return [key, firstOf(site) ?? firstOf(resolved(site))];
    }),
  );
}

function firstOf(node: Node): unknown {
  const branches = [node, ...(Array.isArray(node.anyOf) ? (node.anyOf as readonly Node[]) : [])];
  return branches.flatMap(({ examples, enum: words }) => (examples ?? words ?? []) as readonly unknown[])[0];
}

function textOf(snapshot: unknown): string {
  return JSON.stringify(snapshot, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

/** Where the comparison says nothing, with the reason. */
const NOT_COMPARED: readonly (readonly [place: RegExp, why: string])[] = [
  [/\.api$/, "the snapshot tells auto from an absent key; what reads it does not"],
  [/\.(?:voices|realtime)$/, "refused for the chat model of this test, whatever the value"],
  [/\.parameters\./, "the map must have one of its keys"],
];

/** The snapshot of a configuration, or why there is none. */
async function load(config: unknown): Promise<unknown> {
  const { snapshot, diagnostics } = await loadConfig(
    options("/gateway.yaml", { read: async () => JSON.stringify(config) }),
  );
  return snapshot === null ? diagnostics.map(({ message }) => message) : { ...snapshot, hash: "" };
}

test("a default in the schema is the one that the gateway has", async () => {
  const all = defaultsOf(GATEWAY, [], []);
  expect(all.length).toBeGreaterThan(80);
  const wrong: string[] = [];
  for (const one of all) {
    const place = one.path.join(".");
    if (NOT_COMPARED.some(([pattern]) => pattern.test(place))) continue;
    const [absent, written] = [await load(configWith(one, null)), await load(configWith(one, { is: one.value }))];
    if (Array.isArray(written)) wrong.push(`${place}: ${written.join("; ")}`);
    else if (textOf(absent) !== textOf(written)) wrong.push(place);
  }
  expect(wrong).toEqual([]);
});
