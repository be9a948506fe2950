import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, configuration } from "../e2e/support/configuration.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
  // Git needs a name to commit, and nothing of this machine's configuration.
  Object.assign(workspace.env, {
    GIT_AUTHOR_NAME: "test",
    GIT_AUTHOR_EMAIL: "test@example.com",
    GIT_COMMITTER_NAME: "test",
    GIT_COMMITTER_EMAIL: "test@example.com",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    TMPDIR: workspace.path("tmp"),
  });
  mkdirSync(workspace.path("tmp"));
});

afterEach(() => workspace.close());

const GOOD = configuration("http://127.0.0.1:9");
const LIMITED = {
  ...GOOD,
  tiers: { ...GOOD.tiers, Free: { access: ["Free"], limits: { ...GOOD.tiers["Free"]!.limits, day: 20 } } },
};
const DEARER = {
  ...GOOD,
  models: { ...GOOD.models, "route/one": { ...GOOD.models["route/one"]!, deadline: "1m", display_name: "One!" } },
};

interface Report {
  readonly summary: Readonly<Record<string, number>>;
  readonly changes: readonly {
    readonly kind: string;
    readonly subject: Readonly<Record<string, string>>;
    readonly users?: number;
    readonly keys?: number;
  }[];
}

async function diff(...args: readonly string[]): Promise<Report> {
  const { code, stdout, stderr } = await workspace.cli("diff", ...args, "--format", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Report;
}

const kinds = ({ changes }: Report) => changes.map(({ kind }) => kind);

function git(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("git", args, {
    cwd: workspace.folder,
    env: { ...process.env, ...workspace.env },
  });
  expect({ args, status, stderr: status === 0 ? "" : String(stderr) }).toEqual({ args, status: 0, stderr: "" });
}

describe("files", () => {
  test("three formats, one line or row a change", async () => {
    workspace.write("old.yaml", GOOD);
    workspace.write("new.yaml", LIMITED);
    const text = await workspace.cli("diff", "old.yaml", "new.yaml");
    expect(text).toMatchObject({
      code: 0,
      stdout: "breaking  limit-lowered  plan Free, day: none → 20\n1 breaking, 0 risky, 0 safe\n",
      stderr: "",
    });
    const markdown = await workspace.cli("diff", "old.yaml", "new.yaml", "--format", "markdown");
    expect(markdown.stdout).toContain("| plan `Free`, `day`: `none` → `20` | requests are refused earlier |");
    expect(await diff("old.yaml", "new.yaml")).toMatchObject({
      summary: { breaking: 1, risky: 0, safe: 0 },
      changes: [{ kind: "limit-lowered", subject: { plan: "Free", setting: "day" }, plans: ["Free"] }],
    });
  });

  test("--fail-on ends with 1 for such a change and for a worse one, and with 0 for a milder one", async () => {
    workspace.write("good.yaml", GOOD);
    workspace.write("breaking.yaml", LIMITED);
    workspace.write("risky.yaml", DEARER);
    const code = async (name: string, ...args: readonly string[]) =>
      (await workspace.cli("diff", "good.yaml", name, ...args)).code;
    expect(await code("breaking.yaml", "--fail-on", "risky")).toBe(1);
    expect(await code("breaking.yaml", "--fail-on", "breaking")).toBe(1);
    expect(await code("risky.yaml", "--fail-on", "risky")).toBe(1);
    expect(await code("risky.yaml", "--fail-on", "breaking")).toBe(0);
    expect(await code("good.yaml", "--fail-on", "risky")).toBe(0);
  });

  test("a side that cannot be compiled: 3, with its diagnostics; wrong use: 2", async () => {
    workspace.write("good.yaml", GOOD);
    workspace.write("bad.yaml", { ...GOOD, tiers: {} });
    const bad = await workspace.cli("diff", "good.yaml", "bad.yaml");
    expect(bad).toMatchObject({ code: 3, stdout: "" });
    expect(bad.stderr).toMatch(/^gateway: bad\.yaml cannot be compiled\nbad\.yaml:\d+:\d+: error /);
    const missing = await workspace.cli("diff", "nowhere.yaml", "good.yaml");
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining("nowhere.yaml does not exist") });
    expect((await workspace.cli("diff", "good.yaml")).code).toBe(2);
    expect((await workspace.cli("diff", "good.yaml", "good.yaml", "--fail-on", "safe")).code).toBe(2);
  });

  test("--store counts the users of the plans that a change touches, and their keys, and makes no store", async () => {
    workspace.write("old.yaml", GOOD);
    workspace.write("new.yaml", LIMITED);
    const none = await workspace.cli("diff", "old.yaml", "new.yaml", "--store");
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("there is no store") });
    expect(readdirSync(workspace.folder)).not.toContain("data");
    await workspace.onStore(() => {}).catch(() => {});
    for (const tier of ["Free", "Free", "Max"]) await workspace.account(tier);
    const { changes } = await diff("old.yaml", "new.yaml", "--store");
    expect(changes).toMatchObject([{ kind: "limit-lowered", users: 2, keys: 2 }]);
    const text = await workspace.cli("diff", "old.yaml", "new.yaml", "--store");
    expect(text.stdout).toContain("plan Free, day: none → 20; 2 users, 2 keys\n");
  });
});

