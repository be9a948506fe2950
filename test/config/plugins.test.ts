import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { contractBreach } from "../../src/config/plugin-fault.ts";
import { options, scratch, SMALL } from "./support.ts";

let folder: string;

beforeEach(async () => {
  folder = await scratch();
  await mkdir(join(folder, "plugins/lib"), { recursive: true });
  const pipeline =
    "[auth, plan-check, quota, breaker, { use: ./plugins/own.ts, options: { words: [a] } }, stream-relay, meter]";
  await write("gateway.yaml", SMALL.replace(/pipeline: .*/, `pipeline: ${pipeline}`));
  await write(
    "plugins/own.schema.json",
    '{ "type": "object", "properties": { "words": { "type": "array", "items": { "type": "string" } } } }',
  );
  await write("plugins/lib/words.ts", 'export const stage: string = "transform";\n');
  await write("plugins/own.ts", plugin("own"));
});

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

function plugin(name: string): string {
  return `import { definePlugin, GatewayError } from "#kit";
import type { TransformOptions } from "#schema";
import { stage } from "./lib/words.ts";

const options: TransformOptions = {};
export default {
  ...definePlugin({ name: "${name}", stage: "transform", schema: new URL("./own.schema.json", import.meta.url), setup: () => ({ options }) }),
  stage,
  kit: typeof GatewayError,
};
`;
}

const load = (): Promise<LoadResult> => loadConfig(options(join(folder, "gateway.yaml")));

async function loadedPlugin(): Promise<unknown> {
  const result = await load();
  expect(result.diagnostics).toEqual([]);
  return result.steps[4]?.plugin;
}

test("a plugin outside any package imports #kit, #schema and its own files", async () => {
  expect(await loadedPlugin()).toMatchObject({ name: "own", stage: "transform", kit: "function" });
  const { files, sources } = await load();
  const own = ["gateway.yaml", "plugins/own.ts", "plugins/lib/words.ts", "plugins/own.schema.json", ".env"].map(
    (name) => join(folder, name),
  );
  expect(files.map(({ path }) => path)).toEqual(own);
  expect(sources.map(({ kind }) => kind)).toEqual(["config", "plugin", "plugin", "plugin"]);
});

test.for([
  ["route-gateway", "GatewayError, startGateway"],
  ["route-gateway/plugin", "GatewayError, definePlugin"],
  ["route-gateway/testing", "openPlugin, conformance"],
])("a plugin outside any package imports %s of the package that runs", async ([specifier, names]) => {
  const source = `import { GatewayError as own } from "#kit";
import * as named from "${specifier}";
import { ${names} } from "${specifier}";
import { stage } from "./lib/words.ts";
export default { name: "own", stage, schema: new URL("./own.schema.json", import.meta.url), setup: () => ({}), isSame: named.GatewayError === own };
void [${names}];
`;
  await write("plugins/own.ts", source);
  // The same name elsewhere is not what a plugin gets.
  await mkdir(join(folder, "node_modules/route-gateway"), { recursive: true });
  await write("node_modules/route-gateway/package.json", '{ "name": "route-gateway", "exports": {} }');
  expect(await loadedPlugin()).toMatchObject({ name: "own", isSame: true });
});

test("a plugin is an ES module, whatever a package.json above it says", async () => {
  await write("package.json", '{ "type": "commonjs" }');
  expect(await loadedPlugin()).toMatchObject({ name: "own", kit: "function" });
});

test("a module that the package does not have is a finding that names those it has", async () => {
  await write(
    "plugins/own.ts",
    'import { definePlugin } from "route-gateway/kit";\nexport default definePlugin({});\n',
  );
  const { diagnostics } = await load();
  expect(diagnostics.map(({ rule, message }) => [rule, message])).toEqual([
    ["plugin-load", expect.stringContaining("import from route-gateway, route-gateway/plugin, route-gateway/testing")],
  ]);
});

test("a changed file is loaded anew, also one that only the plugin imports", async () => {
  const first = await load();
  await write("plugins/own.ts", plugin("renamed"));
  expect(await loadedPlugin()).toMatchObject({ name: "renamed", stage: "transform" });
  await write("plugins/lib/words.ts", 'export const stage: string = "guard";\n');
  const moved = await load();
  expect(moved.diagnostics.map(({ rule }) => rule)).toEqual([]);
  expect(moved.steps[4]?.plugin.stage).toBe("guard");
  await write("plugins/own.schema.json", '{ "type": "object", "properties": { "words": { "type": "string" } } }');
  const refused = await load();
  expect(refused.diagnostics.map(({ pointer, rule }) => [pointer, rule])).toEqual([
    ["/pipeline/4/options/words", "wrong-type"],
  ]);
  expect(new Set([first.hash, moved.hash, refused.hash]).size).toBe(3);
});

