import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PastExplanation } from "#schema";
import type { ReplayReport } from "../../src/offline/replay/replay.ts";
import { Workspace } from "../e2e/support/process.ts";

const CASES = join(import.meta.dirname, "../offline/replay/cases");
const workspace = new Workspace();

beforeAll(() => cpSync(CASES, workspace.folder, { recursive: true }));
afterAll(() => workspace.close());

const replay = (name: string, ...args: readonly string[]) =>
  workspace.cli("replay", `${name}/log.jsonl`, "--config", `${name}/new.yaml`, ...args);
const expected = (name: string, file: string) => readFileSync(join(CASES, name, file), "utf8");

describe("gateway replay", () => {
  test.each([
    ["text", "expected.txt"],
    ["markdown", "expected.md"],
  ])("prints %s", async (format, file) => {
    const exit = await replay("lower-daily-limit", "--limits", "--format", format);
    expect(exit).toMatchObject({ code: 0, stderr: "", stdout: expected("lower-daily-limit", file) });
  });

  test("compares with a replay of another configuration, in JSON", async () => {
    const exit = await replay(
      "chain-turned-round",
      "--against",
      "chain-turned-round/old.yaml",
      "--format",
      "json",
      "--fail-on",
      "refusals",
    );
    const { against, upstreams } = JSON.parse(exit.stdout) as ReplayReport;
    expect({ code: exit.code, upstreams }).toEqual({
      code: 0,
      upstreams: [{ model: "route/one", before: "alpha", now: "beta", requests: 1, users: 1 }],
    });
    expect(against).toMatch(/^[0-9a-f]{64}$/);
  });

  test("compares with a replay of a file in git", async () => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CEILING_DIRECTORIES: dirname(workspace.folder) };
    const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: workspace.folder, env });
    workspace.write("old.yaml", expected("chain-turned-round", "old.yaml"));
    git("init", "-q");
    git("add", "old.yaml");
    git("-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", "old");
    workspace.write("old.yaml", "version: 2\n");
    const exit = await replay("chain-turned-round", "--against", "HEAD:old.yaml");
    expect(exit).toMatchObject({ code: 0, stderr: "", stdout: expected("chain-turned-round", "expected.txt") });
    expect(await replay("chain-turned-round", "--against", "HEAD:none.yaml")).toMatchObject({ code: 3, stdout: "" });
  });

  test("names bad lines by file and line, counts them and goes on", async () => {
    const { code, stdout, stderr } = await replay("bad-lines");
    expect({ code, lines: stderr.trimEnd().split("\n") }).toEqual({
      code: 0,
      lines: [
        "gateway: bad-lines/log.jsonl:2: not JSON: the line is cut, or another program's",
        "gateway: bad-lines/log.jsonl:3: version 2 of the format: this gateway reads version 1",
        "gateway: bad-lines/log.jsonl:5: not JSON: the line is cut, or another program's",
      ],
    });
    expect(stdout).toContain("3 lines of the log cannot be used");
  });

  test.each([
    ["lower-daily-limit", "any", 1],
    ["lower-daily-limit", "refusals:3", 0],
    ["lower-daily-limit", "refusals:20%", 1],
    ["lower-daily-limit", "cost:25%", 0],
    ["price-and-multiplier", "cost:5%", 1],
    ["model-gone-and-plan-narrower", "models", 1],
    ["weights-against-log", "any", 0],
  ])("%s, --fail-on %s: exit code %i", async (name, what, code) => {
    const exit = await replay(name, "--fail-on", what);
    expect(exit.code).toBe(code);
    expect(exit.stderr).toBe(code === 1 ? `gateway: beyond --fail-on ${what}\n` : "");
    expect(exit.stdout).toContain("replayed against the log");
  });

  test.each([
    ["no log", ["replay", "--config", "bad-lines/new.yaml"], 2, "the configuration has no telemetry.decision_log"],
    [
      "a log that is not there",
      ["replay", "none.jsonl", "--config", "bad-lines/new.yaml"],
      3,
      "there is no none.jsonl",
    ],
    ["no configuration", ["replay", "bad-lines/log.jsonl", "--config", "none.yaml"], 3, "none.yaml"],
    ["another file", ["replay", "bad-lines/new.yaml", "--config", "bad-lines/new.yaml"], 3, "no line can be used"],
    ["a threshold that is none", ["replay", "x", "--fail-on", "cost:5"], 2, "cost:5%"],
    ["a time that is none", ["replay", "x", "--since", "yesterday"], 2, "2026-01-10T08:00:00Z"],
  ])("%s ends with its code", async (_what, args, code, message) => {
    const exit = await workspace.cli(...args);
    expect({ code: exit.code, stdout: exit.stdout }).toEqual({ code, stdout: "" });
    expect(exit.stderr).toContain(message);
  });
});

const explain = (name: string, ...args: readonly string[]) =>
  workspace.cli("explain", "--log", `${name}/log.jsonl`, "--config", `${name}/new.yaml`, ...args);
const idOf = (name: string, index: number) => {
  const lines = expected(name, "log.jsonl").trimEnd().split("\n");
  return (JSON.parse(lines[index]!) as { request_id: string }).request_id;
};

describe("gateway explain --request", () => {
  test("shows then and now, by other prices", async () => {
    const { code, stdout, stderr } = await explain(
      "price-and-multiplier",
      "--request",
      idOf("price-and-multiplier", 0),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("→ 200 served by alpha after 900 ms");
    expect(stdout).toContain("different now\n  charge: 0.002 → 0.0045\n");
    expect(stdout).toContain("now: route/one (chat) for a user of Free");
  });

  test("upstreams fail as they did then", async () => {
    const name = "same-configuration";
    const { stdout } = await explain(name, "--request", idOf(name, 6), "--format", "json");
    const { before, now, differences } = JSON.parse(stdout) as PastExplanation;
    expect(before.attempts.map(({ upstream, outcome }) => [upstream, outcome])).toEqual([
      ["alpha", "status"],
      ["beta", "ok"],
    ]);
    expect(now?.chain.map(({ targets: [target] }) => target!.decision)).toEqual(["failed", "served"]);
    expect(differences).toEqual([]);
  });

  test("a model that is gone is told, too", async () => {
    const name = "model-gone-and-plan-narrower";
    const { code, stdout } = await explain(name, "--request", idOf(name, 1));
    expect(code).toBe(0);
    expect(stdout).toContain("result: 200 served → there is no model route/two");
  });

  test.each([
    ["a request that is not there", ["--request", "none"], 1, "there is no request none in bad-lines/log.jsonl"],
    ["a model besides", ["route/one", "--request", "x"], 2, "--request says what is asked"],
    ["a log without a request", ["route/one", "--tier", "Free"], 2, "--log is where --request is looked for"],
  ])("%s ends with its code", async (_what, args, code, message) => {
    const exit = await explain("bad-lines", ...args);
    expect(exit).toMatchObject({ code, stdout: "" });
    expect(exit.stderr).toContain(message);
  });

  test("without a log it is the configured one that is read", async () => {
    const exit = await workspace.cli("explain", "--config", "bad-lines/new.yaml", "--request", "x");
    expect(exit).toMatchObject({ code: 2, stdout: "" });
    expect(exit.stderr).toContain("--log FILE: the configuration has no telemetry.decision_log");
  });
});
