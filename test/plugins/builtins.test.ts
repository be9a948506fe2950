import { existsSync, globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { builtins } from "../../plugins/index.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { STAGES } from "../../src/kit/index.ts";

describe.each(Object.entries(builtins))("%s", (name, plugin) => {
  test("is named as it is used, stands in a stage and has its schema", () => {
    expect(plugin.name).toBe(name);
    expect(STAGES).toContain(plugin.stage);
    expect(existsSync(plugin.schema)).toBe(true);
    expect(basename(plugin.schema.pathname)).toBe(`${name}.schema.json`);
    expect(JSON.parse(readFileSync(plugin.schema, "utf8"))).toMatchObject({
      type: "object",
      additionalProperties: false,
    });
  });

  test("needs only plugins that exist", () => {
    for (const needed of plugin.needs ?? []) expect(builtins[needed]).toBeDefined();
  });
});

function names(pattern: string, folder: string): readonly string[] {
  return globSync(pattern, { cwd: new URL(folder, import.meta.url).pathname }).map((file) => file.split(".")[0]!);
}

test("the example of plugins/README.md stands in the shipped configuration", async () => {
  const file = fileURLToPath(new URL("../../gateway.yaml", import.meta.url));
  const readme = readFileSync(new URL("../../plugins/README.md", import.meta.url), "utf8");
  const example = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!).at(-1)!;
  const shipped = readFileSync(file, "utf8");
  const changed = shipped.replace(/^pipeline:\n(?:[ -].*\n|\n)+/m, `${example}\n`);
  expect(changed).not.toBe(shipped);
  const result = await checkConfig({
    file,
    env: {},
    read: async (path) => (path === file ? changed : readFile(path, "utf8")),
  });
  expect(result.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect("steps" in result && result.steps.map(({ settings }) => settings.use)).toEqual(
    expect.arrayContaining(["header-tags", "budget", "prompt-prefix", "guard-words", "pii-mask", "answer-cache"]),
  );
});

test("every plugin of the folder has a test", () => {
  const tested = names("*.test.ts", ".");
  for (const plugin of names("*.ts", "../../plugins").filter((name) => name !== "index"))
    expect(tested).toContain(plugin);
});
