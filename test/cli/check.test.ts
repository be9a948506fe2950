import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { configuration } from "../e2e/support/configuration.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";
import { passingFolder } from "../support/folder.ts";

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(() => workspace.close());

interface Report {
  readonly ok: boolean;
  readonly diagnostics: readonly Record<string, unknown>[];
}

const GOOD = configuration("http://127.0.0.1:9");
const ONE = GOOD.models["route/one"]!;
/** The model's only step has a smaller window than the model promises: a warning. */
const WARNED = {
  ...GOOD,
  models: {
    "route/one": { ...ONE, context_window: 1000, chain: [{ upstream: "alpha", model: "m", context_window: 500 }] },
  },
};
const WRONG = { ...GOOD, models: { "route/one": { ...ONE, tier: "Fre", chain: [{ upstream: "alpa", model: "m" }] } } };

const check = (...args: readonly string[]) => gateway("check", ...args);

/** `gateway ARGS…` in this process, in the workspace: the exit code and what it prints. */
async function gateway(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  let stdout = "";
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  try {
    await createProgram().parseAsync(args, { from: "user" });
    return { code: Number(process.exitCode ?? 0), stdout };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { code: error.exitCode, stdout };
  } finally {
    write.mockRestore();
    process.exitCode = undefined;
  }
}

/** The same in a process of its own. */
async function checkAlone(...args: readonly string[]) {
  const { code, stdout, stderr } = await workspace.cli("check", ...args);
  expect(stderr).toBe("");
  return { code, stdout };
}

describe("exit codes and texts", () => {
  test("what a plugin's setup refuses is found without serving, at its step", async () => {
    const step = { use: "transform", options: { set: { "/model": "other" } } };
    const pipeline = ["auth", "plan-check", "quota", "breaker", step, "stream-relay", "meter"];
    workspace.write("gateway.yaml", { ...GOOD, pipeline });
    const { code, stdout } = await check("--format", "json");
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).diagnostics).toEqual([
      expect.objectContaining({ rule: "plugin-setup", pointer: "/pipeline/4/use", severity: "error" }),
    ]);
  });

  test("a good file: 0", async () => {
    workspace.write("gateway.yaml", GOOD);
    expect(await checkAlone()).toEqual({ code: 0, stdout: "0 errors, 0 warnings\n" });
    expect(await check("--strict")).toEqual({ code: 0, stdout: "0 errors, 0 warnings\n" });
  });

  test("a file that is not there, or is a folder: 3, with its place", async () => {
    for (const name of ["nothing.yaml", "."]) {
      const { code, stdout } = await checkAlone(name);
      expect(code).toBe(3);
      expect(stdout).toContain(`:1:1: error file-unreadable`);
    }
  });

  test("an included file that is not there is a finding like any other: 1", async () => {
    workspace.write("gateway.yaml", { ...GOOD, include: ["more.yaml"] });
    const { code, stdout } = await check();
    expect(code).toBe(1);
    expect(stdout).toContain("more.yaml");
  });

  test("warnings: 0, with --strict 1", async () => {
    workspace.write("gateway.yaml", WARNED);
    const { code, stdout } = await check();
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^gateway\.yaml:\d+:\d+: warning chain-window .*\n +\d+ \| .*\n +\| +\^+\n0 errors, 1 warning\n$/,
    );
    expect((await check("--strict")).code).toBe(1);
  });

  test("errors: 1, all of them, with a hint", async () => {
    workspace.write("gateway.yaml", WRONG);
    const { code, stdout } = await check();
    expect(code).toBe(1);
    expect(stdout).toMatch(/gateway\.yaml:\d+:\d+: error .*alpa.*alpha/);
    expect(stdout).toMatch(/gateway\.yaml:\d+:\d+: error .*Fre.*Free/);
    expect(stdout).toMatch(/^2 errors, /m);
  });

  test("JSON says the same, and nothing else is on stdout", async () => {
    workspace.write("gateway.yaml", WRONG);
    const { code, stdout } = await checkAlone("--format", "json");
    const report = JSON.parse(stdout) as Report;
    expect(code).toBe(1);
    expect(report.ok).toBe(false);
    const errors = report.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors).toHaveLength(2);
    expect(new Set(errors.map(({ pointer }) => pointer))).toEqual(
      new Set(["/models/route~1one/chain/0/upstream", "/models/route~1one/tier"]),
    );
    for (const diagnostic of report.diagnostics) {
      expect(diagnostic).toMatchObject({
        file: "gateway.yaml",
        line: expect.any(Number),
        column: expect.any(Number),
        rule: expect.any(String),
        message: expect.any(String),
      });
      expect(diagnostic).toHaveProperty("hint");
    }
    workspace.write("gateway.yaml", WARNED);
    const warned = JSON.parse((await check("--format", "json", "--strict")).stdout) as Report;
    expect(warned.ok).toBe(false);
  });

  test("several files are checked in one go; one that is missing is an error that names it", async () => {
    workspace.write("a.yaml", GOOD);
    workspace.write("b.yaml", WARNED);
    const both = await check("a.yaml", "b.yaml");
    expect(both).toEqual({ code: 0, stdout: expect.stringMatching(/^b\.yaml:.*\n.*\n.*\n0 errors, 1 warning\n$/) });
    const missing = await check("a.yaml", "nowhere.yaml");
    expect(missing.code).toBe(3);
    expect(missing.stdout).toMatch(/^nowhere\.yaml:1:1: error /);
  });

  test.each([[["--format", "yaml"]], [["--stirct"]]])("wrong use ends with 2: %j", async (args) => {
    expect(await workspace.cli("check", ...args)).toMatchObject({ code: 2, stdout: "" });
  });

  test("annotations and SARIF: the same findings, and the same exit codes", async () => {
    workspace.write("gateway.yaml", WRONG);
    const github = await checkAlone("--format", "github");
    expect(github.code).toBe(1);
    expect(github.stdout).toMatch(/^::error file=gateway\.yaml,line=\d+,.*title=unknown-\w+::model 'route\/one', .*$/m);
    expect(github.stdout).toMatch(/^::notice title=gateway check::2 errors, /m);
    const sarif = await check("--format", "sarif");
    expect(sarif.code).toBe(1);
    const { runs } = JSON.parse(sarif.stdout) as { runs: { results: { ruleId: string; level: string }[] }[] };
    expect(runs.map(({ results }) => results.map(({ ruleId, level }) => `${level} ${ruleId}`).toSorted())).toEqual([
      ["error unknown-tier", "error unknown-upstream", "warning unused-upstream"],
    ]);
    expect((await check("--format", "sarif", "nowhere.yaml")).code).toBe(3);
  });

  test("a price is stale by the day of the check, which stops no start", async () => {
    const price = { ...ONE.price, verified_at: "2020-01-15" };
    workspace.write("gateway.yaml", { ...GOOD, models: { "route/one": { ...ONE, price } } });
    const { code, stdout } = await check("--strict");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/ warning stale-price /) });
  });

  test("five thousand models take less than two seconds of an idle processor", async () => {
    const models = Array.from({ length: 5_000 }, (_, index) => {
      const targets = ["a", "b"].map((name) => `      - { upstream: alpha, model: ${name}-${index} }\n`).join("");
      const price = "price: { input_per_million: 0.15, output_per_million: 0.6 }";
      return `  route/m${index}:\n    kind: chat\n    tier: Free\n    owned_by: alpha\n    max_output: 8192\n    features: [tools]\n    ${price}\n    chain:\n${targets}`;
    });
    const text = `version: 1\ntiers:\n  Free: { access: [Free], limits: { day: 50, hour: 50, minute: 100, streams: 50 } }\nupstreams:\n  alpha: { dialect: openai, base_url: "sim:", api_keys: [sim] }\nmodels:\n${models.join("")}pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]\n`;
    writeFileSync(join(workspace.folder, "gateway.yaml"), text);
    const before = process.cpuUsage();
    expect(await check()).toEqual({ code: 0, stdout: "0 errors, 0 warnings\n" });
    const { user, system } = process.cpuUsage(before);
    // Processor time, and three times what it takes: a machine that is busy counts more of it.
    expect((user + system) / 1e6).toBeLessThan(6);
  });

  test("a check makes nothing: no store, no folder", async () => {
    workspace.write("gateway.yaml", GOOD);
    await checkAlone();
    expect(await workspace.spawn("ls", ["-A"]).exited).toMatchObject({ stdout: expect.not.stringContaining("data") });
  });
});

