import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { Workspace } from "../support/process.ts";

/** Nothing is sent there in these tests but by those that start a simulator. */
const NOWHERE = "http://127.0.0.1:9";

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(() => workspace.close());

describe("a bad configuration", () => {
  test("ends with 1, every error on stderr with its place, nothing on stdout", async () => {
    const { tiers: _left, ...config } = configuration(NOWHERE);
    workspace.write("gateway.yaml", { ...config, modls: {}, pipeline: ["auth", "qota"] });
    const { code, stdout, stderr } = await workspace.cli("serve");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^gateway: the configuration cannot serve\n/);
    expect(stderr).toMatch(
      /gateway\.yaml:\d+:\d+: error unknown-tier model 'route\/one', tier: no tier is named 'Free'/,
    );
    expect(stderr).toMatch(/gateway\.yaml:\d+:\d+: error .*'modls'/);
    expect(stderr).toMatch(/gateway\.yaml:\d+:\d+: error .*'qota'.*quota/);
    expect(existsSync(workspace.path("data")), "no store is made for it").toBe(false);
  });

  test.each([
    ["is missing", null, 3, /gateway\.yaml/],
    ["is empty", "", 1, /gateway\.yaml:1:1: error/],
    ["is no YAML", "version: 1\nmodels: {", 1, /gateway\.yaml:\d+:\d+: error/],
  ])("one that %s ends the start and names the file", async (_name, text, exit, message) => {
    if (text !== null) workspace.write("gateway.yaml", text);
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(exit);
    expect(stderr).toMatch(message);
    expect(stderr, "a report, not a stack").not.toMatch(/^\s+at /m);
  });

  test("a plugin whose setup fails is one, too", async () => {
    workspace.write("plugins/bad.schema.json", { type: "object" });
    workspace.write("plugins/bad.ts", plugin("bad", 'throw new Error("no such thing")'));
    workspace.write("gateway.yaml", withPlugin("./plugins/bad.ts"));
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(1);
    expect(stderr).toMatch(/gateway\.yaml:\d+:\d+: error plugin-setup .*bad.*no such thing/);
  });

  test("a plugin whose setup fails leaves the last good configuration serving", async () => {
    workspace.write("gateway.yaml", configuration("http://127.0.0.1:9"));
    await (await workspace.serve()).stop();
    workspace.write("plugins/bad.schema.json", { type: "object" });
    workspace.write("plugins/bad.ts", plugin("bad", 'throw new Error("no such thing")'));
    workspace.write("gateway.yaml", withPlugin("./plugins/bad.ts"));
    const gateway = await workspace.serve();
    const { last_rejection } = await gateway.config();
    expect(last_rejection?.diagnostics).toEqual([expect.objectContaining({ rule: "plugin-setup" })]);
    await gateway.stop();
  });
});

function plugin(name: string, setup: string): string {
  return `import { definePlugin } from "#kit";
export default definePlugin({
  name: "${name}", stage: "transform", schema: new URL("${name}.schema.json", import.meta.url),
  setup() { ${setup} },
});`;
}

function withPlugin(use: string) {
  const config = configuration(NOWHERE);
  return { ...config, pipeline: ["auth", "plan-check", "quota", "breaker", { use }, "stream-relay", "meter"] };
}

describe("the last good configuration", () => {
  test("serves when the file is bad, loudly, commands use it, and it gives way to a good one; --strict refuses it", async () => {
    const sim = await workspace.sim();
    workspace.write("gateway.yaml", configuration(sim.origin));
    const first = await workspace.serve();
    const user = await workspace.account();
    const good = await first.config();
    await first.stop();

    workspace.write("gateway.yaml", "version: 1\nmodels: {");
    const strict = await workspace.cli("serve", "--strict");
    expect(strict.code).toBe(1);
    expect(strict.stderr).toMatch(/gateway\.yaml:\d+:\d+: error/);

    const second = await workspace.serve();
    expect(second.child.stderr).toMatch(/"level":50.*cannot serve: serving the last good configuration instead/);
    const status = await second.config();
    expect(status).toMatchObject({ hash: good.hash, generation: 1 });
    expect(status.last_rejection?.diagnostics.length).toBeGreaterThan(0);
    expect((await second.chat(user.key, ask("x"))).status).toBe(200);

    const listed = await workspace.cli("keys", "list", "--user", user.id, "--json");
    expect(listed.code).toBe(0);
    expect(listed.stderr).toMatch(/gateway\.yaml does not pass: this command uses the last good configuration\n/);
    expect(listed.stderr).toMatch(/gateway\.yaml:\d+:\d+: error/);
    const [key] = JSON.parse(listed.stdout) as readonly { id: string }[];
    const revoked = await workspace.cli("keys", "revoke", key!.id, "--json");
    expect([revoked.code, revoked.stdout]).toEqual([0, '{"message":"API key revoked"}\n']);
    await poll(async () => (await second.chat(user.key, ask("x"))).status === 401);
    expect((await workspace.cli("credits", "add", user.id, "1")).code).toBe(0);

    const config = configuration(sim.origin);
    workspace.replace("gateway.yaml", { ...config, billing: { cost_multiplier: 2 } });
    await poll(async () => (await second.config()).generation === 2);
    expect((await second.config()).last_rejection).toBeNull();
  });

  test("keeps references, never what they stand for", async () => {
    workspace.env["PLANTED"] = "sk-planted-in-the-environment";
    workspace.write("secret.txt", "sk-planted-in-a-file\n");
    const config = configuration(NOWHERE);
    const alpha = { ...config.upstreams["alpha"]!, api_keys: ["${env:PLANTED}", "${file:secret.txt}"] };
    workspace.write("gateway.yaml", { ...config, upstreams: { alpha } });
    const gateway = await workspace.serve();
    await gateway.stop();
    const folder = workspace.path("data/last-good");
    const { copies } = JSON.parse(readFileSync(`${folder}/current.json`, "utf8")) as { copies: string };
    const kept = readFileSync(`${folder}/${copies}${workspace.path("gateway.yaml")}`, "utf8");
    expect(kept).toContain("${env:PLANTED}");
    expect(kept).not.toContain("sk-planted");
    rmSync(workspace.path("gateway.yaml"));
    const again = await workspace.serve();
    expect((await again.config()).last_rejection?.diagnostics.length, "a missing file counts as bad").toBeGreaterThan(
      0,
    );
  });
});

