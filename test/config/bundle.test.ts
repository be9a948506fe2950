import { globSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { bundleGateway, bundlePlugin, EDITOR_KEYWORDS } from "../../src/config/bundle.ts";
import { loadConfig } from "../../src/config/load.ts";
import { isRecord } from "../../src/config/schema.ts";
import { readCases } from "./cases.ts";
import { options } from "./support.ts";

const ROOT = resolve(import.meta.dirname, "../..");

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(resolve(ROOT, path), "utf8")) as Record<string, unknown>;
}

function bundle(local: ReadonlyMap<string, unknown> = new Map()) {
  return bundleGateway(readJson("schemas/gateway.source.schema.json"), {
    read: (ref) => readJson(`schemas/${ref}`),
    local,
  });
}

/** As strict as the validator is; values of one of several types are what one pattern for a value means. */
function strictAjv(): Ajv {
  return new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
}

/** As an editor sees it: no reference resolved. */
function valueOf(file: string): unknown {
  return parseDocument(readFileSync(file, "utf8"), { stringKeys: true, uniqueKeys: false }).toJS();
}

/** Every schema inside, with a path; what conditions repeat is left out. */
function* schemasOf(schema: unknown, path = "#"): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (Array.isArray(schema)) for (const [index, one] of schema.entries()) yield* schemasOf(one, `${path}/${index}`);
  if (!isRecord(schema)) return;
  yield [path, schema];
  for (const [key, value] of Object.entries(schema))
    if (!["if", "examples", "required"].includes(key)) yield* schemasOf(value, `${path}/${key}`);
}

const SCHEMA = bundle();
const SCHEMAS = [...schemasOf(SCHEMA)];

describe("the schema that is printed", () => {
  test("is complete in itself and closed: no references, formats or keywords that a validator may not know", () => {
    const text = JSON.stringify(SCHEMA);
    for (const keyword of ["$ref", "definitions", "format", "discriminator"])
      expect(text).not.toContain(`"${keyword}":`);
    const open = SCHEMAS.filter(
      ([, { properties, additionalProperties }]) => properties && additionalProperties !== false,
    );
    expect(open.map(([path]) => path).filter((path) => !/\/(then|options)$/.test(path))).toEqual([]);
    expect(() => strictAjv().compile(SCHEMA)).not.toThrow();
    // With nothing but the defaults, unknown keywords and formats would throw as well.
    expect(() => new Ajv({ logger: false }).compile(SCHEMA)).not.toThrow();
  });

  test("every key has a description and an example that fits", () => {
    const keys = SCHEMAS.flatMap(([path, { properties }]) =>
      isRecord(properties) ? Object.entries(properties).map(([key, one]) => [`${path}/${key}`, one] as const) : [],
    ).filter(([path]) => !path.endsWith("/then/options"));
    expect(keys.length).toBeGreaterThan(250);
    const without = keys.filter(
      ([, one]) =>
        !isRecord(one) ||
        typeof one.description !== "string" ||
        !Array.isArray(one.examples) ||
        one.examples[0] === undefined,
    );
    expect(without.map(([path]) => path)).toEqual([]);
    for (const [path, one] of keys) {
      const validate = strictAjv().compile(one as object);
      for (const example of (one as { readonly examples: readonly unknown[] }).examples)
        expect([path, example, validate(example) ? [] : validate.errors]).toEqual([path, example, []]);
    }
  });

  test("a value is one pattern, except where it is one of a few words, which editors list", () => {
    const branches = SCHEMAS.flatMap(([path, { anyOf }]) =>
      Array.isArray(anyOf) ? [{ path, anyOf: anyOf as Record<string, unknown>[] }] : [],
    );
    const withoutWords = branches.filter(({ anyOf }) => !anyOf.some((one) => "enum" in one));
    expect(withoutWords.map(({ path }) => path)).toEqual([]);
    const withoutReference = branches.filter(({ anyOf }) => !JSON.stringify(anyOf).includes("(env|file|exec):"));
    expect(withoutReference.map(({ path }) => path)).toEqual([]);
    const choices = SCHEMAS.filter(([path, { oneOf, enum: words }]) => oneOf ?? (words && !/anyOf\/\d+$/.test(path)));
    expect(choices.map(([path]) => path)).toEqual([]);
  });

  test.for(["dialect", "vendor", "api"])(
    "the words of an upstream's %s are an enum, not a regular expression",
    (key) => {
      const own = readJson("schemas/gateway.source.schema.json") as never as {
        definitions: { upstream: { properties: Record<string, object> } };
      };
      const words = /"enum":(\[[^\]]*\])/.exec(JSON.stringify(own.definitions.upstream.properties[key]))![1]!;
      const [, printed] = SCHEMAS.find(([path]) => path.endsWith(`/properties/${key}`))!;
      expect((printed["anyOf"] as readonly { readonly enum?: unknown }[])[0]!.enum).toEqual(JSON.parse(words));
      expect(JSON.stringify(printed)).not.toContain("^(");
    },
  );

  test.for(["gateway.yaml", ...globSync(resolve(ROOT, "../shared/examples/gateway.yaml"))])("accepts %s", (file) => {
    const validate = strictAjv().compile(SCHEMA);
    validate(valueOf(resolve(ROOT, file)));
    expect(validate.errors).toBeNull();
  });

  test("accepts a reference wherever a scalar stands", () => {
    const text = readFileSync(resolve(ROOT, "gateway.yaml"), "utf8")
      .replace("port: 8080", 'port: "${env:PORT:-8080}"')
      .replace("heartbeat: 15s", "heartbeat: ${env:BEAT:-15s}")
      .replace("enforce: true", "enforce: ${env:ENFORCE:-true}")
      .replace("currency: USD", "currency: ${env:CURRENCY}")
      .replace("created: 2026-01-15", "created: ${env:CREATED}")
      .replace("kind: chat", "kind: ${env:KIND}");
    const validate = strictAjv().compile(SCHEMA);
    validate(parseDocument(text).toJS());
    expect(validate.errors).toBeNull();
  });
});