test("npx gateway works in the checkout, on whatever Node npx runs", () => {
  // The checkout's own Node comes first on the path of npx. In a cache of its own: npx remembers for each folder where the
  // program was when it was first asked for, and says "not found" of one that has moved since.
  const { status, stdout, stderr } = spawnSync("npx", ["--no-install", "gateway", "check", "--format", "json"], {
    cwd: ROOT,
    encoding: "utf8",
    timeout: 25_000,
    env: { ...process.env, npm_config_cache: passingFolder() },
  });
  expect({ status, stderr, report: stdout === "" ? undefined : (JSON.parse(stdout) as Report) }).toMatchObject({
    status: 0,
    report: { ok: true },
  });
});

describe("schema", () => {
  test("prints one that the configuration fits, with the options of its local plugins", async () => {
    workspace.write("gateway.yaml", GOOD);
    const { code, stdout, stderr } = await workspace.cli("schema");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(stdout) as object);
    expect(validate(GOOD)).toBe(true);
    expect(validate({ ...GOOD, sever: {} })).toBe(false);
  });

  test("of one plugin; of one that is not there 2, of a configuration that is not there 3", async () => {
    const { code, stdout } = await gateway("schema", "transform");
    expect({ code, schema: JSON.parse(stdout) as object }).toMatchObject({ code: 0, schema: { type: "object" } });
    expect(await workspace.cli("schema", "trasform")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("did you mean 'transform'?"),
    });
    expect(await workspace.cli("schema", "-c", "nowhere.yaml")).toMatchObject({ code: 3, stdout: "" });
  });
});

test("--help of every command ends with 0 on stdout", async () => {
  const { code, stdout, stderr } = await workspace.cli("--help");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("Usage: gateway");
  for (const name of [
    "dev",
    "serve",
    "check",
    "schema",
    "diff",
    "test",
    "explain",
    "users",
    "credits",
    "keys",
    "token",
    "sim",
  ]) {
    const help = await gateway(name, "--help");
    expect(help).toEqual({ code: 0, stdout: expect.stringContaining(`Usage: gateway ${name}`) });
  }
});

test("no command at all is wrong use: help on stderr, 2", async () => {
  const { code, stdout, stderr } = await workspace.cli();
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("Usage: gateway");
});

test("commands on a configuration that cannot be read end with 1 and its report", async () => {
  workspace.write("gateway.yaml", WRONG);
  const { code, stdout, stderr } = await workspace.cli("users", "list");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/gateway\.yaml:\d+:\d+: error /);
});
