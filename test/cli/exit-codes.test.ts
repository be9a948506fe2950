import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { mkdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Command } from "commander";
import { IMPORTED } from "../../src/cli/offline.ts";
import { createProgram, runCommand } from "../../src/cli/program.ts";
import { KINDS } from "../../src/import/run.ts";
import { parseKeyBudget, parsePluginName, parseRollbackTarget, parseThreshold } from "../../src/cli/options.ts";
import { SMALL } from "../config/support.ts";
import { Workspace } from "../e2e/support/process.ts";

let workspace: Workspace;
let busy: Server;
let port: number;

beforeAll(async () => {
  busy = createServer((_req, res) => res.writeHead(Number(_req.headers["x-answer"] ?? 404)).end());
  await new Promise<void>((done) => busy.listen(0, "127.0.0.1", done));
  ({ port } = busy.address() as AddressInfo);
});
afterAll(() => new Promise((done) => busy.close(done)));

beforeEach(() => {
  workspace = new Workspace();
  workspace.write("gateway.yaml", `${SMALL}store: { url: "memory:" }\n`);
  mkdirSync(workspace.path("folder"));
  vi.stubEnv("GATEWAY_ADMIN_TOKEN", "");
});
afterEach(() => workspace.close());

/** `gateway ARGS…` in this process, in the workspace. */
async function gateway(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: "", stderr: "" };
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const writes = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    await runCommand(args);
    return { code: Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const write of writes) write.mockRestore();
    process.exitCode = undefined;
  }
}

/** The same with the workspace's configuration. */
const cli = (...args: readonly string[]) => gateway(...args, "--config", workspace.path("gateway.yaml"));

/** Every command that reads the configuration, with arguments that are right. */
const COMMANDS = [
  "dev",
  "serve",
  "serve --strict",
  "check",
  "rollback",
  "schema",
  "connect claude",
  "test",
  "explain route/one --tier Free",
  "replay gateway.yaml",
  "users list",
  "users add --email a@example.com",
  "users set a --tier Free",
  "users delete a --yes",
  "users disable a",
  "users enable a",
  "keys add --user a --name b",
  "keys list --user a",
  "keys revoke k",
  "keys roll k",
  "keys set k --name b",
  "credits add a 1",
  "token a",
  "sessions end a",
  "audit verify",
];
/** Commands that need no configuration to be read, and say so by what they do. */
const OTHERS = ["diff", "init", "plugin new", "sim", "import"];

function leaves(command: Command, path = ""): string[] {
  const name = path === "" ? "" : path;
  if (command.commands.length === 0) return [name.trim()];
  return command.commands.flatMap((one) => leaves(one, `${name} ${one.name()}`));
}

test("the list of commands is whole", () => {
  const known = [...COMMANDS, ...OTHERS];
  const missing = leaves(createProgram()).filter((name) => !known.some((one) => `${one} `.startsWith(`${name} `)));
  expect(missing).toEqual([]);
});

describe("a configuration that cannot be read ends with 3 and says how to name one", () => {
  test.for(COMMANDS.flatMap((command) => ["nowhere.yaml", "folder"].map((file) => [command, file] as const)))(
    "%s --config %s",
    async ([command, file]) => {
      const path = workspace.path(file);
      const { code, stdout, stderr } = await gateway(...command.split(" "), "--config", path);
      expect({ code, stdout, stderr }).toMatchObject({ code: 3 });
      expect(stdout + stderr).toMatch(/does not exist|is a folder/);
    },
  );

  test.for(["diff nowhere.yaml gateway.yaml", "diff gateway.yaml nowhere.yaml", "test nowhere.test.yaml"])(
    "%s",
    async (command) => {
      const args = command.split(" ").map((arg) => (arg.includes(".yaml") ? workspace.path(arg) : arg));
      expect(await gateway(...args)).toMatchObject({ code: 3 });
    },
  );

  test("a configuration that can be read and is wrong ends with 1", async () => {
    workspace.write("gateway.yaml", SMALL.replace("tier: Free", "tier: Gold"));
    const file = workspace.path("gateway.yaml");
    for (const command of ["check", "serve --strict", "explain route/one --tier Free", "users list"])
      expect(await gateway(...command.split(" "), "--config", file)).toMatchObject({ code: 1 });
  });
});

