import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { ExitError } from "../../src/cli/options.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
  const config = readFileSync(`${ROOT}/test/config-tests/cases/gateway.yaml`, "utf8");
  workspace.write("gateway.yaml", config);
});
afterEach(() => workspace.close());

const passing = { name: "served", given: { model: "route/one" }, expect: { status: 200 } };
const failing = { name: "refused", given: { model: "route/two" }, expect: { status: 200 } };

/** `gateway test ARGS…` in this process, in the workspace: the exit code and what it prints. */
async function gatewayTest(...args: readonly string[]): Promise<{ code: number; stdout: string; message: string }> {
  let stdout = "";
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  try {
    await createProgram().parseAsync(["test", ...args], { from: "user" });
    return { code: Number(process.exitCode ?? 0), stdout, message: "" };
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof ExitError)) throw error;
    return { code: error.exitCode, stdout, message: error.message };
  } finally {
    write.mockRestore();
    process.exitCode = undefined;
  }
}

describe("exit codes", () => {
  test("all pass: 0, in a process of its own, offline and without making anything", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing] });
    const { code, stdout, stderr } = await workspace.cli("test");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^gateway\.test\.yaml\n {2}✓ served \(\d+ ms\)\n\n1 passed \(\d+ ms\)\n$/);
    const { stdout: files } = await workspace.spawn("ls", ["-A"]).exited;
    expect(files.trim().split("\n")).toEqual(["gateway.test.yaml", "gateway.yaml"]);
  });

  test("some fail: 1", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing, failing] });
    const { code, stdout } = await gatewayTest();
    expect(code).toBe(1);
    expect(stdout).toContain("✗ refused");
    expect(stdout).toMatch(/\n1 failed, 1 passed \(.*\)\n$/);
  });

  test("a file that cannot be run, or is not there: 3, and the others run", async () => {
    workspace.write("a.test.yaml", { tests: [{ ...passing, expects: {} }] });
    workspace.write("b.test.yaml", { tests: [passing] });
    const { code, stdout } = await gatewayTest("a.test.yaml", "b.test.yaml", "c.test.yaml");
    expect(code).toBe(3);
    expect(stdout).toContain("a.test.yaml:");
    expect(stdout).toContain("unknown key 'expects' (did you mean 'expect'?)");
    expect(stdout).toContain("c.test.yaml:1:1: error file-unreadable does not exist");
    expect(stdout).toMatch(/\n1 passed, 2 files could not be run \(.*\)\n$/);
  });

  test("wrong use: 2", async () => {
    const nothing = await gatewayTest();
    expect(nothing).toMatchObject({ code: 2, stdout: "" });
    expect(nothing.message).toContain("there is no");
    workspace.write("gateway.test.yaml", { tests: [passing] });
    expect(await gatewayTest("--filter", "nobody")).toMatchObject({
      code: 2,
      message: "no test has 'nobody' in its name",
    });
    expect(await workspace.cli("test", "--format", "yaml")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("options", () => {
  test("--filter runs only tests with the text in their name", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing, failing] });
    const { code, stdout } = await gatewayTest("--filter", "SERV");
    expect({ code, failed: stdout.includes("refused") }).toEqual({ code: 0, failed: false });
  });

  test("--config is in place of what the files name", async () => {
    const text = readFileSync(`${ROOT}/test/config-tests/cases/gateway.yaml`, "utf8");
    workspace.write("candidate.yaml", text.replace("access: [Free]", "access: all"));
    workspace.write("gateway.test.yaml", { tests: [failing] });
    expect((await gatewayTest()).code).toBe(1);
    expect((await gatewayTest("--config", "candidate.yaml", "gateway.test.yaml")).code).toBe(0);
  });

  test("--format json says the same as the text", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing, failing] });
    const { code, stdout } = await gatewayTest("--format", "json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      tests: 2,
      failed: 1,
      broken: 0,
      files: [
        {
          file: "gateway.test.yaml",
          diagnostics: [],
          tests: [
            { name: "served", ok: true, failure: null },
            {
              name: "refused",
              ok: false,
              failure: {
                mismatches: [{ pointer: "/status", expected: "200", actual: "403", line: expect.any(Number) }],
              },
            },
          ],
        },
      ],
    });
  });

  test("--junit writes a report beside what is printed; under GitHub Actions that is annotations", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing, failing] });
    vi.stubEnv("GITHUB_ACTIONS", "true");
    const { code, stdout } = await gatewayTest("--junit", workspace.path("report.xml"));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^::error file=gateway\.test\.yaml,line=\d+,.*title=refused::/);
    expect(readFileSync(workspace.path("report.xml"), "utf8")).toContain('tests="2" failures="1"');
    expect((await gatewayTest("--format", "text")).stdout).toContain("✗ refused");
    const lost = await gatewayTest("--junit", workspace.path("no/such/folder.xml"));
    expect(lost).toMatchObject({ code: 3, message: expect.stringContaining("cannot write --junit") as string });
  });

  test("--format junit is XML alone", async () => {
    workspace.write("gateway.test.yaml", { tests: [passing] });
    const { stdout } = await workspace.cli("test", "--format", "junit");
    expect(stdout).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites .*<\/testsuites>\n$/s);
  });
});

test("the example of --help passes on the shipped configuration", async () => {
  const { stdout } = await workspace.cli("test", "--help");
  const [, example = ""] = /as gateway\.test\.yaml:\n\n((?: {2}.*\n)+)/.exec(stdout) ?? [];
  const text = example.replaceAll(/^ {2}/gm, "");
  workspace.write("gateway.test.yaml", text.replace("config: gateway.yaml", `config: ${ROOT}/gateway.yaml`));
  const { code, stdout: report } = await gatewayTest();
  expect({ code, report }).toMatchObject({ code: 0 });
  expect(report).toContain("a hundred requests a minute");
});

test("the example of the guide passes on the shipped configuration", async () => {
  const guide = readFileSync(`${ROOT}/docs/changes.md`, "utf8");
  const [, example = ""] = /```yaml\n(.*config-test\.schema\.json\n[^`]*)```/.exec(guide) ?? [];
  workspace.write("gateway.test.yaml", example.replace("config: gateway.yaml", `config: ${ROOT}/gateway.yaml`));
  const { code, stdout } = await gatewayTest();
  expect({ code, stdout }).toMatchObject({ code: 0 });
  expect(stdout).toContain("the last request of an hour");
});