describe("what the machine does not give ends with 3", () => {
  test("a busy port, named; nothing else stays open", async () => {
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const address = busy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const config = configuration(NOWHERE);
    const local = { host: "127.0.0.1", port: 0 };
    workspace.write("gateway.yaml", { ...config, server: { ...config.server, listen: [local, { ...local, port }] } });
    const { code, stderr } = await workspace.cli("serve");
    busy.close();
    expect(code).toBe(3);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`);
  });

  test("a store that another process serves, named; the commands still work", async () => {
    workspace.write("gateway.yaml", configuration(NOWHERE));
    const gateway = await workspace.serve();
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(3);
    expect(stderr).toContain(`${workspace.path("data/gateway.db")}: another process is serving it`);
    expect((await gateway.ask("/readyz")).status, "the first is not disturbed").toBe(200);
    expect((await workspace.cli("users", "list")).code).toBe(0);
  });

  test.each([["serve"], ["users"]])("a damaged store, named and left as it is: %s", async (command) => {
    const text = "this is no database ".repeat(500);
    workspace.write("gateway.yaml", configuration(NOWHERE));
    workspace.write("data/gateway.db", text);
    const { code, stdout, stderr } = await workspace.cli(command, ...(command === "users" ? ["list"] : []));
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`cannot open the store ${workspace.path("data/gateway.db")}: it is not a database`);
    expect(readFileSync(workspace.path("data/gateway.db"), "utf8")).toBe(text);
  });

  test("a folder that cannot be made", async () => {
    workspace.write("gateway.yaml", configuration(NOWHERE));
    workspace.write("data", "a file where the folder should be");
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(3);
    expect(stderr).toContain(`cannot open the store ${workspace.path("data/gateway.db")}`);
  });
});

describe("a reference to nothing", () => {
  beforeEach(() => {
    const config = configuration(NOWHERE);
    const alpha = { ...config.upstreams["alpha"]!, api_keys: ["${env:NOT_SET_ANYWHERE}"] };
    workspace.write("gateway.yaml", { ...config, upstreams: { alpha } });
  });

  test("is an error in serve", async () => {
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(1);
    expect(stderr).toMatch(/gateway\.yaml:\d+:\d+: error .*NOT_SET_ANYWHERE/);
  });

  test("is a warning in dev and in check, an error with --strict", async () => {
    const dev = workspace.gateway("dev");
    await dev.printed("stdout", /Demo key/);
    expect(dev.stderr).toMatch(/WARN.*NOT_SET_ANYWHERE/);
    expect((await dev.stop()).code).toBe(0);
    const check = await workspace.cli("check");
    expect(check.code).toBe(0);
    expect(check.stdout).toMatch(/warning .*NOT_SET_ANYWHERE/);
    expect((await workspace.cli("check", "--strict")).code).toBe(1);
  });
});

describe("wrong use ends with 2", () => {
  test("in a process", async () => {
    const { code, stdout, stderr } = await workspace.cli("serve", "--nonsense");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).not.toBe("");
  });

  test.each([[["--nonsense"]], [["serve", "extra"]], [["sreve"]], [["serve", "--log-level", "loud"]], [["--config"]]])(
    "%j",
    async (args) => {
      const written = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        vi.spyOn(process[name], "write").mockImplementation((text) => {
          written[name] += String(text);
          return true;
        });
      }
      vi.spyOn(process, "argv", "get").mockReturnValue(["node", "gateway", ...args]);
      try {
        await runProgram();
        expect([process.exitCode, written.stdout]).toEqual([2, ""]);
        expect(written.stderr).not.toBe("");
      } finally {
        process.exitCode = undefined;
      }
    },
  );
});

test("the file comes from --config, else $GATEWAY_CONFIG, else ./gateway.yaml", async () => {
  const config = configuration(NOWHERE);
  workspace.write("elsewhere/a.yaml", { ...config, billing: { cost_multiplier: 2 } });
  workspace.write("elsewhere/b.yaml", config);
  workspace.env["GATEWAY_CONFIG"] = workspace.path("elsewhere/b.yaml");
  const byEnvironment = await workspace.serve();
  expect((await byEnvironment.config()).file).toBe(workspace.path("elsewhere/b.yaml"));
  expect(existsSync(workspace.path("elsewhere/data/gateway.db")), "relative to the file").toBe(true);
  await byEnvironment.stop();
  const byOption = await workspace.serve("--config", "elsewhere/a.yaml");
  expect((await byOption.config()).file).toBe(workspace.path("elsewhere/a.yaml"));
});
