import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RULES } from "../src/config/rules.ts";
import { _, Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { bundleConfigTest, bundleGateway } from "../src/config/bundle.ts";
import { createCompiler } from "../src/config/compile.ts";
import { absoluteBranch, isRecord, runtimeSchema } from "../src/config/schema.ts";
import { isLonger } from "../src/kit/index.ts";

const FOLDER = new URL("./", import.meta.url);
/**
 * Files that gateway.source.schema.json does not refer to, nor the admin API's; the built-in plugins' options come with the
 * first, the decision log with the second.
 */
const FILES = ["gateway.source", "config-test.source", "plugins/redact-names", "api/chat"];
const BANNER = "// Generated from schemas/*.schema.json by `npm run types`. Do not edit.\n";

/** Every file that is made from the schemas, by its name here. */
export async function generate(): Promise<Readonly<Record<string, string>>> {
  return {
    "types.gen.ts": await types(),
    "api.gen.ts": await publicTypes(),
    "validate.gen.js": validators(),
    "bodies.gen.js": bodies(),
    "admin.gen.js": admin(),
    "admin-schemas.gen.js": `${BANNER}export const schemas = ${JSON.stringify(withChoices(adminSchemas("#/components/schemas/")), null, 2)};\n`,
    "gateway.schema.json": pretty(bundleGateway(gatewaySource(), { read, local: new Map() }, "editor")),
    "config-test.schema.json": pretty(bundleConfigTest(recordOf("config-test.source.schema.json"))),
    "README.md": readme(),
  };
}

function gatewaySource(): Readonly<Record<string, unknown>> {
  return recordOf("gateway.source.schema.json");
}

function recordOf(name: string): Readonly<Record<string, unknown>> {
  const schema = read(name);
  if (!isRecord(schema)) throw new Error(`${name} is not a schema`);
  return schema;
}

function pretty(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

async function types(): Promise<string> {
  const parts: string[] = [];
  for (const name of FILES) {
    const schema = withoutSiblings(runtimeSchema(read(`${name}.schema.json`))) as JSONSchema;
    parts.push(
      await compile(schema, name, {
        bannerComment: "",
        cwd: fileURLToPath(FOLDER),
        ignoreMinAndMaxItems: true,
      }),
    );
  }
  parts.push(await adminTypes());
  const text = parts.join("\n");
  const names = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name);
  // Two interfaces of one name would become one without a word.
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`several schemas are titled ${[...new Set(twice)].join(", ")}`);
  return `${BANNER}\n${text}`;
}

/** A description beside a `$ref` would make the generator copy the whole type under a new name. */
function withoutSiblings(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSiblings);
  if (!isRecord(schema)) return schema;
  if (typeof schema.$ref === "string") return { $ref: schema.$ref };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutSiblings(value)]));
}

/**
 * The validator of gateway.yaml as a module, and those of every branch of its unions by the branch as JSON: what explains
 * a mistake validates against the one branch that was meant.
 */
function validators(): string {
  const ajv = createCompiler({ source: true, esm: true, lines: true });
  const root = runtimeSchema(gatewaySource());
  if (!isRecord(root) || typeof root.$id !== "string") throw new Error("gateway.source.schema.json has no $id");
  for (const name of readdirSync(new URL("plugins/", FOLDER)))
    ajv.addSchema(runtimeSchema(read(`plugins/${name}`)) as object);
  ajv.addSchema(root);
  const branches = [
    ...new Set(unionBranches(root).map((one) => JSON.stringify(absoluteBranch(one, String(root.$id))))),
  ];
  const names: Record<string, string> = { validate: root.$id };
  for (const [index, branch] of branches.entries()) {
    names[`branch${index}`] = `branch:${index}`;
    ajv.addSchema(JSON.parse(branch) as object, `branch:${index}`);
  }
  // The compiler calls `require`, which a module does not have.
  const code = `import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\n${standalone.default(ajv, names).replace('"use strict";', "")}`;
  const table = branches.map((branch, index) => `  ${JSON.stringify(branch)}: branch${index},`);
  return `${BANNER}${code}\nexport const branches = {\n${table.join("\n")}\n};\n`;
}

