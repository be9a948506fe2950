import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import standalone from "ajv/dist/standalone/index.js";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { createCompiler } from "../src/config/compile.ts";
import { absoluteBranch, isRecord, runtimeSchema } from "../src/config/schema.ts";

const FOLDER = new URL("./", import.meta.url);
/** Files that gateway.schema.json does not refer to; the built-in plugins' options come with it. */
const FILES = ["gateway", "plugins/redact-names", "api/chat"];
const BANNER = "// Generated from schemas/*.schema.json by `npm run types`. Do not edit.\n";

/** Every file that is made from the schemas, by its name here. */
export async function generate(): Promise<Readonly<Record<string, string>>> {
  return { "types.gen.ts": await types(), "validate.gen.js": validators() };
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
  return `${BANNER}\n${parts.join("\n")}`;
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
  const root = runtimeSchema(read("gateway.schema.json"));
  if (!isRecord(root) || typeof root.$id !== "string") throw new Error("gateway.schema.json has no $id");
  for (const name of readdirSync(new URL("plugins/", FOLDER))) ajv.addSchema(read(`plugins/${name}`) as object);
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

function unionBranches(schema: unknown): unknown[] {
  if (Array.isArray(schema)) return schema.flatMap(unionBranches);
  if (!isRecord(schema)) return [];
  const own = [schema.anyOf, schema.oneOf].flatMap((union) => (Array.isArray(union) ? union : []));
  return [...own, ...Object.values(schema).flatMap(unionBranches)];
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await generate())) writeFileSync(new URL(name, FOLDER), text);
}