describe("errors name the option or variable to set", () => {
  test.for([
    ["server.listen", (busyPort: number) => `server: { listen: [{ host: 127.0.0.1, port: ${busyPort} }] }\n`],
    [
      "server.admin",
      (busyPort: number) =>
        `server: { listen: [{ host: 127.0.0.1, port: 0 }], admin: { host: 127.0.0.1, port: ${busyPort}, token: t } }\n`,
    ],
  ] as const)("a busy port of %s", async ([setting, server]) => {
    workspace.write("gateway.yaml", `${SMALL}store: { url: "memory:" }\n${server(port)}`);
    const { code, stderr } = await cli("serve", "--log-level", "silent");
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`);
    expect(stderr).toContain(`choose another in ${setting}`);
  });

  test("a busy port of the simulator", async () => {
    const { code, stderr } = await gateway("sim", "--port", String(port));
    expect(code).toBe(3);
    expect(stderr).toContain("choose another with --port");
  });

  test("a rollback without a token", async () => {
    workspace.write("gateway.yaml", `${SMALL}server: { admin: { host: 127.0.0.1, port: ${port} } }\n`);
    for (const more of [[], ["--admin", `http://127.0.0.1:${port}`]]) {
      const { code, stderr } = await cli("rollback", ...more);
      expect(code).toBe(2);
      expect(stderr).toContain("no admin token: give it with --admin-token or GATEWAY_ADMIN_TOKEN");
    }
  });

  test("a rollback at an address that is no admin listener, or nothing", async () => {
    const found = await cli("rollback", "--admin", `http://127.0.0.1:${port}`, "--admin-token", "t");
    expect(found).toMatchObject({ code: 3, stderr: expect.stringContaining("(name it with --admin)") as string });
    const nobody = await cli("rollback", "--admin", "http://127.0.0.1:9", "--admin-token", "t");
    expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining("with --admin\n") as string });
  });

  test("a replay without a log, and one whose log is not written yet", async () => {
    const none = await cli("replay");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("telemetry.decision_log") as string });
    workspace.write("gateway.yaml", `${SMALL}telemetry: { decision_log: { file: data/decisions.jsonl } }\n`);
    const early = await cli("replay");
    expect(early).toMatchObject({ code: 3, stderr: expect.stringContaining("decisions.jsonl") as string });
  });

  test("an explanation of a past request without a log", async () => {
    const { code, stderr } = await cli("explain", "--request", "abc");
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--log FILE") as string });
  });
});