/** Bodies of requests and the files of their schemas. */
const BODIES = {
  chat: "chat",
  messages: "messages",
  count_tokens: "count-tokens",
  responses: "responses-create",
  embeddings: "embeddings",
  rerank: "rerank",
  speech: "speech",
  transcription: "transcription",
  image: "image",
} as const;

/** The validators of request bodies as a module, each with the fields that its schema names. */
function bodies(): string {
  const ajv = new Ajv({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    code: { source: true, esm: true, lines: true },
  });
  lengthInCodePoints(ajv);
  const fields: Record<string, readonly string[]> = {};
  for (const [name, file] of Object.entries(BODIES)) {
    const schema = read(`api/${file}.schema.json`);
    if (!isRecord(schema) || !isRecord(schema.properties)) throw new Error(`${file} has no properties`);
    ajv.addSchema(schema, `body:${name}`);
    fields[name] = Object.keys(schema.properties);
  }
  const names = Object.fromEntries(Object.keys(BODIES).map((name) => [name, `body:${name}`]));
  const head = 'import { isLonger } from "../src/kit/texts.ts";\nimport { createRequire } from "node:module";\n';
  const code = standalone
    .default(ajv, names)
    .replace('"use strict";', "const require = createRequire(import.meta.url);");
  return `${BANNER}${head}${code}\nexport const validators = { ${Object.keys(BODIES).join(", ")} };\nexport const fields = ${JSON.stringify(fields)};\n`;
}

type Schemas = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The schemas of the admin API by their titles, each with references to the others by title, in `place`. */
function adminSchemas(place = "#/definitions/"): Schemas {
  const files = readdirSync(new URL("admin/", FOLDER)).filter((name) => name.endsWith(".schema.json"));
  // An answer has a line of the decision log in it.
  const definitions = ["decision.schema.json", ...files.toSorted().map((file) => `admin/${file}`)].flatMap(
    definitionsOf,
  );
  const titles = new Map(definitions.map(({ at, title }) => [at, title]));
  if (new Set(titles.values()).size < definitions.length) throw new Error("two schemas of admin/ have one title");
  const relinked = (value: unknown, at: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => relinked(item, at));
    if (!isRecord(value)) return value;
    if (typeof value.$ref !== "string") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, relinked(inner, at)]));
    }
    const title = titles.get(new URL(value.$ref, at).href);
    if (title === undefined) throw new Error(`${at}: nothing is at ${value.$ref}`);
    return { ...value, $ref: place + title };
  };
  return Object.fromEntries(
    definitions.map(({ title, at, schema }) => [title, relinked(schema, at) as Record<string, unknown>]),
  );
}

/** The schemas of a file, each with its address: its definitions, and the file itself where it is a schema of something. */
function definitionsOf(file: string): { title: string; at: string; schema: Readonly<Record<string, unknown>> }[] {
  const whole = read(file);
  if (!isRecord(whole) || !isRecord(whole.definitions)) throw new Error(`${file} has no definitions`);
  const { $schema: _schema, $id: _id, definitions, ...itself } = whole;
  const inner = Object.entries(definitions).map(([name, schema]) => [`#/definitions/${name}`, schema] as const);
  const all = itself.type === undefined ? inner : [["", itself] as const, ...inner];
  return all.map(([place, schema]) => {
    const at = new URL(file + place, FOLDER).href;
    if (!isRecord(schema) || typeof schema.title !== "string") throw new Error(`${at} has no title`);
    return { title: schema.title, at, schema };
  });
}

/**
 * Validators go by a condition: a mistake is named in the schema that was meant. Types and clients know no conditions:
 * for them it is a choice of what it leads to.
 */
function withChoices(schemas: Schemas): Schemas {
  return Object.fromEntries(
    Object.entries(schemas).map(([title, schema]) => {
      const { if: condition, then, else: other, ...rest } = schema;
      return [title, condition === undefined ? schema : { ...rest, oneOf: [other, then] }];
    }),
  );
}