test("the bundle for editors is the same schema with keywords for people", () => {
  const shipped = readJson("schemas/gateway.schema.json");
  expect(strictAjv().compile.bind(strictAjv(), shipped)).toThrow(/unknown keyword/);
  const ajv = new Ajv({ strict: true, allowUnionTypes: true });
  for (const keyword of EDITOR_KEYWORDS) ajv.addKeyword({ keyword });
  expect(() => ajv.compile(shipped)).not.toThrow();
  expect(ajv.validateSchema(shipped)).toBe(true);
  expect(shipped.$id).toBeUndefined();
  expect(JSON.stringify(shipped)).not.toContain('"$ref"');
});

/** Rules that a schema alone can keep. */
const SHAPE = new Set(
  ["unknown-key", "invalid-name", "missing-key", "wrong-type", "unknown-value", "wrong-format"].concat([
    "out-of-range",
    "wrong-length",
    "duplicate-item",
    "unsupported-version",
  ]),
);

describe("bad shapes", () => {
  const cases = readCases().filter(({ file, expected, options: { env } }) => {
    const own = expected.filter((line) => /^\d/.test(line));
    const text = readFileSync(file, "utf8");
    const isShape = own.some((line) => SHAPE.has(/^\S+ error (\S+)/.exec(line)?.[1] ?? ""));
    return isShape && Object.keys(env ?? {}).length === 0 && !/^include:/m.test(text);
  });
  /** More than a schema says: days of a month, numbers that are not finite, models that are published or written out. */
  const BEYOND = new Set(["wrong-format-date.yaml", "wrong-type-infinite.yaml", "publishing-nothing.yaml"]);

  test("there are many", () => {
    expect(cases.length).toBeGreaterThan(35);
  });

  // One compilation takes a third of a second, and most cases have no plugin of their own.
  const withoutLocalPlugins = strictAjv().compile(bundle());

  test.for(cases.filter(({ name }) => !BEYOND.has(name)))("$name is refused", async ({ file, options: more }) => {
    const { localPlugins } = await loadConfig(options(file, more));
    const local = new Map(
      [...localPlugins].map(([use, { schema }]) => [use, readJson(relative(ROOT, schema.pathname))]),
    );
    const validate = local.size === 0 ? withoutLocalPlugins : strictAjv().compile(bundle(local));
    expect(validate(valueOf(file))).toBe(false);
  });

  test("a good configuration with the same plugin is accepted", async () => {
    const schema = readJson("schemas/plugins/redact-names.schema.json");
    const use = "./plugins/redact-names.ts";
    const step = (options: unknown) => ({
      ...(valueOf(resolve(ROOT, "gateway.yaml")) as object),
      pipeline: ["auth", { use, options }],
    });
    const validate = strictAjv().compile(bundle(new Map([[use, schema]])));
    expect(validate(step({ names: ["Ada"] }))).toBe(true);
    expect(validate(step({ names: "Ada" }))).toBe(false);
    expect(validate(step({ names: ["Ada"], replace: "x" }))).toBe(false);
    expect(strictAjv().validate(bundle(), step({ replace: "x" }))).toBe(true);
  });
});