describe("import", () => {
  const LITELLM = "model_list:\n  - model_name: a\n    litellm_params: { model: openai/gpt-4o }\n";

  test("exit codes: 0 nothing lost, 1 something lost, 2 no such kind, 3 no such file or configuration", async () => {
    workspace.write("whole.yaml", LITELLM);
    workspace.write("lossy.yaml", `${LITELLM}mcp_servers: { a: { url: "https://a.example" } }\n`);
    workspace.write("text.yaml", "text\n");
    const at = (name: string) => workspace.path(name);
    expect(await gateway("import", "litellm", at("whole.yaml"))).toMatchObject({ code: 0 });
    expect(await gateway("import", "litellm", at("lossy.yaml"))).toMatchObject({ code: 1 });
    expect(await gateway("import", "nobody", at("whole.yaml"))).toMatchObject({ code: 2 });
    for (const name of ["nowhere.yaml", "folder", "text.yaml"])
      expect(await gateway("import", "litellm", at(name))).toMatchObject({ code: 3, stdout: "" });
  });

  test("the configuration on stdout, a finding a line on stderr; with --format json one array", async () => {
    workspace.write("config.yaml", LITELLM);
    const { stdout, stderr } = await gateway("import", "litellm", workspace.path("config.yaml"));
    expect(stdout).toMatch(/^version: 1$/m);
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^model_list\[0\]\.model_name: changed: /),
      expect.stringMatching(/^model_list\[0\]\.litellm_params\.model: changed: /),
    ]);
    const json = await gateway("import", "litellm", workspace.path("config.yaml"), "--format", "json");
    expect(json.stdout).toBe(stdout);
    expect(JSON.parse(json.stderr)).toMatchObject([
      { path: "model_list[0].model_name", line: 2, status: "changed", target: "/models/route~1a" },
      { path: "model_list[0].litellm_params.model" },
    ]);
  });

  test("files are written once, and never over one that is there", async () => {
    workspace.write("config.yaml", LITELLM);
    const [out, tests] = [workspace.path("new.yaml"), workspace.path("new.test.yaml")];
    const args = ["import", "litellm", workspace.path("config.yaml"), "--out", out, "--tests", tests];
    expect(await gateway(...args)).toMatchObject({ code: 0, stdout: "" });
    expect(await gateway("check", out)).toMatchObject({ code: 0 });
    expect(await gateway("test", tests)).toMatchObject({ code: 0 });
    expect(await gateway(...args)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("new.yaml exists already") as string,
    });
    expect(await gateway(...args.slice(0, 4), out)).toMatchObject({ code: 3 });
    expect(await gateway(...args.slice(0, 3), "--tests", tests)).toMatchObject({ code: 3, stdout: "" });
    expect(await gateway(...args.slice(0, 3), "--out", "same", "--tests", "same")).toMatchObject({ code: 2 });
  });

  test("the command takes the kinds that there are", () => expect(IMPORTED).toEqual(KINDS));
});

describe("under GitHub Actions", () => {
  beforeEach(() => vi.stubEnv("GITHUB_ACTIONS", "true"));

  test("check prints annotations unless told otherwise", async () => {
    workspace.write("gateway.yaml", SMALL.replace("tier: Free", "tier: Gold"));
    const file = workspace.path("gateway.yaml");
    expect((await gateway("check", file)).stdout).toMatch(/^::error file=.*title=unknown-tier/);
    expect((await gateway("check", "--format", "text", file)).stdout).not.toContain("::error");
  });

  test("diff leaves an annotation when --fail-on is met", async () => {
    workspace.write("new.yaml", SMALL.replace("day: 50", "day: 40"));
    const args = ["diff", workspace.path("gateway.yaml"), workspace.path("new.yaml"), "--fail-on", "breaking"];
    const { code, stdout, stderr } = await gateway(...args);
    expect(code).toBe(1);
    expect(stdout).toContain("limit-lowered");
    expect(stderr).toMatch(
      /^::error title=gateway diff::--fail-on breaking is met by \d+ of \d+ changes: .*limit-lowered/,
    );
  });
});

function help(command: Command): string {
  return [command, ...command.commands].map((one) => one.helpInformation()).join("\n");
}

test("every value that a help text shows is one that its option takes", () => {
  const texts = createProgram().commands.map(help).join("\n").replaceAll(/\s+/g, " ");
  const shown: readonly (readonly [text: string, parse: () => unknown])[] = [
    ["as 5/month", () => parseKeyBudget("5/month")],
    ["such as shout-back", () => parsePluginName("shout-back")],
    [":10 or :1%", () => [parseThreshold("refusals:10"), parseThreshold("models:1%")]],
    ["cost:5%", () => parseThreshold("cost:5%")],
    ["how many configurations back", () => [parseRollbackTarget("1"), parseRollbackTarget("abcd")]],
  ];
  for (const [text, parse] of shown) {
    expect(texts).toContain(text);
    expect(parse).not.toThrow();
  }
});

test("a command whose help has an example is in the suite that runs it", async () => {
  const said = await Promise.all(
    leaves(createProgram()).map(async (name) => [name, (await gateway(...name.split(" "), "--help")).stdout] as const),
  );
  const withExample = said
    .filter(([, text]) => /example/i.test(text.replaceAll("example.com", "")))
    .map(([name]) => name);
  // test.test.ts runs it.
  expect(withExample).toEqual(["test"]);
});