/** What comes in: parameters and bodies, by the ends of their titles. */
function incoming(): readonly string[] {
  return Object.keys(adminSchemas()).filter((title) => /(?:Query|Request)$/.test(title));
}

/** A type for each schema, and the types of what comes in by title: rows of the table name the one they take. */
async function adminTypes(): Promise<string> {
  const schema = { title: "AdminSchemas", type: "object", additionalProperties: false, required: incoming() };
  const properties = Object.fromEntries(incoming().map((title) => [title, { $ref: `#/definitions/${title}` }]));
  const whole = withoutSiblings({ ...schema, properties, definitions: withChoices(adminSchemas()) }) as JSONSchema;
  const text = await compile(whole, "AdminSchemas", {
    bannerComment: "",
    cwd: fileURLToPath(FOLDER),
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  });
  return withoutReferrers(text);
}

/** What the public API takes of accounts and answers with, for who calls it: the pages. */
async function publicTypes(): Promise<string> {
  const definitions = ["accounts", "responses"].flatMap((name) => {
    const schema = read(`api/${name}.schema.json`);
    if (!isRecord(schema) || !isRecord(schema.definitions)) throw new Error(`${name} has no definitions`);
    return Object.entries(schema.definitions);
  });
  const twice = definitions.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`several schemas are called ${twice.join(", ")}`);
  const whole = withoutSiblings({ title: "PublicApi", type: "object", definitions: Object.fromEntries(definitions) });
  const text = await compile(whole as JSONSchema, "PublicApi", {
    bannerComment: "",
    cwd: fileURLToPath(FOLDER),
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  });
  return `${BANNER}\n${withoutReferrers(text)}`;
}

/** Who else has a type changes with every schema, and says nothing of it. */
function withoutReferrers(text: string): string {
  return text.replaceAll(/(?: \*\n)? \* This interface was referenced by .*\n \* via the .*\n/g, "");
}

/** The validators of what comes in over the admin API as a module, and the types of their parameters. */
function admin(): string {
  const ajv = new Ajv({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    // Of a schema that is written in place, a mistake would be told without the condition that led there.
    inlineRefs: false,
    code: { source: true, esm: true, lines: true },
  });
  lengthInCodePoints(ajv);
  // For readers alone.
  ajv.addFormat("date-time", true);
  const schemas = adminSchemas();
  ajv.addSchema({ definitions: schemas }, "admin");
  const titles = incoming();
  const names = Object.fromEntries(titles.map((title) => [title, `admin#/definitions/${title}`]));
  const parameters = Object.fromEntries(
    titles
      .filter((title) => title.endsWith("Query"))
      .map((title) => [title, Object.fromEntries(parametersOf(schemas, title))]),
  );
  const head = 'import { isLonger } from "../src/kit/texts.ts";\nimport { createRequire } from "node:module";\n';
  const code = standalone
    .default(ajv, names)
    .replace('"use strict";', "const require = createRequire(import.meta.url);");
  return `${BANNER}${head}${code}\nexport const validators = { ${titles.join(", ")} };\nexport const parameters = ${JSON.stringify(parameters)};\n`;
}

/** Names and types; references are to definitions. */
function parametersOf(schemas: Schemas, title: string): [name: string, type: string][] {
  const { properties } = schemas[title] ?? {};
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) => {
    const own = isRecord(property) ? property : {};
    const target = typeof own.$ref === "string" ? schemas[own.$ref.replace("#/definitions/", "")] : own;
    return [name, typeof target?.type === "string" ? target.type : "string"];
  });
}

/**
 * Replaces `minLength` and `maxLength` by ones that look at no more of a text than the limit: ajv's own walk through all
 * of it, 3 ms a megabyte, before they refuse it.
 */
export function lengthInCodePoints(ajv: Ajv): void {
  for (const keyword of ["minLength", "maxLength"]) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: "string",
      schemaType: "number",
      code(context) {
        const { gen, data, schema } = context;
        const longer = gen.scopeValue("func", { ref: isLonger, code: _`isLonger` });
        const limit = Number(schema);
        context.fail(keyword === "maxLength" ? _`${longer}(${data}, ${limit})` : _`!${longer}(${data}, ${limit - 1})`);
      },
    });
  }
}

