import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createProgram } from "../../src/cli/program.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

const FOLDER = join(ROOT, "deploy/ci");
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: {
    readonly configuration: {
      readonly env: Readonly<Record<string, string>>;
      readonly steps: readonly {
        readonly name?: string;
        readonly run?: string;
        readonly uses?: string;
        readonly if?: string;
      }[];
    };
  };
}

interface Pipeline {
  readonly "gateway configuration": {
    readonly variables: Readonly<Record<string, string>>;
    readonly script: readonly string[];
    readonly artifacts: { readonly paths: readonly string[]; readonly reports: { readonly junit: string } };
  };
}

interface Hooks {
  readonly repos: readonly {
    readonly hooks: readonly { readonly id: string; readonly entry: string; readonly files: string }[];
  }[];
}

const workflow = parse(read("github-workflow.yaml")) as Workflow;
const { steps } = workflow.jobs.configuration;
const job = (parse(read("gitlab-ci.yaml")) as Pipeline)["gateway configuration"];
const hooks = (parse(read("pre-commit-config.yaml")) as Hooks).repos.flatMap((repo) => repo.hooks);
const hook = read("pre-commit");
const texts = [...steps.map(({ run = "" }) => run), ...job.script, ...hooks.map(({ entry }) => entry), hook];
const stepOf = (name: string) => steps.find((one) => one.name === name)!.run!;