const MASK = (words: string) => `export default {
  name: "mask",
  stage: "transform",
  schema: new URL("./mask.schema.json", import.meta.url),
  setup: () => ({ transform: (call) => call }),
};
import { WORDS } from "./words.ts";
export const words = [${words}, ...WORDS];
`;

/** A configuration in three files with a plugin in two, committed; then everything changed but the schema. */
function repository(): void {
  const { models, ...others } = GOOD;
  const pipeline = [
    ...GOOD.pipeline.slice(0, 4),
    { use: "./plugins/mask.ts", options: { all: true } },
    "stream-relay",
    "meter",
  ];
  workspace.write("gateway/gateway.yaml", { ...others, pipeline, include: ["parts/*.yaml"] });
  workspace.write("gateway/parts/one.yaml", { models: { "route/one": models["route/one"] } });
  workspace.write("gateway/parts/max.yaml", { models: { "route/max": models["route/max"] } });
  workspace.write("gateway/plugins/mask.ts", MASK('"a"'));
  workspace.write("gateway/plugins/words.ts", "export const WORDS = ['b'];\n");
  workspace.write("gateway/plugins/mask.schema.json", { type: "object", properties: { all: { type: "boolean" } } });
  workspace.write(".gitignore", "tmp\n.cache\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "before");
}

function change(folder = "gateway"): void {
  const one = GOOD.models["route/one"]!;
  workspace.write(`${folder}/parts/one.yaml`, {
    models: { "route/one": { ...one, price: { input_per_million: 1500, output_per_million: 2000 } } },
  });
  workspace.write(`${folder}/plugins/mask.ts`, MASK('"c"'));
}

describe("git", () => {
  test("a revision is compared with what it included and ran then, and leaves nothing behind", async () => {
    repository();
    expect(await diff("HEAD:gateway/gateway.yaml", "gateway/gateway.yaml")).toMatchObject({ changes: [] });
    change();
    const report = await diff("HEAD:gateway/gateway.yaml", "gateway/gateway.yaml");
    expect(report.changes).toMatchObject([
      { kind: "price-raised", subject: { model: "route/one" }, before: "1000", after: "1500", percent: 50 },
      { kind: "plugin-code-changed", subject: { plugin: "plugins/mask.ts" } },
    ]);
    // A file that is not there any more was there then.
    git("rm", "-q", "--cached", "gateway/parts/max.yaml");
    const staged = await diff("HEAD:gateway/gateway.yaml", ":gateway/gateway.yaml");
    expect(kinds(staged)).toEqual(["model-removed"]);
    git("commit", "-qam", "after");
    const both = kinds(await diff("HEAD~1:./gateway/gateway.yaml", "HEAD:gateway/gateway.yaml"));
    expect(both).toEqual(["price-raised", "model-removed", "plugin-code-changed"]);
    expect(readdirSync(workspace.path("tmp")).filter((name) => name.startsWith("gateway-revision"))).toEqual([]);
  });

  test("a revision or a file that git does not have: 3, and what it says", async () => {
    repository();
    const wrong = async (name: string) => {
      const { code, stdout, stderr } = await workspace.cli("diff", name, "gateway/gateway.yaml");
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
      return stderr;
    };
    expect(await wrong("HEAD~7:gateway/gateway.yaml")).toContain("git knows no revision HEAD~7");
    expect(await wrong("HEAD:gateway/other.yaml")).toContain("does not exist in HEAD");
    // The disk's would be taken for that commit's.
    workspace.write("..outside.yaml", GOOD);
    expect(await wrong("HEAD:..outside.yaml")).toContain("does not exist in HEAD");
    const outside = `HEAD:../../${basename(workspace.folder)}-outside.yaml`;
    for (const name of [outside, "HEAD:./../outside.yaml"])
      expect(await wrong(name)).toContain("outside of the repository");
    expect(readdirSync(workspace.path("tmp")).filter((name) => name.startsWith("gateway-revision"))).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s on the way leaves no copies behind", async (signal) => {
    repository();
    workspace.write(
      "gateway/plugins/mask.ts",
      "process.stderr.write('here'); setInterval(() => {}, 1000); await new Promise(() => {});",
    );
    git("commit", "-qam", "a plugin that hangs");
    const child = workspace.gateway("diff", "HEAD:gateway/gateway.yaml", "gateway/gateway.yaml");
    await child.printed("stderr", /here/);
    expect(readdirSync(workspace.path("tmp")).filter((name) => name.startsWith("gateway-revision"))).toHaveLength(1);
    expect(await child.stop(signal)).toMatchObject({ signal });
    expect(readdirSync(workspace.path("tmp")).filter((name) => name.startsWith("gateway-revision"))).toEqual([]);
  });

  test("links in a revision are followed, and loops are not", async () => {
    workspace.write("configs/gateway.yaml", GOOD);
    git("init", "-q");
    const link = (target: string, name: string) =>
      expect(spawnSync("ln", ["-s", target, name], { cwd: workspace.folder }).status).toBe(0);
    link("configs/gateway.yaml", "gateway.yaml");
    link("loop.yaml", "loop.yaml");
    git("add", "gateway.yaml", "loop.yaml", "configs");
    git("commit", "-qm", "links");
    expect(await diff("HEAD:gateway.yaml", "configs/gateway.yaml")).toMatchObject({ changes: [] });
    const loop = await workspace.cli("diff", "HEAD:loop.yaml", "configs/gateway.yaml");
    expect(loop).toMatchObject({ code: 3, stderr: expect.stringContaining("loop of links") });
  });
});

describe("a running gateway", () => {
  test("is compared with the file that shall replace it, by its admin address and token", async () => {
    repository();
    const { admin } = await workspace.serve("-c", "gateway/gateway.yaml");
    const token = ["--admin-token", ADMIN_TOKEN];
    for (const name of ["gateway.yaml", "parts", "plugins"]) {
      cpSync(workspace.path(`gateway/${name}`), workspace.path(`next/${name}`), { recursive: true });
    }
    expect(await diff(admin, "next/gateway.yaml", ...token)).toMatchObject({ changes: [] });
    change("next");
    expect(kinds(await diff(admin, "next/gateway.yaml", ...token))).toEqual(["price-raised", "plugin-code-changed"]);
    // The other way round, with the token from the environment.
    workspace.env["GATEWAY_ADMIN_TOKEN"] = ADMIN_TOKEN;
    expect(kinds(await diff("next/gateway.yaml", admin))).toEqual(["plugin-code-changed", "price-lowered"]);
    const wrong = await workspace.cli("diff", admin, "next/gateway.yaml", "--admin-token", "wrong");
    expect(wrong).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("does not take the token") });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const source = await (await fetch(`${admin}/admin/config/source`, { headers })).text();
    expect(source).toContain("route/max");
    expect([ADMIN_TOKEN, "upstream-key", "export default"].filter((secret) => source.includes(secret))).toEqual([]);
  });

  test("one that is not there: 3", async () => {
    workspace.write("gateway.yaml", GOOD);
    const { code, stderr } = await workspace.cli("diff", "http://127.0.0.1:9", "gateway.yaml");
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("gateway: http://127.0.0.1:9 ") });
  });
});

test("the shipped file without its variables, against an edit of it", async () => {
  const shipped = readFileSync(join(ROOT, "gateway.yaml"), "utf8");
  workspace.write("old.yaml", shipped);
  workspace.write("new.yaml", shipped.replace("input_per_million: 0.15,", "input_per_million: 0.3,"));
  expect(kinds(await diff("old.yaml", "new.yaml"))).toEqual(["price-raised"]);
});