describe("the schema of one plugin", () => {
  test.for(globSync("schemas/plugins/*.schema.json", { cwd: ROOT }))("%s", (path) => {
    const schema = bundlePlugin(readJson(path));
    expect(() => strictAjv().compile(schema)).not.toThrow();
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
  });

  test("one that holds itself, or has a choice of maps, can be printed", () => {
    const tree = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      properties: {
        tree: { description: "A tree.", $ref: "#/definitions/node", examples: [{}] },
        choice: {
          description: "A choice.",
          oneOf: [
            { type: "object", additionalProperties: false, properties: { a: { description: "A.", type: "boolean" } } },
            { type: "object", additionalProperties: false, properties: { b: { description: "B.", type: "boolean" } } },
            { type: "string" },
          ],
          examples: ["a"],
        },
      },
      definitions: {
        node: {
          type: "object",
          additionalProperties: false,
          properties: { children: { description: "Below.", type: "array", items: { $ref: "#/definitions/node" } } },
        },
      },
    };
    const validate = strictAjv().compile(bundlePlugin(tree));
    expect(validate({ tree: { children: [{ any: 1 }] }, choice: { b: true } })).toBe(true);
    expect(validate({ tree: { child: [] } })).toBe(false);
    expect(validate({ choice: { a: true, b: true } })).toBe(false);
  });

  const forms: readonly (readonly [what: string, schema: object, values: readonly unknown[]])[] = [
    ["a choice of numbers", { type: "integer", enum: [1, 2] }, [1, 3, "1"]],
    ["a choice of words and nothing", { enum: ["a", null] }, ["a", null, "b"]],
    ["words with marks", { enum: ["c++", "a.b", "*"] }, ["c++", "a.b", "*", "axb", "c"]],
    ["one flag", { const: true }, [true, false, 1]],
    ["one word with marks", { const: "a|b" }, ["a|b", "a"]],
    [
      "two ranges",
      {
        anyOf: [
          { type: "integer", maximum: 0 },
          { type: "integer", minimum: 9 },
        ],
      },
      [0, 5, 9],
    ],
    [
      "two forms of text",
      {
        anyOf: [
          { type: "string", pattern: "^a" },
          { type: "string", minLength: 5 },
        ],
      },
      ["a", "b", "bbbbb"],
    ],
    [
      "two maps, of which none requires a key",
      {
        anyOf: [
          { type: "object", additionalProperties: false, properties: { a: { type: "boolean" } } },
          { type: "object", additionalProperties: false, properties: { b: { type: "boolean" } } },
        ],
      },
      [{ a: true }, { b: true }, { c: true }],
    ],
    ["the whole again", { $ref: "#" }, [{ value: { value: {} } }, { other: 1 }]],
  ];
  test.for(forms)("accepts what the plugin's own schema does: %s", ([, value, values]) => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      properties: { value: { description: "A value.", examples: [], ...value } },
    };
    const own = new Ajv({ strict: false }).compile(schema);
    const bundled = new Ajv({ strict: false, allowUnionTypes: true }).compile(bundlePlugin(schema));
    const inGateway = bundleGateway(readJson("schemas/gateway.source.schema.json"), {
      read: (ref) => readJson(`schemas/${ref}`),
      local: new Map([["./x.ts", schema]]),
    });
    expect(() => new Ajv({ strict: false, allowUnionTypes: true }).compile(inGateway)).not.toThrow();
    for (const one of values) expect([one, bundled({ value: one })]).toEqual([one, own({ value: one })]);
  });
});