describe("the files", () => {
  test("call check, diff and test with options that these have, and nothing else of the gateway", () => {
    const calls = texts.flatMap((text) => [...text.matchAll(/^(?!#).*\bgateway (check|test|diff)\b(.*)$/gm)]);
    expect(calls.length).toBeGreaterThan(12);
    expect(texts.join("\n").match(/npx gateway (?!check |diff |test )\S+/g)).toBeNull();
    for (const [, name, more] of calls) {
      const options = optionsOf(name!);
      for (const [, long, value] of more!.matchAll(/(--[a-z-]+)(?: ([a-z]+))?/g)) {
        const option = options.find((one) => one.long === long);
        expect({ name, long, isThere: option !== undefined }).toEqual({ name, long, isThere: true });
        expect(option!.argChoices ?? [value]).toContain(value);
      }
    }
  });

  test("the workflow puts nothing of a pull request into a script, pins what it uses and asks for no more than it needs", () => {
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
    expect(steps.flatMap(({ uses = [] }) => uses)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^actions\/checkout@v\d+$/)]),
    );
    expect(steps.filter(({ uses }) => uses !== undefined && !/@v\d+$/.test(uses))).toEqual([]);
    expect(workflow.permissions).toEqual({
      contents: "read",
      "pull-requests": "write",
      "security-events": "write",
    });
    expect(steps.find(({ name }) => name === "No breaking change")!.if).toContain("'breaking'");
    // The token of a pull request from a fork may write nothing.
    const isOwn = "github.event.pull_request.head.repo.full_name == github.repository";
    for (const name of ["Comment", "Upload to code scanning"]) {
      expect(steps.find((one) => one.name === name)!.if).toContain(isOwn);
    }
  });

  test("hooks run for the files that they are about", () => {
    for (const { id, files } of hooks) {
      const pattern = new RegExp(files);
      expect([id, pattern.test("gateway.yaml"), pattern.test("plugins/x.ts")]).toEqual([id, true, true]);
      expect([id, pattern.test("README.md")]).toEqual([id, false]);
    }
  });
});

let workspace: Workspace;

/** Tests of the configuration as an operator begins with them. */
const TESTS = `config: gateway.yaml
tests:
  - name: a free model answers, from its first upstream
    given: { tier: Free, model: route/swift-mini }
    expect: { status: 200, upstream: aurora }
  - name: a step that fails is made up for
    given: { tier: Free, model: route/swift-mini, upstreams: { aurora: down } }
    expect: { status: 200, upstream: borealis }
`;

function optionsOf(name: string) {
  return createProgram().commands.find((command) => command.name() === name)!.options;
}

/** A repository with the shipped configuration and its tests, and stand-ins for what a runner brings. */
beforeEach(() => {
  workspace = new Workspace();
  const main = join(ROOT, "src/cli/main.js");
  const tool = (name: string, script: string) => {
    workspace.write(`bin/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(workspace.path(`bin/${name}`), 0o755);
  };
  tool("npx", ['[ "$1" = gateway ] || exit 1', "shift", `exec "${process.execPath}" "${main}" "$@"`].join("\n"));
  tool("npm", '[ "$*" = ci ]');
  tool("gh", `printf '%s\\n' "$*" > "${workspace.path("bin/gh.log")}"`);
  copyFileSync(join(ROOT, "gateway.yaml"), workspace.path("gateway.yaml"));
  workspace.write("gateway.test.yaml", TESTS);
  workspace.write(".gitignore", "bin\n");
  const made = [
    ["init", "-qb", "main"],
    ["add", "."],
    ["commit", "-qm", "before"],
  ].map((args) => git(...args).status);
  if (made.some((status) => status !== 0)) throw new Error("git makes no repository");
});

afterEach(() => workspace.close());

const NAMES = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = "" } = process.env;
  const names = Object.fromEntries(NAMES.map((name) => [name, "test@example.com"]));
  const summary = { GITHUB_STEP_SUMMARY: workspace.path("bin/summary.md"), NUMBER: "7", BASE: "main" };
  const gitlab = { CI_MERGE_REQUEST_DIFF_BASE_SHA: "main", CI_MERGE_REQUEST_LABELS: "" };
  const nowhere = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", HOME: workspace.folder };
  const own = { CONFIG: "gateway.yaml", TESTS: "gateway.test.yaml" };
  return { ...names, ...summary, ...gitlab, ...nowhere, ...own, PATH: `${workspace.path("bin")}:${PATH}`, ...more };
}

function git(...args: readonly string[]) {
  return spawnSync("git", args, { cwd: workspace.folder, env: environment(), encoding: "utf8" });
}

/** As runners run a script. */
function run(script: string, more: Readonly<Record<string, string>> = {}) {
  const options = { cwd: workspace.folder, env: environment(more), encoding: "utf8", timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", script], options);
  return { status, stdout, stderr };
}

/** Commits an edit of the shipped configuration on a branch. */
function edit(from: string, to: string): void {
  const text = readFileSync(workspace.path("gateway.yaml"), "utf8");
  expect(text).toContain(from);
  workspace.write("gateway.yaml", text.replace(from, to));
  for (const args of [
    ["checkout", "-qb", "edit"],
    ["commit", "-qam", "after"],
  ])
    expect(git(...args).status).toBe(0);
}

const CHEAPER = [
  "input_per_million: 0.05, output_per_million: 0.2 }",
  "input_per_million: 0.04, output_per_million: 0.2 }",
] as const;
const LIMITED = ["Max: { access: all, limits: { day: 3000", "Max: { access: all, limits: { day: 2000"] as const;
const MISTAKEN = ["upstream: aurora, model: aurora-mini-1", "upstream: aurorra, model: aurora-mini-1"] as const;

describe("GitHub", () => {
  const commands = steps.flatMap(({ run: script = [] }) => script);

  test("a change that is safe passes every step, and is told in a comment and in the summary", () => {
    edit(...CHEAPER);
    for (const script of commands) expect({ script, ...run(script) }).toMatchObject({ script, status: 0 });
    const comment = readFileSync(workspace.path("gateway-diff.md"), "utf8");
    expect(comment).toContain("### Configuration: 0 breaking, 0 risky, 1 safe");
    expect(readFileSync(workspace.path("bin/summary.md"), "utf8")).toBe(comment);
    const asked = "pr comment 7 --edit-last --create-if-none --body-file gateway-diff.md\n";
    expect(readFileSync(workspace.path("bin/gh.log"), "utf8")).toBe(asked);
    expect(JSON.parse(readFileSync(workspace.path("gateway.sarif"), "utf8"))).toMatchObject({ version: "2.1.0" });
    expect(readFileSync(workspace.path("gateway-tests.xml"), "utf8")).toContain('tests="2" failures="0"');
  });

  test("a breaking one fails the last step, and a mistake the first, with an annotation", () => {
    edit(...LIMITED);
    const last = run(stepOf("No breaking change"));
    expect(last).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("breaking  limit-lowered  plan Max, day: 3000 → 2000"),
    });
    workspace.write("gateway.yaml", readFileSync(workspace.path("gateway.yaml"), "utf8").replace(...MISTAKEN));
    expect(run(stepOf("Check"))).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^::error .*file=gateway\.yaml/m),
    });
  });
});

test("a change that a test of the configuration forbids fails the step that runs them", () => {
  edit("{ upstream: aurora, model: aurora-mini-1 }", "{ upstream: borealis, model: borealis-small-2 }");
  const script = steps.flatMap(({ run: one = "" }) => one).find((one) => one.includes("gateway test"))!;
  expect(run(script)).toMatchObject({ status: 1 });
  expect(readFileSync(workspace.path("gateway-tests.xml"), "utf8")).toContain("<failure");
});

describe("GitLab", () => {
  const script = job.script.join("\n");

  test("a breaking change fails, unless the merge request has the label", () => {
    edit(...LIMITED);
    expect(run(script)).toMatchObject({ status: 1 });
    expect(run(script, { CI_MERGE_REQUEST_LABELS: "urgent,breaking" })).toMatchObject({ status: 0 });
    for (const path of [...job.artifacts.paths, job.artifacts.reports.junit]) {
      expect(readFileSync(workspace.path(path), "utf8").length).toBeGreaterThan(10);
    }
  });
});

describe("pre-commit", () => {
  test("the framework's entries pass for the shipped configuration", () => {
    for (const { entry } of hooks) expect({ entry, ...run(entry) }).toMatchObject({ entry, status: 0 });
  });

  test("the plain hook prints what a commit changes, and refuses one that cannot serve", () => {
    mkdirSync(workspace.path(".git/hooks"), { recursive: true });
    copyFileSync(join(FOLDER, "pre-commit"), workspace.path(".git/hooks/pre-commit"));
    const text = readFileSync(workspace.path("gateway.yaml"), "utf8");
    workspace.write("gateway.yaml", text.replace(...CHEAPER));
    const committed = git("commit", "-qam", "cheaper");
    expect(committed.status).toBe(0);
    expect(committed.stdout + committed.stderr).toContain("price-lowered");
    workspace.write("gateway.yaml", text.replace(...MISTAKEN));
    const refused = git("commit", "-qam", "mistaken");
    expect(refused.status).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain("aurorra");
    workspace.write("gateway.yaml", text.replace(...CHEAPER));
    workspace.write("note.txt", "nothing of the configuration");
    git("add", "note.txt");
    expect(git("commit", "-qm", "note")).toMatchObject({ status: 0, stdout: "" });
  });
});
