import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { generate } from "../../schemas/generate.ts";
import { isRecord } from "../../src/config/schema.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** Made of a source of their own for editors. */
const BUNDLES = new Set(["schemas/gateway.schema.json", "schemas/config-test.schema.json"]);
const FILES = globSync("schemas/**/*.schema.json", { cwd: ROOT }).filter((file) => !BUNDLES.has(file));
const read = (file: string): unknown => JSON.parse(readFileSync(resolve(ROOT, file), "utf8"));

/** Every schema in a file, with a path to it. */
function* schemasOf(schema: unknown, path: string): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (Array.isArray(schema)) for (const [index, item] of schema.entries()) yield* schemasOf(item, `${path}/${index}`);
  if (!isRecord(schema)) return;
  yield [path, schema];
  for (const [key, value] of Object.entries(schema)) yield* schemasOf(value, `${path}/${key}`);
}

test("the files made from the schemas are what the schemas say; else run: npm run types", async () => {
  const files = Object.entries(await generate());
  expect(files.length).toBeGreaterThan(1);
  // Compared as a whole, a difference in a file of this size would be printed for minutes.
  for (const [name, text] of files) {
    expect([name, readFileSync(resolve(ROOT, "schemas", name), "utf8") === text]).toEqual([name, true]);
  }
});

describe.for(FILES)("%s", (file) => {
  const schema = read(file);

  test("is draft-07, and its id ends in its path", () => {
    expect(schema).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#" });
    expect(isRecord(schema) ? schema.$id : "").toMatch(new RegExp(`/${file.replaceAll(".", "\\.")}$`));
  });

  test("is closed at every level, but for conditions, bodies and options of local plugins, and maps of one kind of value", () => {
    const open = [...schemasOf(schema, "#")].filter(
      ([, { type, properties, additionalProperties }]) =>
        (type === "object" || properties !== undefined) &&
        additionalProperties !== false &&
        !(isRecord(additionalProperties) && properties === undefined && file.startsWith("schemas/admin/")),
    );
    const expected = file.startsWith("schemas/api/")
      ? /./
      : /\/(localStep\/properties\/options|builtInStep|entry\/properties\/details|effectChange|newQuestion\/properties\/body|if)$/;
    expect(open.map(([path]) => path).filter((path) => !expected.test(path))).toEqual([]);
  });

  test("describes every property", () => {
    // A condition repeats what is described elsewhere.
    const properties = [...schemasOf(schema, "#")].filter(
      ([path]) => /\/properties\/[^/]+$/.test(path) && !path.includes("/if/"),
    );
    expect(properties.filter(([, { description }]) => typeof description !== "string").map(([path]) => path)).toEqual(
      [],
    );
  });
});

/** As an editor sees the files: no references resolved. */
function editor(): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: false, discriminator: true });
  formats.default(ajv);
  for (const file of FILES.filter((name) => !name.endsWith("/gateway.source.schema.json")))
    ajv.addSchema(read(file) as object);
  return ajv;
}

const shared = resolve(ROOT, "../shared/examples/gateway.yaml");
const samples = ["gateway.yaml", ...globSync(shared)];

test.for(samples)("an editor finds nothing wrong with %s", (file) => {
  const validate = editor().compile(read("schemas/gateway.source.schema.json") as object);
  validate(parseDocument(readFileSync(resolve(ROOT, file), "utf8")).toJS());
  expect(validate.errors).toBeNull();
});

test("an editor accepts a reference where a number, a flag or a duration stands", () => {
  const validate = editor().compile(read("schemas/gateway.source.schema.json") as object);
  const text = readFileSync(resolve(ROOT, "gateway.yaml"), "utf8")
    .replace("port: 8080", 'port: "${env:PORT:-8080}"')
    .replace("heartbeat: 15s", "heartbeat: ${env:BEAT:-15s}")
    .replace("enforce: true", "enforce: ${env:ENFORCE:-true}");
  validate(parseDocument(text).toJS());
  expect(validate.errors).toBeNull();
});

test("the built-in plugins accept to have no options", () => {
  const ajv = new Ajv();
  for (const name of ["auth", "plan-check", "quota", "breaker", "transform", "stream-relay", "meter"]) {
    expect(ajv.validate(read(`schemas/plugins/${name}.schema.json`) as object, {})).toBe(true);
  }
});
