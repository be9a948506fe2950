import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
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

const FILES = ["brief-answers.ts", "brief-answers.schema.json", "brief-answers.test.ts"];
const OPTIONS = { instruction: "Answer in one sentence." };

/** The command that runs the new plugin's test. */
const printed = (stderr: string) => /^run its test: +(.+)$/m.exec(stderr)?.[1] ?? "";

describe("gateway plugin new", () => {
  test("writes a plugin that a configuration takes, and prints a command for its test that works as printed", async () => {
    // As `npm install` of a checkout does it, and of the package `node`.
    mkdirSync(join(workspace.folder, "node_modules/.bin"), { recursive: true });
    symlinkSync(ROOT, join(workspace.folder, "node_modules/route-gateway"));
    symlinkSync(process.execPath, join(workspace.folder, "node_modules/.bin/node"));
    const made = await workspace.cli("plugin", "new", "brief-answers");
    expect(made.code).toBe(0);
    expect(made.stdout.trim().split("\n")).toEqual(FILES.map((file) => `plugins/${file}`));
    expect(made.stderr).not.toContain("install the package");

    const { pipeline, ...rest } = configuration("http://127.0.0.1:9");
    const step = { use: "./plugins/brief-answers.ts", options: OPTIONS };
    const at = pipeline.indexOf("stream-relay");
    workspace.write("gateway.yaml", JSON.stringify({ ...rest, pipeline: pipeline.toSpliced(at, 0, step as never) }));
    expect(await workspace.cli("check", "gateway.yaml")).toMatchObject({ code: 0 });

    const command = printed(made.stderr);
    expect(command).toBe("npx node --test --conditions=route-gateway-source plugins/brief-answers.test.ts");
    const run = spawnSync("sh", ["-c", command], {
      cwd: workspace.folder,
      encoding: "utf8",
      timeout: 120_000,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(run.stdout).toMatch(/^\S+ fail 0$/m);
    expect(Number(/^\S+ pass (\d+)$/m.exec(run.stdout)?.[1])).toBeGreaterThan(15);
    expect(run.status).toBe(0);
  });

  test("names the Node that runs it where a shell's own is another", async () => {
    const own = join(workspace.folder, "bin");
    mkdirSync(own);
    writeFileSync(join(own, "node"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const commands: string[] = [];
    for (const [name, path] of [
      ["first", dirname(process.execPath)],
      ["second", `${own}:${dirname(process.execPath)}`],
    ] as const) {
      workspace.env["PATH"] = path;
      const { code, stderr } = await workspace.cli("plugin", "new", name, "--config", "in it/gateway.yaml");
      expect(code).toBe(0);
      commands.push(printed(stderr));
    }
    expect(commands).toEqual([
      "node --test --conditions=route-gateway-source 'in it/plugins/first.test.ts'",
      `${process.execPath} --test --conditions=route-gateway-source 'in it/plugins/second.test.ts'`,
    ]);
  });

  test.each([
    ['{ "type": "commonjs" }', true],
    ["{}", true],
    ['{ "type": "module" }', false],
  ])("below a package.json that is %s, plugins are ES modules", async (manifest, isNeeded) => {
    workspace.write("package.json", manifest);
    const { code, stderr } = await workspace.cli("plugin", "new", "mine");
    expect([code, stderr.includes("plugins/package.json")]).toEqual([0, isNeeded]);
    const path = join(plugins, "package.json");
    expect(existsSync(path) ? readFileSync(path, "utf8") : null).toBe(isNeeded ? '{ "type": "module" }\n' : null);
  });

  test("writes nothing over what is there, and says how to install what the test needs", async () => {
    const first = await workspace.cli("plugin", "new", "mine");
    expect(first.code).toBe(0);
    expect(first.stderr).toContain(`install the package:  npm install ${ROOT.replace(/\/$/, "")}\n`);
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
