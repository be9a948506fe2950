import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { configuration } from "../e2e/support/configuration.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

let workspace: Workspace;
let plugins: string;

beforeEach(() => {
  workspace = new Workspace();
  plugins = join(workspace.folder, "plugins");
});

afterEach(() => workspace.close());

const OPTIONS = { instruction: "Answer in one sentence." };

describe("gateway plugin new", () => {
  test("writes a plugin that a configuration takes, and whose test passes as written", async () => {
    // As `npm install` of a folder does it.
    mkdirSync(join(workspace.folder, "node_modules"));
    symlinkSync(ROOT, join(workspace.folder, "node_modules/route-gateway"));
    const made = await workspace.cli("plugin", "new", "brief-answers");
    expect(made.code).toBe(0);
    expect(
      made.stdout
        .trim()
        .split("\n")
        .map((path) => path.split("/").at(-1)),
    ).toEqual(["brief-answers.ts", "brief-answers.schema.json", "brief-answers.test.ts"]);
    expect(made.stderr).toContain("node --test");
    expect(made.stderr).not.toContain("needs the package");

    const { pipeline, ...rest } = configuration("http://127.0.0.1:9");
    const step = { use: "./plugins/brief-answers.ts", options: OPTIONS };
    const at = pipeline.indexOf("stream-relay");
    workspace.write("gateway.yaml", JSON.stringify({ ...rest, pipeline: pipeline.toSpliced(at, 0, step as never) }));
    expect(await workspace.cli("check", "gateway.yaml")).toMatchObject({ code: 0 });

    const file = join(plugins, "brief-answers.test.ts");
    const run = spawnSync(process.execPath, ["--test", "--test-reporter=tap", file], {
      cwd: workspace.folder,
      encoding: "utf8",
      timeout: 120_000,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: "--conditions=route-gateway-source" },
    });
    expect(run.stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(run.stdout)?.[1])).toBeGreaterThan(15);
    expect(run.status).toBe(0);
  });

  test("writes nothing over what is there, and says where the kit is missing", async () => {
    const first = await workspace.cli("plugin", "new", "mine");
    expect(first.code).toBe(0);
    expect(first.stderr).toContain("needs the package route-gateway");
    for (const file of readdirSync(plugins)) writeFileSync(join(plugins, file), "my own");
    const { code, stderr } = await workspace.cli("plugin", "new", "mine");
    expect(code).toBe(3);
    expect(stderr).toContain("exists: nothing was written");
    for (const file of readdirSync(plugins)) expect(readFileSync(join(plugins, file), "utf8")).toBe("my own");
  });

  test.each(["", "Shout", "a_b", "-a", "a-", "../up", "a".repeat(65), "a/b", "a.b", "quota"])(
    "%j is no name for one",
    async (name) => {
      expect((await workspace.cli("plugin", "new", "--", name)).code).toBe(2);
      expect(existsSync(plugins)).toBe(false);
    },
  );
});
