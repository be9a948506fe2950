import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Explanation } from "#schema";
import { runCommand } from "../../src/cli/program.ts";
import { Workspace } from "../e2e/support/process.ts";

/*
 * Every command with the shortest file of the documentation, and with a `.env` beside a configuration. The commands run in
 * this process, in the folder above that of the configuration.
 */

const SHORTEST = readFileSync(new URL("../../docs/shortest.yaml", import.meta.url), "utf8");

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.close());

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function gateway(...args: readonly string[]): Promise<Said> {
  const said = { stdout: "", stderr: "" };
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const writes = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    await runCommand([...args, "--config", workspace.path("conf/gateway.yaml")]);
    return { code: Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const write of writes) write.mockRestore();
    process.exitCode = undefined;
  }
}

const OK = { code: 0, stderr: "" };

describe("the shortest file", () => {
  beforeEach(() => workspace.write("conf/gateway.yaml", SHORTEST));

  test("check finds nothing, strictly", async () => {
    expect(await gateway("check", "--strict")).toEqual({ ...OK, stdout: "0 errors, 0 warnings\n" });
  });

  test("explain needs no plan; one that there is not is an error", async () => {
    const { stdout, ...rest } = await gateway("explain", "route/llama", "--format", "json");
    expect(rest).toEqual(OK);
    const { request, answer, charge } = JSON.parse(stdout) as Explanation;
    expect(request).toMatchObject({ tier: "Open", user: null });
    expect(answer).toMatchObject({ status: 200, upstream: "ollama" });
    expect(charge.expected).toBe("0");
    const wrong = await gateway("explain", "route/llama", "--tier", "Free");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no tier Free") });
  });

  test("tests of it need no plan", async () => {
    const tests = `tests:
  - name: $model is served by ollama
    each: { model: "*" }
    expect: { status: 200, upstream: ollama }
  - name: $tier is the plan
    each: { tier: "*" }
    given: { model: route/llama }
    expect: { status: 200 }
`;
    workspace.write("conf/gateway.test.yaml", tests);
    const { stdout, ...rest } = await gateway("test", "--format", "json");
    expect(rest).toEqual(OK);
    expect(stdout).toContain("Open is the plan");
  });

  test("a user is added to the one plan", async () => {
    const added = await gateway("users", "add", "--email", "a@example.com", "--json");
    expect(added).toMatchObject(OK);
    expect(JSON.parse(added.stdout)).toMatchObject({ plan_tier: "Open", credits: 0 });
    const wrong = await gateway("users", "add", "--email", "b@example.com", "--tier", "Free");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("the configuration has Open") });
  });
});

describe(".env", () => {
  const TEXT = SHORTEST.replace(
    ', vendor: ollama, base_url: "http://127.0.0.1:11434/v1"',
    ', base_url: "${env:URL}", api_keys: ["${env:KEY}"]',
  );
  beforeEach(() => {
    vi.stubEnv("URL", undefined);
    vi.stubEnv("KEY", undefined);
    workspace.write("conf/gateway.yaml", TEXT);
    workspace.write("conf/.env", "URL=http://127.0.0.1:11434/v1\nKEY=planted-secret\n");
    // Of the working directory, and none of the gateway's business.
    workspace.write(".env", "URL=https://api.example.com/v1\nbroken planted-line\n");
  });

  test("is that of the configuration's folder", async () => {
    expect(await gateway("check", "--strict")).toEqual({ ...OK, stdout: "0 errors, 0 warnings\n" });
    expect(await gateway("explain", "route/llama")).toMatchObject(OK);
    expect(await gateway("users", "list")).toMatchObject(OK);
    expect(await gateway("check", workspace.path("conf/gateway.yaml"))).toMatchObject(OK);
  });

  test.for(["text", "json", "github", "sarif"])("a broken line is told by its number alone, as %s", async (format) => {
    workspace.write("conf/.env", "URL=http://127.0.0.1:11434/v1\n\n\nKEY planted-secret\n");
    const { code, stdout } = await gateway("check", "--format", format);
    expect(code).toBe(0);
    expect(stdout).toContain("is not NAME=value");
    expect(stdout).toContain(".env");
    expect(stdout).not.toContain("planted");
    const strict = await gateway("check", "--strict");
    expect(strict.code).toBe(1);
    expect(strict.stdout).toMatch(/conf\/\.env:4:1: warning env-line is not NAME=value/);
  });

  test("diff resolves both sides of a change with the one on the disk", async () => {
    const git = (...args: readonly string[]): unknown =>
      execFileSync("git", ["-C", workspace.folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args]);
    git("init", "-q");
    workspace.write("conf/.env", "URL=https://api.example.org/v1\nKEY=committed\n");
    git("add", "-A");
    git("commit", "-q", "-m", "all");
    workspace.write("conf/.env", "URL=http://127.0.0.1:11434/v1\nKEY=planted-secret\n");
    const { stdout, ...rest } = await gateway("diff", "HEAD:conf/gateway.yaml", workspace.path("conf/gateway.yaml"));
    expect(rest).toEqual(OK);
    expect(stdout).toBe("no change in effect\n");
  });
});
