import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { builtins } from "../../plugins/index.ts";
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

test("every plugin of the folder has a test", () => {
  const tested = names("*.test.ts", ".");
  for (const plugin of names("*.ts", "../../plugins").filter((name) => name !== "index"))
    expect(tested).toContain(plugin);
});