test("an unchanged file is the same module", async () => {
  expect(await loadedPlugin()).toBe(await loadedPlugin());
});

test.for(["plugins/own.ts", "plugins/lib/words.ts"])("%s that everyone may write is refused", async (name) => {
  await chmod(join(folder, name), 0o666);
  const { ok, diagnostics } = await load();
  expect(ok).toBe(false);
  expect(diagnostics.map(({ rule, pointer, message }) => [rule, pointer, message.includes(name)])).toEqual([
    ["plugin-writable", "/pipeline/4/use", true],
  ]);
});

test.for<[string, string, string]>([
  ["a rejection that is no error", 'await Promise.reject("no");\nexport default {};', "plugin-load"],
  ["an empty file", "", "plugin-contract"],
  ["a default export that is no plugin", "export default 5;", "plugin-contract"],
])("%s is a finding at the step", async ([, text, rule]) => {
  await write("plugins/own.ts", text);
  const { ok, diagnostics } = await load();
  expect(ok).toBe(false);
  expect(diagnostics.map((found) => [found.rule, found.pointer, found.line])).toEqual([[rule, "/pipeline/4/use", 13]]);
});

test("the contract", () => {
  const good = { name: "a-b", stage: "guard", schema: new URL("file:///a.json"), setup: () => ({}), needs: ["meter"] };
  expect(contractBreach(good)).toBeNull();
  expect(contractBreach(null)).toMatch("default export");
  expect(contractBreach({ ...good, name: "A B" })).toMatch("name");
  expect(contractBreach({ ...good, stage: "later" })).toMatch("stage");
  expect(contractBreach({ ...good, schema: "./a.json" })).toMatch("schema");
  expect(contractBreach({ ...good, schema: new URL("https://example.com/a.json") })).toMatch("schema");
  expect(contractBreach({ ...good, setup: {} })).toMatch("setup");
  expect(contractBreach({ ...good, needs: "meter" })).toMatch("needs");
});

const HEAD = 'import { definePlugin } from "#kit";\n';

test.for<[what: string, file: string, files: Readonly<Record<string, string>>, place: string]>([
  [
    "a syntax error",
    "own.ts",
    { "own.ts": `${HEAD}export default definePlugin({\n  name: "own"\n  stage: 1,\n});\n` },
    "own.ts:4:3",
  ],
  ["one in a line that goes on", "own.ts", { "own.ts": `${HEAD}const a = () => { return (1 };\n` }, "own.ts:2:29"],
  ["syntax that is not only types", "own.ts", { "own.ts": `${HEAD}\nenum Way { In }\n` }, "own.ts:3:1"],
  [
    "an error in a file that it imports",
    "own.ts",
    { "own.ts": `import "./lib/words.ts";\n`, "lib/words.ts": "\n\nconst = 1;\n" },
    "lib/words.ts:3:7",
  ],
  [
    "an import of a file that is not there",
    "own.ts",
    { "own.ts": `\nimport { a } from "./lib/wrods.ts";\nexport default a;\n` },
    "own.ts:2:19",
  ],
  [
    "an import of a package that is not there",
    "own.ts",
    { "own.ts": `\nimport a from "no-such-package";\nexport default a;\n` },
    "own.ts:2:15",
  ],
  [
    "an import of a name that is not there",
    "own.ts",
    { "own.ts": `\nimport { a } from "./lib/words.ts";\nexport default a;\n` },
    "own.ts:2:10",
  ],
  ["a throw", "own.ts", { "own.ts": `\n\nthrow new Error("no");\n` }, "own.ts:3:7"],
  ["a syntax error of JavaScript", "own.js", { "own.js": "\n\nexport default { a: ;\n" }, "own.js:1:1"],
])("%s is told at the plugin's file and line", async ([, file, files, place]) => {
  for (const [name, text] of Object.entries(files)) await write(`plugins/${name}`, text);
  await write("gateway.yaml", SMALL.replace("stream-relay", `{ use: ./plugins/${file} }, stream-relay`));
  const { ok, diagnostics } = await load();
  expect(ok).toBe(false);
  expect(diagnostics.map(({ file, line, column, rule }) => [`${file}:${line}:${column}`, rule])).toEqual([
    [join(folder, "plugins", place), "plugin-load"],
  ]);
});

test("a file that Node will not place is told at the step", async () => {
  await write("plugins/own.ts", "export {};\nlet a = 1;\nlet a = 2;\n");
  const { diagnostics } = await load();
  expect(diagnostics).toMatchObject([{ file: join(folder, "gateway.yaml"), rule: "plugin-load" }]);
});