function unionBranches(schema: unknown): unknown[] {
  if (Array.isArray(schema)) return schema.flatMap(unionBranches);
  if (!isRecord(schema)) return [];
  const own = [schema.anyOf, schema.oneOf].flatMap((union) => (Array.isArray(union) ? union : []));
  return [...own, ...Object.values(schema).flatMap(unionBranches)];
}

/** Bad configurations of the tests: each is run, and ends with what must be found. */
const CASES = new URL("../test/config/cases/", FOLDER);
const EXPECTED = "# expected:\n";
/** `LINE:COLUMN SEVERITY RULE POINTER MESSAGE`, of the file itself or after the path of another one. */
const FINDING = /^# {2}(?:(\S+):)?(\d+):(\d+) (?:error|warning) (\S+) \S+ (.*)$/gm;

/** README.md of this folder: every rule with what it is about and a bad example. */
function readme(): string {
  const examples = badExamples();
  const sections = Object.entries(RULES).map(([id, { severity, title, paragraph }]) => {
    const example = examples.get(id) ?? [
      "",
      "Its example is made by the tests: it cannot stand in a file of its own.",
      "",
    ];
    return [`### ${id}`, "", `${capitalized(severity)}. ${title}`, "", paragraph, ...example, ""].join("\n");
  });
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `<!-- Generated from rules.json and test/config/cases by \`npm run types\`. Do not edit. -->

# Schemas and rules

\`gateway.source.schema.json\` is the format of gateway.yaml, \`config-test.source.schema.json\` that of its tests.
\`plugins/\` has the options of plugins, \`api/\` the bodies of the API, \`admin/\` parameters, bodies and answers of the admin
API. \`npm run types\` makes these files from them and from \`rules.json\`:

- \`gateway.schema.json\` and \`config-test.schema.json\`, for editors: complete in themselves, with the default of every key;
- \`types.gen.ts\`, \`validate.gen.js\`, \`bodies.gen.js\`, \`admin.gen.js\`, \`admin-schemas.gen.js\`, and this file.

\`gateway schema\` prints the format as one schema with the options of the plugins that a configuration uses.

A key of a source has a description for an operator: what it does, the unit of a number, and what happens without it. Its
\`default\` is data: the bundle tells it in the description. \`enumDescriptions\` say what each word means.

## Rules

\`gateway check\` names a rule with each finding. The ids do not change: CI configurations and dashboards may refer to them.
Each example is a file of test/config/cases, which the tests run; the line that is shown is where the finding points.
`;

/** By rule, its line of the first case that has it: the case of that name, if there is one. */
function badExamples(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const owned = new Set<string>();
  const names = readdirSync(CASES).filter((name) => name.endsWith(".yaml"));
  for (const name of names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const [text = "", expected = ""] = readFileSync(new URL(name, CASES), "utf8").split(EXPECTED);
    for (const [, file, line, column, rule = "", message = ""] of expected.matchAll(FINDING)) {
      // Lines of a .env are never shown, and what cannot be read cannot be.
      if (rule.startsWith("env-")) continue;
      const isOwn = name.startsWith(rule);
      if (found.has(rule) && !isOwn) continue;
      if (isOwn && owned.has(rule)) continue;
      if (isOwn) owned.add(rule);
      found.set(
        rule,
        excerpt(
          file === undefined ? text : readFileSync(new URL(file, CASES), "utf8"),
          Number(line),
          Number(column),
          message,
        ),
      );
    }
  }
  return found;
}

function excerpt(text: string, line: number, column: number, message: string): string[] {
  const written = visible(text.split("\n")[line - 1] ?? "");
  return ["", "```yaml", written, `#${" ".repeat(Math.max(0, column - 2))}^ ${message}`, "```"];
}

function visible(line: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return line.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "�");
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await generate())) writeFileSync(new URL(name, FOLDER), text);
}
