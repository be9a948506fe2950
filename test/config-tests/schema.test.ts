import { globSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import source from "../../schemas/config-test.source.schema.json" with { type: "json" };
import { isRecord } from "../../src/config/schema.ts";
import { parseScript, SCRIPT } from "../../src/simulator/script.ts";

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(source);
const validate = ajv.getSchema(source.$id)!;

/** Every property of the schema, by its path in it. */
function* propertiesOf(schema: unknown, path: string): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (Array.isArray(schema))
    for (const [index, item] of schema.entries()) yield* propertiesOf(item, `${path}/${index}`);
  if (!isRecord(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties" && isRecord(value)) {
      for (const [name, one] of Object.entries(value)) if (isRecord(one)) yield [`${path}/properties/${name}`, one];
    }
    yield* propertiesOf(value, `${path}/${key}`);
  }
}

const PROPERTIES = [...propertiesOf(source, "#")];

test.each(PROPERTIES)("%s has examples that it takes, or keys that have", (path, { examples, $ref, ...schema }) => {
  const isContainer = typeof $ref === "string" && /\/(test|given|stepGiven|step|expect|script)$/.test($ref);
  const list = isRecord(schema["items"]) && "$ref" in schema["items"];
  if (isContainer || list) return;
  expect(Array.isArray(examples) && examples.length > 0).toBe(true);
  const own = ajv.getSchema(`${source.$id}${path}`)!;
  // Those of a map are names, where they are texts.
  const values = (examples as readonly unknown[]).filter(
    (example) => !("patternProperties" in schema && typeof example === "string"),
  );
  expect(values.filter((example) => !own(example))).toEqual([]);
});

describe("scripts of upstreams", () => {
  const keys = Object.entries(source.definitions.script.properties);

  test.each(keys)("%s is one of the simulator's", (key, { examples }) => {
    for (const example of examples as readonly unknown[]) {
      const script = parseScript(JSON.stringify({ [key]: example }));
      expect(Object.keys(script).every((name) => name in SCRIPT)).toBe(true);
      expect(Object.keys(script).length).toBeGreaterThan(0);
    }
  });
});

/** Keys that the maps at a key of these names have, in all test files. */
function keysIn(files: readonly string[], name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [key, inner] of Object.entries(value ?? {})) {
      if (typeof inner !== "object" || inner === null) continue;
      if (key === name && !Array.isArray(inner)) for (const one of Object.keys(inner)) found.add(one);
      visit(inner);
    }
  };
  for (const file of files) visit(parseDocument(readFileSync(file, "utf8")).toJS());
  return found;
}

const CASES = globSync("test/config-tests/cases/*.test.yaml");
const ALL = [...CASES, "test/gateway.test.yaml"];

test.each(Object.keys(source.definitions.expect.properties))(
  "what differs from expect.%s fails, and what does not passes",
  (key) => {
    const failing = readFileSync("test/config-tests/cases/differences.txt", "utf8");
    expect(failing).toMatch(new RegExp(`differences\\.test\\.yaml:\\d+:\\d+: ${key}\\b`));
    expect(keysIn(["test/config-tests/cases/every-expectation-holds.test.yaml"], "expect")).toContain(key);
  },
);

test("every key of what is given is in a case", () => {
  const used = keysIn(ALL, "given");
  const tables = keysIn(ALL, "each");
  const missing = Object.keys(source.definitions.given.properties).filter((key) => !used.has(key) && !tables.has(key));
  expect(missing).toEqual([]);
});

const FILES = [
  "test/gateway.test.yaml",
  ...["every-expectation-holds", "steps-share-counters", "every-body", "differences"].map(
    (name) => `test/config-tests/cases/${name}.test.yaml`,
  ),
];

test.each(FILES)("an editor finds nothing wrong with %s", (file) => {
  const fits = validate(parseDocument(readFileSync(file, "utf8")).toJS());
  expect({ fits, errors: validate.errors }).toEqual({ fits: true, errors: null });
});

test("the shipped tests start with the line that editors look for", () => {
  const [line] = readFileSync("test/gateway.test.yaml", "utf8").split("\n", 1);
  expect(line).toBe("# yaml-language-server: $schema=../schemas/config-test.schema.json");
});
