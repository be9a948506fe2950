import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { isRecord, runtimeSchema } from "../src/config/schema.ts";

const FOLDER = new URL("./", import.meta.url);
/** Files that gateway.schema.json does not refer to; the built-in plugins' options come with it. */
const FILES = ["gateway", "plugins/redact-names", "api/chat", "config-test"];
const BANNER = "// Generated from schemas/*.schema.json by `npm run types`. Do not edit.\n";

/** The text of types.gen.ts. */
export async function generate(): Promise<string> {
  const parts: string[] = [];
  for (const name of FILES) {
    const text = await readFile(new URL(`${name}.schema.json`, FOLDER), "utf8");
    const schema = withoutSiblings(runtimeSchema(JSON.parse(text))) as JSONSchema;
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

if (import.meta.main) await writeFile(new URL("types.gen.ts", FOLDER), await generate());
